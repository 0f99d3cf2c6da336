/** How schemas speak of JSON values: what must be, every problem by its path, and the part that has none. */

import * as z from "zod/mini";
import type { Problem } from "./errors.ts";
import { isJsonObject, joinPath } from "./json.ts";

/** The message of a schema: that the value is missing, where it is, else what it must be. */
export function must(rule: string, missing = "is required") {
  return { error: (issue: { readonly input?: unknown }) => (issue.input === undefined ? missing : rule) };
}

/**
 * The schema, held to JSON objects: a number, which keeps its spelling in an object of JavaScript, is none. It is made
 * where there is one to be held to it, since making a schema takes a start longer than using it.
 */
export function onlyObject<Schema extends z.ZodMiniObject>(
  make: () => Schema,
): z.ZodMiniPipe<z.ZodMiniUnknown, z.ZodMiniLazy<Schema>> {
  return z.pipe(jsonObject, z.lazy(make));
}

const jsonObject = z.unknown().check(z.refine((value) => isJsonObject(value), must("must be an object")));

type Issue = Pick<z.core.$ZodIssue, "path" | "message">;

/** One problem an issue; `at` is the path of the member, empty for the value itself. */
export function problemsOf(issues: readonly Issue[]): Problem[] {
  return issues.map(({ path, message }) => ({
    at: path.reduce<string>((at, step) => joinPath(at, typeof step === "number" ? step : String(step)), ""),
    message,
  }));
}

/** The value without the members that have an issue, so that rules between members can still be asked of the rest. */
export function soundPart(value: unknown, issues: readonly Issue[]): unknown {
  return issues.reduce((rest, { path }) => without(rest, path.map(String)), value);
}

function without(value: unknown, [name, ...deeper]: readonly string[]): unknown {
  if (!isJsonObject(value) || name === undefined) return {};
  const { [name]: member, ...others } = value;
  return deeper.length === 0 ? others : { ...others, [name]: without(member, deeper) };
}
