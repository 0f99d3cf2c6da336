/** `paylink check`: tests a merchant's own endpoint, and reports for each case whether the answer was right. */
import type { Context } from "../context.ts";
import type { CaseResult, Ended } from "../check/endpoint.ts";
import { isLoopback, LISTENER_URL } from "../domain/addresses.ts";
import { hint, type Hint, paylink, PaylinkError } from "../domain/errors.ts";
import { argument, command, flag, group, text, toggle, type ValuesOf } from "./command.ts";
import { parseCover, parseTarget } from "./flag-values.ts";
import { checkLocal, signingKeyFlag, timeoutFlag } from "./shared-flags.ts";

const checkArguments = {
  url: argument(
    "<url>",
    "the webhook endpoint: 3000, 3000/hook, localhost:3000/hook, /hook or a URL",
    parseTarget,
    { example: LISTENER_URL },
  ),
};

const checkFlags = {
  ...group("Webhooks:", {
    signWith: signingKeyFlag,
    cover: flag(
      "--cover <components>",
      "sign exactly these components, and require the endpoint to accept that",
      parseCover,
      { example: '"@method @target-uri content-digest"' },
    ),
    allowRemote: toggle("--allow-remote", "check an endpoint on another machine"),
    timeout: timeoutFlag("10s for each webhook", "Not every case was tried."),
  }),
  ...group("Report:", {
    junit: flag("--junit <file>", "write JUnit XML to a file", text, { example: "webhooks.xml" }),
  }),
};

type CheckOptions = ValuesOf<typeof checkArguments> & ValuesOf<typeof checkFlags>;

export const check = command({
  examples: [
    `paylink check ${LISTENER_URL}`,
    `paylink check ${LISTENER_URL} --junit webhooks.xml`,
    `paylink check ${LISTENER_URL} --cover "@method @target-uri content-digest"`,
  ],
  notes:
    "Signatures cover header fields only, as those of the real service do. Derived components (@method, @target-uri) are tried too: an endpoint that refuses them gets a warning, unless --cover names them.",
  arguments: checkArguments,
  flags: checkFlags,
  consequence: "Nothing was checked.",
  check: ({ url, allowRemote }, usage) => checkLocal("<url>", url, allowRemote, usage),
  run: runCases,
});

async function runCases(context: Context, { url, signWith, cover, junit }: CheckOptions): Promise<number> {
  const [
    { runChecks },
    { endpointNotReached },
    { loadSigningKey },
    { renderCase, renderJunit, wrongAnswerWords },
  ] = await Promise.all([
    import("../check/endpoint.ts"),
    import("./unreached-endpoint.ts"),
    import("../check/signing-key.ts"),
    import("../render/check-report.ts"),
  ]);
  const { out } = context;
  const key = await loadSigningKey(signWith, context);
  const results: CaseResult[] = [];
  /** What was said once need not be said with each case. */
  const told = new Set([""]);
  let ended: Ended | undefined;
  for await (const result of runChecks({ ...context, url, key, cover })) {
    if ("unreachable" in result) {
      ended = result;
      break;
    }
    results.push(result);
    const said = wrongAnswerWords(result);
    if (!out.json) out.lines([renderCase(result, told.has(said) ? undefined : said, out.paint)]);
    told.add(said);
  }
  if (ended !== undefined && results.length === 0)
    throw endpointNotReached(url.href, ended.unreachable, UNREACHED);
  if (junit !== undefined) await context.writeFile(junit, renderJunit(url.href, results), "--junit");
  const failed = results.filter(({ ok, required }) => !ok && required);
  const warned = results.filter(({ ok, required }) => !ok && !required);
  const passed = results.length - failed.length - warned.length;
  const counts = { passed, failed: failed.length, warnings: warned.length };
  const cases = results.map(({ wrong, ...result }) => ({
    ...result,
    ...(wrong === undefined ? {} : { said: wrongAnswerWords({ wrong, ...result }) }),
  }));
  if (out.json) out.data(JSON.stringify({ url: url.href, ...counts, cases }, null, 2));
  if (failed.length > 0) throw failure(results, failed, ended, { url, signWith, cover });
  out.note(
    warned.length === 0
      ? `All ${results.length} cases passed.`
      : `All ${passed} required cases passed. Warnings: ${namesOf(warned).join(", ")}.`,
  );
  return 0;
}

const UNREACHED = {
  effect: "check",
  next: hint`Start the endpoint and run this again.`,
} as const;

const namesOf = (results: readonly CaseResult[]): string[] => results.map(({ name }) => name);

function failure(
  results: readonly CaseResult[],
  failed: readonly CaseResult[],
  ended: Ended | undefined,
  options: Pick<CheckOptions, "url" | "signWith" | "cover">,
): PaylinkError {
  const names = namesOf(failed);
  const counted = `${failed.length} of ${results.length} cases failed: ${names.join(", ")}.`;
  const message =
    ended === undefined
      ? counted
      : `${counted} Then the endpoint stopped answering (${ended.unreachable.reason}), and ${ended.left} cases were not tried.`;
  return new PaylinkError("check_failed", message, {
    details: { failed: names },
    hints: [adviceFor(results, failed, options)],
  });
}

/** If no genuine webhook is accepted, refusals prove nothing: that must be fixed first. */
function adviceFor(
  results: readonly CaseResult[],
  failed: readonly CaseResult[],
  { url, signWith, cover }: Pick<CheckOptions, "url" | "signWith" | "cover">,
): Hint {
  const accepted = results.filter(({ expects, ok }) => expects === "accepted" && ok);
  if (results.every(({ statuses }) => statuses.every((status) => status === 404)))
    return hint`It answers 404 to everything, so nothing is at this path. Give the endpoint's full address.`;
  if (accepted.length === 0)
    return hint`It accepts no genuine webhook, so its refusals prove nothing yet. Check that it verifies with the key that signs here (--sign-with), and for this address.`;
  // Each case that must be refused is a kind of --tamper.
  const tampered = failed.find(({ expects }) => expects === "refused");
  const again = paylink(
    "trigger",
    "approved",
    ...(tampered === undefined ? [] : ["--tamper", tampered.name]),
    "--to",
    url.href,
    ...(signWith === undefined ? [] : ["--sign-with", signWith]),
    ...(cover === undefined ? [] : ["--cover", cover.join(" ")]),
    ...(isLoopback(url.hostname) ? [] : ["--allow-remote"]),
  );
  return tampered === undefined
    ? hint`Each is explained above. To send a genuine webhook: ${again}`
    : hint`Each is explained above. To send ${tampered.name} again: ${again}`;
}
