/** Opens the account of a run: the profiles, the settings in force, and the client of the service. */
import type { AccountContext, Context } from "./context.ts";
import { PaylinkError } from "./domain/errors.ts";
import type { Hint } from "./domain/hint.ts";
import { SANDBOX_PROFILE } from "./domain/known-services.ts";
import { systemReason } from "./values/system-reason.ts";
import type { Send } from "./http/exchange.ts";
import { renderHint } from "./render/hint.ts";
import { profileNamed } from "./settings/profile.ts";
import { requireProfile } from "./settings/profile-names.ts";
import { type ResolvedSettings, resolveSettings } from "./settings/resolved-settings.ts";
import { openSettingsFile, type SettingsFile } from "./settings/settings-file.ts";
import { NOT_SHARED, openTokenFiles, type SharedToken } from "./settings/token-files.ts";
import type { Secrets } from "./terminal/debug-trace.ts";

/** How long one exchange with the service may take if no flag says otherwise, in milliseconds. */
const REQUEST_TIMEOUT = 30_000;

const AWAITING =
  "Interrupted: waiting for the answer to a request that was sent. Interrupt again to end at once; what it did is not known then.";

export interface AccountParts extends Pick<
  Context,
  | "out"
  | "send"
  | "signal"
  | "timeLimit"
  | "now"
  | "timers"
  | "random"
  | "pause"
  | "env"
  | "profile"
  | "named"
> {
  readonly secrets: Pick<Secrets, "know">;
}

/** `folder` has the settings. The `send` that it returns names a sandbox that does not run. */
export function openAccount(
  parts: AccountParts,
  folder: string,
): Omit<AccountContext, "profile" | "named"> & Pick<Context, "send"> {
  const { out, signal, timeLimit, now, timers, random, pause, env, named, secrets } = parts;
  // Opened once, so that an unchanged file is parsed once.
  let stored: SettingsFile | undefined;
  const profiles = async (): Promise<SettingsFile> => {
    const settings = (stored ??= openSettingsFile(folder));
    for (const { token, clientSecret } of Object.values(settings.profiles()))
      for (const secret of [token, clientSecret]) secrets.know(secret);
    return settings;
  };
  const tokens = openTokenFiles(folder);
  const send: Send = async (request, options) => {
    try {
      return await parts.send(request, options);
    } catch (error) {
      const { nameStoppedSandbox } = await import("./service/sandbox.ts");
      throw await nameStoppedSandbox(error, request, async () => {
        const sandbox = (await profiles()).profiles()[SANDBOX_PROFILE];
        return sandbox?.baseUrl;
      });
    }
  };
  let isSaid = false;
  /** Many requests may be in flight, and their time may have passed. */
  const awaiting = (next: readonly Hint[]): void => {
    if (isSaid || !(signal.reason instanceof PaylinkError && signal.reason.isInterruption)) return;
    isSaid = true;
    out.note([AWAITING, ...next.map((one) => renderHint(one, named))].join(" "));
  };
  let read: Promise<ResolvedSettings> | undefined;
  const readSettings = async (): Promise<ResolvedSettings> => {
    const file = await profiles();
    const stored = file.profiles();
    const name = named.profile ?? file.current() ?? "";
    const profile = named.profile === undefined ? profileNamed(stored, name) : requireProfile(name, stored);
    return resolveSettings({ name, profile, isNamed: parts.profile !== undefined, env });
  };
  const settings = (): Promise<ResolvedSettings> => (read ??= readSettings());
  const api: Context["api"] = async (options = {}) => {
    const { openApi } = await import("./service/open-client.ts");
    for (const key of ["token", "clientSecret"] as const) secrets.know(options.settings?.get(key));
    return openApi({
      send,
      retries: options.retries ?? true,
      now,
      timers,
      random,
      pause,
      signal,
      awaiting,
      settings: options.settings ?? (await settings()),
      timeout: options.exchangeTimeout ?? timeLimit.milliseconds ?? REQUEST_TIMEOUT,
      timeLeft: () => timeLimit.left(),
      waiting: ({ reason, milliseconds, retry, retries }) => {
        const wait = `${(milliseconds / 1000).toFixed(1)} s`;
        out.warn(`${reason}. Trying again in ${wait} (${retry} of ${retries}).`);
      },
      sharedToken: ({ name, client, isStored }) => {
        const file = options.settings === undefined ? tokens.of(name, client) : NOT_SHARED;
        return knownTo(secrets, file, (error) => {
          if (isStored)
            out.warn(`The access token is not stored for the next command: ${systemReason(error)}.`);
        });
      },
    });
  };
  return { send, profiles, settings, forgetToken: (name) => tokens.forget(name), api };
}

/** The shared token, which is then hidden in every output. A failure to store it ends nothing. */
const knownTo = (
  secrets: Pick<Secrets, "know">,
  file: SharedToken,
  unstored: (error: unknown) => void,
): SharedToken => ({
  ...file,
  read: () => {
    const shared = file.read();
    secrets.know(shared?.token);
    return shared;
  },
  keep: (token) => {
    secrets.know(token.token);
    try {
      file.keep(token);
    } catch (error) {
      unstored(error);
    }
  },
});
