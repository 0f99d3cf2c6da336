/** Opens the services of a command when it needs them: settings, API, event store, sandbox, files. */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Context } from "./context.ts";
import { hint, PaylinkError } from "./domain/errors.ts";
import { hasCode, systemReason } from "./domain/system-reason.ts";
import type { Send } from "./http/exchange.ts";
import {
  canonicalAddress,
  isDatabaseUrl,
  parseWebAddress,
  passwordsIn,
  SANDBOX_PROFILE,
} from "./domain/addresses.ts";
import { isSecretName } from "./domain/secrets.ts";
import type { ThreadProgram } from "./events/sqlite.ts";
import { eventsPath, folders, sandboxFolder } from "./store/folders.ts";
import { type ResolvedSettings, resolveSettings } from "./settings/resolved-settings.ts";
import { type Profile, withoutAccessToken } from "./settings/profile.ts";
import { openSettingsFile, type SettingsFile } from "./settings/settings-file.ts";

/** How long one exchange with the service may take if no flag says otherwise, in milliseconds. */
const REQUEST_TIMEOUT = 30_000;

/** The same for a key, which a webhook may wait for. */
const KEY_TIMEOUT = 5_000;

interface Machine extends Pick<
  Context,
  "out" | "send" | "readFile" | "signal" | "now" | "newId" | "random" | "pause" | "env" | "profile"
> {
  /** The thread that writes events. */
  readonly eventThread: ThreadProgram;
}

interface Secrets {
  readonly know: (secret: string | undefined) => void;
}

export function openServices(machine: Machine, secrets: Secrets) {
  const { out, readFile, signal, now, newId, random, pause, env, profile, eventThread } = machine;
  const { config, data } = folders(env["PAYLINK_HOME"]);
  // Opened once, so that an unchanged file is parsed once.
  let own: SettingsFile | undefined;
  const profiles = async (home?: string): Promise<SettingsFile> => {
    const settings =
      home === undefined
        ? (own ??= openSettingsFile(config, out.warn))
        : openSettingsFile(folders(home).config, out.warn);
    for (const stored of Object.values(settings.profiles()))
      for (const secret of secretsOf(stored)) secrets.know(secret);
    return settings;
  };
  const send: Send = async (request, options) => {
    try {
      return await machine.send(request, options);
    } catch (error) {
      const { nameStoppedSandbox } = await import("./service/sandbox.ts");
      throw await nameStoppedSandbox(error, request, async () => {
        const sandbox = (await profiles()).profiles()[SANDBOX_PROFILE];
        return sandbox?.baseUrl;
      });
    }
  };
  let read: Promise<ResolvedSettings> | undefined;
  const readSettings = async (): Promise<ResolvedSettings> => {
    const stored = await profiles();
    return resolveSettings({ named: profile, env, current: stored.current(), profiles: stored.profiles() });
  };
  const settings = (): Promise<ResolvedSettings> => (read ??= readSettings());
  const api: Context["api"] = async (options = {}) => {
    const { openApi } = await import("./service/open-client.ts");
    for (const key of ["token", "clientSecret"] as const) secrets.know(options.settings?.get(key));
    return openApi({
      send,
      retries: options.retries ?? true,
      readFile,
      newId,
      now,
      random,
      pause,
      signal,
      settings: options.settings ?? (await settings()),
      timeout: options.exchangeTimeout ?? options.timeout ?? REQUEST_TIMEOUT,
      deadline: options.timeout === undefined ? undefined : now().getTime() + options.timeout,
      waiting: ({ reason, mayHaveArrived, milliseconds, retry, retries }) => {
        const before = mayHaveArrived ? "The outcome is unknown" : "Nothing was done";
        const again = mayHaveArrived ? "Trying again with the same key" : "Trying again";
        out.warn(
          `${before}: ${reason}. ${again} in ${(milliseconds / 1000).toFixed(1)} s (${retry} of ${retries}).`,
        );
      },
      keep: async (name, { token, expires }) => {
        secrets.know(token);
        if (options.settings !== undefined) return;
        const stored = await profiles();
        await stored.change(name, (before) => ({
          ...withoutAccessToken(before),
          accessToken: token,
          ...(expires === undefined ? {} : { accessTokenExpires: expires }),
        }));
      },
    });
  };
  return {
    dataFolder: data,
    send,
    profiles,
    settings,
    asAccount: async (url: URL, given?: ResolvedSettings) => {
      const baseUrl = (given ?? (await settings())).get("baseUrl") ?? "";
      if (parseWebAddress(baseUrl)?.origin !== url.origin) return undefined;
      const account = given === undefined ? {} : { settings: given };
      return (await api({ ...account, retries: false, exchangeTimeout: KEY_TIMEOUT })).readUrl(url);
    },
    api,
    serviceTime: async () => {
      const own = { now: now(), ofSandbox: false };
      const baseUrl = (await settings()).get("baseUrl");
      const registered = (await profiles()).profiles()[SANDBOX_PROFILE]?.baseUrl;
      // No other service is asked for its time.
      if (baseUrl === undefined || registered === undefined) return own;
      if (canonicalAddress(baseUrl) !== canonicalAddress(registered)) return own;
      const { ownTime } = await import("./service/sandbox.ts");
      const ofSandbox = await ownTime(send, new URL(baseUrl));
      return ofSandbox === undefined ? own : { now: ofSandbox, ofSandbox: true };
    },
    events: async (place) => {
      const chosen = place ?? (await settings()).get("eventStore");
      if (chosen !== undefined && isDatabaseUrl(chosen)) {
        for (const password of passwordsIn(chosen)) secrets.know(password);
        const { openPostgresEventStore } = await import("./events/postgres.ts");
        return openPostgresEventStore(chosen, { env, owner: newId(), now });
      }
      if (chosen !== undefined) requireFolder(chosen);
      const { openEventStore } = await import("./events/sqlite.ts");
      return openEventStore(chosen ?? eventsPath(data), {
        thread: eventThread,
        owner: newId(),
        now,
        warn: out.warn,
      });
    },
    hasEvents: async () => existsSync((await settings()).get("eventStore") ?? eventsPath(data)),
    sandbox: async (home) => {
      const { openIdentity, profileOf, renewKey } = await import("./sandbox/identity.ts");
      const { openLedger } = await import("./sandbox/store/ledger.ts");
      const dataOfHome = home === undefined ? data : folders(home).data;
      const folder = sandboxFolder(dataOfHome);
      const identity = openIdentity(folder, newId);
      return {
        identity,
        renewKey: () => renewKey(folder, newId, now()),
        ledger: (place) => {
          if (place !== undefined) requireFolder(place);
          return openLedger(place ?? join(folder, "sandbox.db"));
        },
        eventsPath: eventsPath(dataOfHome),
        register: async (baseUrl, listener) =>
          (await profiles(home)).change(SANDBOX_PROFILE, () => profileOf(identity, baseUrl, listener)),
      };
    },
    temporaryHome: async () => {
      const { mkdtemp, rm } = await import("node:fs/promises");
      const { tmpdir } = await import("node:os");
      const path = await mkdtemp(join(tmpdir(), "paylink-"));
      return { path, remove: () => rm(path, { recursive: true, force: true }) };
    },
    writeFile,
    createFile: (path, text, place, mode) => createFile(`${path}.${newId()}`, path, { text, place, mode }),
  } satisfies Partial<Context>;
}

