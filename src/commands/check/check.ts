/** `paylink check`: tests a merchant's own endpoint, and reports for each case whether the answer was right. */
import type { Context } from "../../context.ts";
import { PaylinkError } from "../../domain/errors.ts";
import { renderCase, renderJunit, renderTap } from "../../render/check-report.ts";
import { checkEndpoint, type CaseResult } from "../../webhooks/endpoint-check.ts";
import { parseEndpoint } from "../../webhooks/endpoint.ts";
import { loadSigningKey } from "../../webhooks/signing-key.ts";
import { createFlagReader } from "../flag-reader.ts";
import type { CheckFlags } from "./flags.ts";

export interface CheckOptions {
  readonly url: URL;
  /** The file of the private key; undefined is the sandbox's own. */
  readonly keyPath: string | undefined;
  readonly tap: boolean;
  /** The file that the JUnit report is written to. */
  readonly junit: string | undefined;
}

/** Throws `usage`. */
export function checkOptions(text: string, flags: CheckFlags): CheckOptions {
  const reader = createFlagReader();
  const url = reader.read("<url>", text, (given) => parseEndpoint(given, flags.allowRemote ?? false));
  reader.finish("Nothing was checked.");
  return { url: url.value, keyPath: flags.key, tap: flags.tap ?? false, junit: flags.junit };
}

export async function check(context: Context, { url, keyPath, tap, junit }: CheckOptions): Promise<number> {
  const { out } = context;
  const key = await loadSigningKey(keyPath, context);
  const results: CaseResult[] = [];
  for await (const result of checkEndpoint({ ...context, url, key })) {
    if ("unreachable" in result) throw unreachable(url, result.unreachable);
    results.push(result);
    if (!out.json && !tap) out.lines([renderCase(result, out.paint)]);
  }
  if (context.signal.aborted) return 0;
  if (junit !== undefined) await context.writeFile(junit, renderJunit(url.href, results), "--junit");
  const failed = results.filter(({ ok }) => !ok);
  const counts = { passed: results.length - failed.length, failed: failed.length };
  if (out.json) out.data(JSON.stringify({ url: url.href, ...counts, cases: results }, null, 2));
  else if (tap) out.data(renderTap(results));
  if (failed.length > 0) throw failure(results, failed);
  out.note(`All ${results.length} cases passed.`);
  return 0;
}

const unreachable = ({ href }: URL, reason: string): PaylinkError =>
  new PaylinkError("not_reached", `Nothing answers at ${href}: ${reason}`, {
    hint: "Nothing was checked. Start the endpoint and run this again.",
  });

/** If no genuine webhook is accepted, refusals prove nothing: that must be fixed first. */
function failure(results: readonly CaseResult[], failed: readonly CaseResult[]): PaylinkError {
  const names = failed.map(({ name }) => name);
  const acceptsNothing = results.every(({ expects, ok }) => expects === "refused" || !ok);
  return new PaylinkError(
    "check_failed",
    `${failed.length} of ${results.length} cases failed: ${names.join(", ")}.`,
    {
      details: { failed: names },
      hint: acceptsNothing
        ? "It accepts no genuine webhook, so its refusals prove nothing yet. Check that it verifies with the key that signs here (--key), and for this address."
        : "Each is explained above; paylink trigger <outcome> --tamper <case> sends one again.",
    },
  );
}
