/** `paylink login`: asks for what the account lacks, checks it, and stores it in a profile, which becomes the current one. */
import { checkService, type Check } from "../../service/checks.ts";
import { checkKeys } from "../account-keys.ts";
import type { Context } from "../../context.ts";
import { hint, paylink, PaylinkError, type Hint } from "../../domain/errors.ts";
import { renderCheck } from "../../render/account-checks.ts";
import { renderHint } from "../../render/hint.ts";
import { safeText } from "../../render/safe-text.ts";
import type { ResolvedSettings } from "../../settings/resolved-settings.ts";
import { ACCOUNT_FLAGS, isAccountKey, profileWith } from "./account-values.ts";
import { candidate, type LoginOptions } from "./options.ts";

export async function login(
  context: Context,
  { profile, known, account: given, check }: LoginOptions,
): Promise<number> {
  const { out, ask, profiles } = context;
  const { askForAccount } = await import("./ask-for-account.ts");
  const account = { ...given, ...(ask === undefined ? {} : await askForAccount(ask, given, known)) };
  const settings = candidate(profile, profileWith(known, account));
  if (check) await requireWorking(context, settings);
  const stored = await profiles();
  await stored.change(profile, (before) => profileWith(before, account));
  await stored.use(profile);
  const [baseUrl, terminalId] = [settings.get("baseUrl") ?? "", settings.get("terminalId") ?? ""];
  if (out.json) out.data(JSON.stringify({ profile, baseUrl, terminalId }));
  else
    out.data(
      `Logged in: profile ${safeText(profile)}, ${safeText(baseUrl)}, terminal ${safeText(terminalId)}.`,
    );
  const missing = (["currency", "customerName"] as const).filter((key) => settings.get(key) === undefined);
  if (missing.length > 0)
    out.warn(
      `Each paylink create needs ${missing.map((key) => ACCOUNT_FLAGS[key]).join(" and ")}. To store a default, run paylink login again.`,
    );
  out.note("It is the current profile now. Next: paylink status, then paylink create");
  return 0;
}

/** Shows the checks, or throws every failure as one error. */
async function requireWorking(context: Context, settings: ResolvedSettings): Promise<void> {
  const { out, readFile, send, signal } = context;
  const account = {
    settings,
    now: context.now(),
  };
  const found = [
    ...(await checkService({ ...account, api: () => context.api({ settings }) })),
    ...(await checkKeys({ ...account, keyReading: { readFile, send, signal, place: "--webhook-key" } })),
  ];
  const checks = found
    .filter(({ state }) => state !== "skipped")
    .map((check) => ({ ...check, remedies: check.remedies.map(asFlags) }));
  const failures = checks.filter(({ state }) => state === "failed");
  const [first] = failures;
  if (first === undefined) {
    for (const check of checks) {
      if (check.state === "ok") out.note(renderCheck(check, out.notePaint, undefined));
      else out.warn(sentenceOf(check));
    }
    return;
  }
  throw new PaylinkError(first.failure?.code ?? "usage", "The account does not work. Nothing was stored.", {
    problems: failures.map(({ check, detail }) => ({ at: check, message: detail })),
    hints: [
      ...failures.flatMap(({ remedies }) => remedies),
      hint`To store the account without these checks: ${paylink("login", "--no-check")}`,
    ],
    details: first.failure?.details ?? {},
  });
}

/** `login` takes the values of an account as flags: no profile holds them yet. */
const asFlags = (remedy: Hint): Hint =>
  remedy.map((part) => {
    if (typeof part === "string") return part;
    const [command, action, key = "", value = ""] = part.words;
    return command === "config" && action === "set" && isAccountKey(key)
      ? paylink("login", ACCOUNT_FLAGS[key], value)
      : part;
  });

const sentenceOf = ({ check, detail, remedies }: Check): string =>
  [safeText(`${check}: ${detail}`), ...remedies.map((remedy) => renderHint(remedy, undefined))].join(" ");
