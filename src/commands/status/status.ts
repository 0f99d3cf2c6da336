/** `paylink status`: checks the account in force, one line for each part, with the remedy. */
import {
  checkCallbacks,
  checkPublicUrl,
  attempt,
  failed,
  passed,
  checkService,
  type Check,
} from "../../service/checks.ts";
import { checkKeys } from "../account-keys.ts";
import { noAccount } from "../../service/open-client.ts";
import type { Context } from "../../context.ts";
import { PaylinkError } from "../../domain/errors.ts";
import { renderCheck } from "../../render/account-checks.ts";
import { NO_PAINT } from "../../render/paint.ts";
import { renderHint } from "../../render/hint.ts";
import { renderServiceName } from "../../render/service-name.ts";
import type { ResolvedSettings } from "../../settings/resolved-settings.ts";
import { createFlagReader } from "../flag-reader.ts";
import { parseTimeout } from "../flag-values.ts";

export interface StatusOptions {
  /** Milliseconds for all checks. */
  readonly timeout: number;
}

/** Throws `usage`. */
export function statusOptions(flags: { readonly timeout: string }): StatusOptions {
  const reader = createFlagReader();
  const timeout = reader.read("--timeout", flags.timeout, parseTimeout);
  reader.finish("Nothing was checked.");
  return { timeout: timeout.value };
}

/** Ends with the exit code of the first failed check. */
export async function status(context: Context, { timeout }: StatusOptions): Promise<number> {
  const { out } = context;
  const settings = await context.settings();
  if (settings.get("baseUrl") === undefined) throw noAccount();
  const checks = await checkAccount(context, settings, timeout);
  const failure = checks.find(({ state }) => state === "failed")?.failure;
  const { named } = settings;
  if (!out.json) {
    out.data(out.hide(checks.map((check) => renderCheck(check, out.paint, named)).join("\n")));
    return failure?.exit ?? 0;
  }
  out.data(
    JSON.stringify({
      profile: settings.profile ?? null,
      ok: failure === undefined,
      checks: checks.map((check) => documentOf(check, named, out.hide)),
    }),
  );
  if (failure !== undefined) throw failure;
  return 0;
}

async function checkAccount(context: Context, settings: ResolvedSettings, timeout: number): Promise<Check[]> {
  const { readFile, send, signal } = context;
  const account = { settings };
  const now = context.now();
  return [
    passed("settings file", `${(await context.profiles()).path}, ${renderServiceName(settings, NO_PAINT)}`),
    ...(await checkService({ ...account, api: () => context.api({ timeout }), now })),
    ...(await checkKeys({ ...account, keyReading: { readFile, send, signal, place: "webhookKey" }, now })),
    checkCallbacks(account),
    checkPublicUrl(account),
    await checkEventStore(context),
  ];
}

async function checkEventStore({ events }: Context): Promise<Check> {
  const open = async (): Promise<string> => {
    const store = await events();
    try {
      await store.ready();
      return store.place;
    } finally {
      await store.close();
    }
  };
  const opened = await attempt(open());
  return opened instanceof PaylinkError
    ? failed("event store", opened)
    : passed("event store", `can be written: ${opened}`);
}

const documentOf = (
  { check, state, detail, remedies }: Check,
  profile: string | undefined,
  hide: (text: string) => string,
): object => ({
  check,
  state,
  detail: hide(detail),
  remedy: remedies.length === 0 ? null : hide(remedies.map((hint) => renderHint(hint, profile)).join("\n")),
});
