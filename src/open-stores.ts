/** Opens what a run keeps besides its settings: events, what `bulk` has sent, and the sandbox. */
import { existsSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Context, EventsOptions, StoresContext } from "./context.ts";
import { SANDBOX_PROFILE } from "./domain/known-services.ts";
import { PaylinkError } from "./domain/errors.ts";
import { hint } from "./domain/hint.ts";
import { isDatabaseUrl, passwordsIn } from "./store/store-place.ts";
import type { EventStore } from "./store/event-store.ts";
import { eventsPath, sandboxFolder } from "./store/folders.ts";
import { forgettingPlace } from "./store/container-folder.ts";
import type { ThreadProgram } from "./store/sqlite/file-store.ts";
import type { Secrets } from "./terminal/debug-trace.ts";

/** Milliseconds after an interruption in which the server of the event store may still answer. */
const LAST_STATEMENTS = 500;

export interface StoresParts extends Pick<
  Context,
  "settings" | "profiles" | "createFile" | "signal" | "newId" | "env" | "later"
> {
  readonly eventThread: ThreadProgram;
  readonly mounts: () => string;
  readonly secrets: Pick<Secrets, "know">;
}

/** `data` is the folder for what paylink keeps. */
export function openStores(parts: StoresParts, data: string): Omit<StoresContext, "temporaryHome"> {
  const { settings, profiles, createFile, signal, newId, env, later, eventThread, mounts, secrets } = parts;
  const openEvents = async (
    place?: string,
    { readTimeout, create = false, upgrade = create }: EventsOptions = {},
  ): Promise<EventStore> => {
    const chosen = place ?? (await settings()).get("eventStore");
    if (chosen !== undefined && isDatabaseUrl(chosen)) {
      for (const password of passwordsIn(chosen)) secrets.know(password);
      const { openPostgresEventStore } = await import("./store/postgres.ts");
      const times = readTimeout === undefined ? {} : { read: readTimeout };
      return openPostgresEventStore(chosen, { env, user: await userName(), create, upgrade, times });
    }
    if (chosen !== undefined) requireFolder(chosen);
    const { openEventStore } = await import("./store/sqlite/file-store.ts");
    return openEventStore(chosen ?? eventsPath(data, (await settings()).profile), {
      thread: eventThread,
      user: await userName(),
      create: create || chosen === undefined,
      upgrade,
    });
  };
  return {
    dataFolder: data,
    events: async (place, options) => {
      const store = await openEvents(place, options);
      later(() => store.close());
      const hurry = (): void => store.hurry(LAST_STATEMENTS);
      if (options?.drains !== true) signal.addEventListener("abort", hurry, { once: true });
      return store;
    },
    forgetting: (place) =>
      isDatabaseUrl(place) || !existsSync(dirname(place))
        ? undefined
        : forgettingPlace(mounts(), realpathSync(dirname(place))),
    sentRows: async (options) => {
      const place = (await settings()).get("eventStore");
      if (place !== undefined && isDatabaseUrl(place)) {
        for (const password of passwordsIn(place)) secrets.know(password);
        const { openSharedMemory } = await import("./bulk/shared-memory.ts");
        return openSharedMemory(join(data, "bulk"), { url: place, env, ...options });
      }
      const { openLocalMemory } = await import("./bulk/local-memory.ts");
      return openLocalMemory(join(data, "bulk"), options);
    },
    sandbox: async () => {
      const { openIdentity, profileOf, renewKey } = await import("./sandbox/identity.ts");
      const { openLedger } = await import("./sandbox/store/ledger.ts");
      const folder = sandboxFolder(data);
      const identity = await openIdentity(folder, newId, (path, text) =>
        createFile(path, text, "the sandbox's identity", 0o600),
      );
      return {
        identity,
        renewKey: (at) => renewKey(folder, newId, at),
        ledger: (place, reset) => {
          if (place !== undefined) requireFolder(place);
          return openLedger(place ?? join(folder, "sandbox.db"), reset);
        },
        register: async (baseUrl, listener) =>
          (await profiles()).change(SANDBOX_PROFILE, (before) =>
            profileOf(identity, baseUrl, listener, before),
          ),
      };
    },
  };
}

/** paylink creates its own folders only: another one that does not exist was probably mistyped. */
function requireFolder(place: string): void {
  const folder = dirname(place);
  if (!existsSync(folder))
    throw new PaylinkError("file_unwritable", `${place} cannot be opened: there is no folder ${folder}.`, {
      hints: [hint`Create that folder, or name a file in a folder that exists.`],
    });
}

/** The user of the system. One that its files do not name has a number alone. */
async function userName(): Promise<string> {
  const { userInfo } = await import("node:os");
  try {
    return userInfo().username;
  } catch {
    return "unknown";
  }
}
