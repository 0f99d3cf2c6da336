/** `paylink status`: checks the account of the profile, one line for each part, with the remedy. */
import type { Context } from "../context.ts";
import { PaylinkError } from "../domain/errors.ts";
import { hint, shellWord } from "../domain/hint.ts";
import { renderCheck, renderServiceName } from "../render/account.ts";
import { renderHint } from "../render/hint.ts";
import { NO_PAINT } from "../render/paint.ts";
import {
  ADDRESS_CHECKS,
  orFailure,
  checkCallbacks,
  checkPublicUrl,
  checkService,
  failedCheck,
  passedCheck,
  SERVICE_CHECKS,
  uncheckedAfter,
  warnedCheck,
  type AccountCheck,
} from "../service/checks.ts";
import { noAccount } from "../service/open-client.ts";
import type { ResolvedSettings } from "../settings/resolved-settings.ts";
import type { UnknownMember } from "../settings/profile.ts";
import { checkKeys, KEY_CHECK, unknownSettings, unknownWarning, whileOneWorks } from "./account-checks.ts";
import { command } from "./command.ts";
import { KEEPING_STORE, timeoutFlag } from "./shared-flags.ts";

export default command({
  examples: ["paylink status", "paylink status --profile sandbox --json"],
  flags: {
    timeout: timeoutFlag({ default: "30s" }, "Not every check was made."),
  },
  consequence: "Nothing was checked.",
  /** Ends with the exit code of the first failed check. */
  run: async (context) => {
    const { out } = context;
    const settings = await context.settings().catch(ifUnreadable);
    if (!(settings instanceof PaylinkError) && settings.get("baseUrl") === undefined) {
      // One of them may be what the account lacks.
      const unknown = (await context.profiles()).unknown();
      if (unknown.length > 0) out.warn(unknownWarning(unknown));
      throw noAccount();
    }
    const checks = await checkAccount(context, settings);
    const failure = checks.find(({ state }) => state === "failed")?.failure;
    const { named } = context;
    out.result(
      () => ({
        profile: settings instanceof PaylinkError ? null : (settings.profile ?? null),
        ok: failure === undefined,
        checks: checks.map(({ check, state, detail, remedies }) => {
          const remedy = remedies.map((one) => renderHint(one, named)).join("\n");
          return { check, state, detail: out.hide(detail), remedy: remedy === "" ? null : out.hide(remedy) };
        }),
      }),
      () => out.hide(checks.map((check) => renderCheck(check, out, named)).join("\n")),
    );
    if (out.json && failure !== undefined) throw failure;
    return failure?.exit ?? 0;
  },
});

/** A damaged settings file is a result like the others. */
function ifUnreadable(error: unknown): PaylinkError {
  if (error instanceof PaylinkError && error.code === "file_unreadable") return error;
  throw error;
}

const FILE_CHECK = "settings file";
const STORE_CHECK = "event store";

async function checkAccount(
  context: Context,
  settings: ResolvedSettings | PaylinkError,
): Promise<AccountCheck[]> {
  if (settings instanceof PaylinkError)
    return [
      failedCheck(FILE_CHECK, settings),
      ...uncheckedAfter([...SERVICE_CHECKS, KEY_CHECK, ...ADDRESS_CHECKS, STORE_CHECK], FILE_CHECK),
    ];
  const store = await orFailure(eventStorePlace(context));
  const profiles = await context.profiles();
  const { path } = profiles;
  const file = `${path}, ${renderServiceName(settings, NO_PAINT)}`;
  return [
    checkSettingsFile(file, { path, exposesSecret: profiles.exposesSecret(), unknown: profiles.unknown() }),
    ...(await checkService({ settings, now: context.now(), api: () => context.api() })),
    ...whileOneWorks(await checkKeys(settings, context, "webhookKey")),
    checkCallbacks(settings),
    checkPublicUrl(settings),
    store instanceof PaylinkError
      ? failedCheck(STORE_CHECK, store)
      : checkStore(store, context.forgetting(store)),
  ];
}

interface SettingsFileState {
  readonly path: string;
  readonly exposesSecret: boolean;
  readonly unknown: readonly UnknownMember[];
}

function checkSettingsFile(file: string, { path, exposesSecret, unknown }: SettingsFileState): AccountCheck {
  if (exposesSecret)
    return warnedCheck(
      FILE_CHECK,
      `${file}. Other users of this machine may read the secrets in it`,
      hint`Allow only yourself: chmod 600 ${shellWord(path) ?? "<file>"}`,
    );
  if (unknown.length === 0) return passedCheck(FILE_CHECK, file);
  const remedy = hint`Correct or delete them in that file.`;
  return warnedCheck(
    FILE_CHECK,
    `${file}. These members are not settings: ${unknownSettings(unknown)}`,
    remedy,
  );
}

const checkStore = (place: string, forgetting: string | undefined): AccountCheck =>
  forgetting === undefined
    ? passedCheck(STORE_CHECK, `can be written: ${place}`)
    : warnedCheck(STORE_CHECK, `can be written: ${place}, ${forgetting}`, KEEPING_STORE);

async function eventStorePlace({ events }: Context): Promise<string> {
  const store = await events(undefined, { create: true });
  await store.ready();
  return store.place;
}