/** Includes headers and parameters of the token request whose names mark them as secrets. */
function secretsOf({ token, clientSecret, accessToken, headers = {}, tokenParams }: Profile) {
  const named = [...Object.entries(headers), ...new URLSearchParams(tokenParams)];
  const secret = named.filter(([name]) => isSecretName(name)).map(([, value]) => value);
  return [token, clientSecret, accessToken, ...secret];
}

/** paylink creates its own folders only: another one that does not exist was probably mistyped. */
function requireFolder(place: string): void {
  const folder = dirname(place);
  if (!existsSync(folder))
    throw new PaylinkError("file_unwritable", `${place} cannot be opened: there is no folder ${folder}.`, {
      hints: [hint`Create that folder, or name a file in a folder that exists.`],
    });
}

async function writeFile(path: string, text: string, place: string): Promise<void> {
  const { writeFile: write } = await import("node:fs/promises");
  try {
    await write(path, text);
  } catch (error) {
    throw unwritable(path, place, error);
  }
}

interface NewFile {
  readonly text: string;
  readonly place: string;
  readonly mode: number;
}

/** Written under another name and linked, so that nobody reads the half of it, and two processes do not both create it. */
async function createFile(draft: string, path: string, { text, place, mode }: NewFile): Promise<boolean> {
  const { link, rm, writeFile: write } = await import("node:fs/promises");
  try {
    await write(draft, text, { mode, flag: "wx", flush: true });
    await link(draft, path);
    return true;
  } catch (error) {
    if (hasCode(error, "EEXIST")) return false;
    throw unwritable(path, place, error);
  } finally {
    await rm(draft, { force: true });
  }
}

function unwritable(path: string, place: string, cause: unknown): PaylinkError {
  const reason = hasCode(cause, "ENOENT") ? "its folder does not exist" : systemReason(cause);
  return new PaylinkError("file_unwritable", `Cannot write ${place} ${path}: ${reason}.`, { cause });
}
