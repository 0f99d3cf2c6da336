/** Opens what commands work with, when a command asks for it: settings, the API's client, the event store. */
import { join } from "node:path";
import type { Context } from "./context.ts";
import { folders } from "./store/folders.ts";
import { inForce, type InForce } from "./store/in-force.ts";
import { withoutAccessToken } from "./store/profile.ts";
import { openSettings, type Settings } from "./store/settings.ts";

/** How long one exchange with the service may take if no flag says otherwise, in milliseconds. */
const REQUEST_TIMEOUT = 30_000;

type Machine = Pick<Context, "out" | "send" | "now" | "random" | "pause" | "env" | "processes" | "profile">;
type Services = Pick<Context, "settings" | "profiles" | "api" | "events" | "journals" | "dataFolder">;

interface Secrets {
  readonly know: (secret: string | undefined) => void;
}

export function openServices(machine: Machine, secrets: Secrets): Services {
  const { out, send, now, random, pause, env, processes, profile } = machine;
  const { config, data } = folders(env["PAYLINK_HOME"]);
  const profiles = async (home?: string): Promise<Settings> => {
    const settings = openSettings(home === undefined ? config : folders(home).config, out.warn);
    for (const { token, clientSecret, accessToken } of Object.values(settings.profiles()))
      for (const secret of [token, clientSecret, accessToken]) secrets.know(secret);
    return settings;
  };
  let read: Promise<InForce> | undefined;
  const readSettings = async (): Promise<InForce> => {
    const stored = await profiles();
    return inForce({ named: profile, env, current: stored.current(), profiles: stored.profiles() });
  };
  const settings = (): Promise<InForce> => (read ??= readSettings());
  return {
    dataFolder: data,
    profiles,
    settings,
    api: async (options = {}) => {
      const { openApi } = await import("./api/account.ts");
      return openApi({
        send: options.send ?? send,
        now,
        random,
        pause,
        settings: await settings(),
        timeout: options.timeout ?? REQUEST_TIMEOUT,
        waiting: ({ reason, milliseconds, retry, retries }) =>
          out.warn(
            `Nothing was created: ${reason}. Trying again in ${(milliseconds / 1000).toFixed(1)} s (${retry} of ${retries}).`,
          ),
        keep: async (name, { token, expires }) =>
          (await profiles()).change(name, (before) => ({
            ...withoutAccessToken(before),
            accessToken: token,
            ...(expires === undefined ? {} : { accessTokenExpires: expires }),
          })),
      });
    },
    journals: async () => {
      const { openJournals } = await import("./bulk/journals.ts");
      return openJournals(join(data, "bulk"), processes);
    },
    events: async (place) => {
      const { eventsPath, openEventStore } = await import("./store/events.ts");
      return openEventStore(place ?? eventsPath(data), join(__dirname, "../event-thread.js"));
    },
  };
}
