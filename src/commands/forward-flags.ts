/** The flags that name the targets of webhooks: `3000` for every outcome, `declined=3001/failed` for one. */
import { accepted, type Parsed, refused } from "../domain/parse-result.ts";
import { OUTCOMES } from "../domain/outcome.ts";
import type { Route } from "../receiver/forward.ts";
import type { FlagReader, ReadValue } from "./flag-reader.ts";
import { parseOutcome, parseTarget } from "./flag-values.ts";

/** Reads every value of the flag. Two targets for one outcome are a problem: only one of them would be used. */
export function readRoutes(
  reader: FlagReader,
  at: string,
  texts: readonly string[] = [],
): ReadValue<readonly Route[]> {
  const seen = new Set<string>();
  for (const text of texts) {
    const route = parseRoute(text);
    if (!route.ok) continue;
    const outcome = route.value.outcome?.toLowerCase() ?? "every other outcome";
    if (seen.has(outcome)) reader.problem(at, `names more than one target for ${outcome} (got "${text}")`);
    seen.add(outcome);
  }
  return reader.readAll(at, texts, parseRoute);
}

/** A URL has no `=` before its first colon, slash or question mark. */
const CONDITION = /^\s*([\p{L}_-]+)\s*=(.*)$/su;

function parseRoute(text: string): Parsed<Route> {
  const [, condition, rest = ""] = CONDITION.exec(text) ?? [];
  const target = parseTarget(condition === undefined ? text : rest);
  if (condition === undefined)
    return target.ok ? accepted({ outcome: undefined, url: target.value }) : target;
  const outcome = parseOutcome(condition);
  if (!outcome.ok) return unknownOutcome(outcome.instead, rest);
  return target.ok ? accepted({ outcome: outcome.value, url: target.value }) : target;
}

function unknownOutcome(near: string | undefined, target: string): Parsed<never> {
  const instead = near && `${near}=${target}`;
  const meant = instead === undefined ? "" : `; did you mean ${instead}?`;
  const names = OUTCOMES.map((name) => name.toLowerCase()).join(", ");
  return refused(`must have one of these before "=": ${names}${meant}`, instead);
}
