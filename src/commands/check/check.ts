/** `paylink check`: tests a merchant's own endpoint, and says of each case whether it did what it must. */
import { writeFile } from "node:fs/promises";
import type { Context } from "../../context.ts";
import { PaylinkError } from "../../domain/errors.ts";
import { renderCase, renderJunit, renderTap } from "../../render/check-report.ts";
import { checkEndpoint, type CaseResult } from "../../webhooks/check.ts";
import { parseEndpoint } from "../../webhooks/endpoint.ts";
import { loadSigningKey } from "../../webhooks/signing-key.ts";
import type { CheckFlags } from "./command.ts";

export async function check(context: Context, text: string, flags: CheckFlags): Promise<void> {
  const { out } = context;
  const url = parseEndpoint(text, flags.allowRemote ?? false);
  if (!url.ok) {
    const problems = [{ at: text, message: url.message }];
    throw new PaylinkError("usage", "Nothing was checked.", { problems });
  }
  const key = await loadSigningKey(flags.key, context);
  const results: CaseResult[] = [];
  for await (const result of checkEndpoint({ ...context, url: url.value, key })) {
    if ("unreachable" in result) throw unreachable(text, result.unreachable);
    results.push(result);
    if (!out.json && !flags.tap) out.data(renderCase(result, out.paint));
  }
  if (context.signal.aborted) return;
  if (flags.junit !== undefined) await writeReport(flags.junit, renderJunit(url.value.href, results));
  const failed = results.filter(({ ok }) => !ok);
  const counts = { passed: results.length - failed.length, failed: failed.length };
  if (out.json) out.data(JSON.stringify({ url: url.value.href, ...counts, cases: results }, null, 2));
  else if (flags.tap) out.data(renderTap(results));
  if (failed.length > 0) throw failure(results, failed);
  out.note(`${results.length} cases, all as they must be.`);
}

const unreachable = (url: string, reason: string): PaylinkError =>
  new PaylinkError("not_reached", `Nothing answers at ${url}: ${reason}`, {
    hint: "Nothing was checked. Start the endpoint and run this again.",
  });

async function writeReport(path: string, report: string): Promise<void> {
  try {
    await writeFile(path, report);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new PaylinkError("usage", `The report cannot be written to ${path}: ${reason}`, { cause: error });
  }
}

/** Where nothing genuine is taken, refusals prove nothing: that has to be mended first. */
function failure(results: readonly CaseResult[], failed: readonly CaseResult[]): PaylinkError {
  const names = failed.map(({ name }) => name);
  const none = results.every(({ expects, ok }) => expects === "refused" || !ok);
  return new PaylinkError(
    "check_failed",
    `${failed.length} of ${results.length} cases failed: ${names.join(", ")}.`,
    {
      details: { failed: names },
      hint: none
        ? "It takes no genuine webhook, so its refusals prove nothing yet. Does it verify with the key that signs here (--key), and for this address?"
        : "Each is explained above; paylink trigger <outcome> --tamper <case> sends one again.",
    },
  );
}
