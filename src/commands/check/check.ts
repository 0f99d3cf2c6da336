/** Checks a merchant's own endpoint, and reports for each case whether the answer was right. */
import { loadSigningKey } from "../../check/signing-key.ts";
import { caseCount, type CaseResult, type Ended, runChecks } from "../../check/endpoint.ts";
import type { Context } from "../../context.ts";
import { isLoopback } from "../../domain/addresses.ts";
import { hint, type Hint, paylink, PaylinkError } from "../../domain/errors.ts";
import { renderJunit, wrongAnswerWords } from "../../render/check-report.ts";
import { renderBar } from "../../render/layout.ts";
import { endpointNotReached } from "../unreached-endpoint.ts";
import { CaseReport, sameAnswer } from "./case-report.ts";
import type { CheckOptions } from "./flags.ts";

export async function checkEndpoint(context: Context, options: CheckOptions): Promise<number> {
  const { out } = context;
  const { url, signWith, cover, junit } = options;
  const key = await loadSigningKey(signWith, context);
  const parts = { ...context, url, key, cover, orders: [] };
  const total = caseCount(parts);
  const report = new CaseReport(out);
  let ended: Ended | undefined;
  for await (const result of runChecks(parts)) {
    if ("unreachable" in result) {
      ended = result;
      break;
    }
    report.add(result);
    const { length } = report.results;
    out.progress(length < total ? `${renderBar(length / total)}  ${length} of ${total} cases` : undefined);
  }
  out.progress(undefined);
  report.end();
  const { results } = report;
  if (ended !== undefined && results.length === 0)
    throw endpointNotReached(url.href, ended.unreachable, UNREACHED);
  if (junit !== undefined) await context.writeFile(junit, renderJunit(url.href, results), "--junit");
  const failed = results.filter(({ ok, required }) => !ok && required);
  const warned = results.filter(({ ok, required }) => !ok && !required);
  const passed = results.length - failed.length - warned.length;
  const counts = { passed, failed: failed.length, warnings: warned.length };
  if (out.json)
    out.data(JSON.stringify({ url: url.href, ...counts, cases: results.map(documentOf) }, null, 2));
  if (failed.length > 0) throw failure(results, failed, ended, options);
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

/** As `--json` has it, member by member. */
function documentOf(result: CaseResult): object {
  const { name, expects, required, ok, description, consequence, answered, statuses, wrong } = result;
  const said = wrong === undefined ? {} : { said: wrongAnswerWords(result) };
  return { name, expects, required, ok, description, consequence, answered, statuses, ...said };
}

type Endpoint = Pick<CheckOptions, "url" | "signWith" | "cover">;

function failure(
  results: readonly CaseResult[],
  failed: readonly CaseResult[],
  ended: Ended | undefined,
  options: Endpoint,
): PaylinkError {
  const names = namesOf(failed);
  const same = sameAnswer(results);
  const counted =
    same === undefined
      ? `${failed.length} of ${results.length} cases failed: ${names.join(", ")}.`
      : `The endpoint answered all ${results.length} cases, genuine and tampered with, alike: ${same}.`;
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
  { url, signWith, cover }: Endpoint,
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
