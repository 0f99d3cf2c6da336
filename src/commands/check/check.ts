/** `paylink check`: tests a merchant's own endpoint, and reports for each case whether the answer was right. */
import type { Context } from "../../context.ts";
import { hint, paylink, PaylinkError, type Hint } from "../../domain/errors.ts";
import { renderCase, renderJunit, renderTap } from "../../render/check-report.ts";
import { checkEndpoint, type CaseResult } from "../../check/endpoint.ts";
import type { CoveredComponents } from "../../check/signature-form.ts";
import { notReached, parseEndpoint } from "../../check/endpoint.ts";
import { loadSigningKey } from "../../check/signing-key.ts";
import { createFlagReader } from "../flag-reader.ts";
import { parseCover } from "../flag-values.ts";
import type { CheckFlags } from "./flags.ts";

export interface CheckOptions {
  readonly url: URL;
  /** The file of the private key; undefined is the sandbox's own. */
  readonly keyPath: string | undefined;
  /** The one cover that the endpoint must accept; undefined checks it for the real service. */
  readonly cover: CoveredComponents | undefined;
  readonly tap: boolean;
  /** The file that the JUnit report is written to. */
  readonly junit: string | undefined;
}

/** Throws `usage`. */
export function checkOptions(text: string, flags: CheckFlags): CheckOptions {
  const reader = createFlagReader();
  const url = reader.read("<url>", text, (given) => parseEndpoint(given, flags.allowRemote ?? false));
  const cover = reader.read("--cover", flags.cover, parseCover);
  reader.finish("Nothing was checked.");
  const { key: keyPath, tap = false, junit } = flags;
  return { url: url.value, keyPath, cover: cover.value, tap, junit };
}

export async function check(context: Context, options: CheckOptions): Promise<number> {
  const { url, keyPath, cover, tap, junit } = options;
  const { out } = context;
  const key = await loadSigningKey(keyPath, context);
  const results: CaseResult[] = [];
  for await (const result of checkEndpoint({ ...context, url, key, cover })) {
    if ("unreachable" in result) throw notReached(url.href, result.unreachable, UNREACHED);
    results.push(result);
    if (!out.json && !tap) out.lines([renderCase(result, out.paint)]);
  }
  if (context.signal.aborted) return 0;
  if (junit !== undefined) await context.writeFile(junit, renderJunit(url.href, results), "--junit");
  const failed = results.filter(({ ok, required }) => !ok && required);
  const warned = results.filter(({ ok, required }) => !ok && !required);
  const passed = results.length - failed.length - warned.length;
  const counts = { passed, failed: failed.length, warnings: warned.length };
  if (out.json) out.data(JSON.stringify({ url: url.href, ...counts, cases: results }, null, 2));
  else if (tap) out.data(renderTap(results));
  if (failed.length > 0) throw failure(results, failed);
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

function failure(results: readonly CaseResult[], failed: readonly CaseResult[]): PaylinkError {
  const names = namesOf(failed);
  return new PaylinkError(
    "check_failed",
    `${failed.length} of ${results.length} cases failed: ${names.join(", ")}.`,
    { details: { failed: names }, hints: [adviceFor(results)] },
  );
}

/** If no genuine webhook is accepted, refusals prove nothing: that must be fixed first. */
function adviceFor(results: readonly CaseResult[]): Hint {
  const accepted = results.filter(({ expects, ok }) => expects === "accepted" && ok);
  if (accepted.length === 0)
    return hint`It accepts no genuine webhook, so its refusals prove nothing yet. Check that it verifies with the key that signs here (--key), and for this address.`;
  if (accepted.every(({ required }) => !required))
    return hint`It accepts only signatures that cover @method and @target-uri, and the real service signs header fields only. Require content-digest and nothing else, or every payment is refused. If your service does sign them, name its cover with --cover.`;
  return hint`Each is explained above. To send one again: ${paylink("trigger", "<outcome>", "--tamper", "<case>")}`;
}
