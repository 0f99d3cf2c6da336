/** Shared by the schemas of JSON values: messages, problems by path, and the part without problems. */

import * as z from "zod/mini";
import type { Problem } from "./errors.ts";
import { isJsonObject, joinPath } from "./json.ts";

/** The messages of a schema: one for a missing value, one for a wrong value. */
export function must(rule: string, missing = "is required") {
  return { error: (issue: { readonly input?: unknown }) => (issue.input === undefined ? missing : rule) };
}

/** The schema, for JSON objects only: a `JsonNumber` is an object in JavaScript, but not in JSON. */
export function onlyObject<Schema extends z.ZodMiniObject>(
  schema: Schema,
): z.ZodMiniPipe<z.ZodMiniUnknown, Schema> {
  return z.pipe(jsonObject, schema);
}

const jsonObject = z.unknown().check(z.refine((value) => isJsonObject(value), must("must be an object")));

type Issue = Pick<z.core.$ZodIssue, "path" | "message">;

/** One problem for each issue; `at` is the path of the member, empty for the value itself. */
export function problemsOf(issues: readonly Issue[]): Problem[] {
  return issues.map(({ path, message }) => ({
    at: path.reduce<string>((at, step) => joinPath(at, typeof step === "number" ? step : String(step)), ""),
    message,
  }));
}

/** The value without the members that have an issue, so that rules between members still apply to the others. */
export function validPart(value: unknown, issues: readonly Issue[]): unknown {
  return issues.reduce((rest, { path }) => without(rest, path.map(String)), value);
}

function without(value: unknown, [name, ...deeper]: readonly string[]): unknown {
  if (!isJsonObject(value) || name === undefined) return {};
  const { [name]: member, ...others } = value;
  return deeper.length === 0 ? others : { ...others, [name]: without(member, deeper) };
}
