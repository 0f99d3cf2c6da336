/** Where events are kept, as the user names it: a file, or the URL of a PostgreSQL database. */
import { parsePostgresUrl } from "./postgres-url.ts";

/** Whether it is a database, and not a file. */
export const isDatabaseUrl = (text: string): boolean => /^postgres(?:ql)?:\/\//i.test(text);

/** What is wrong with a place of events. */
export function eventStoreProblem(text: string): string | undefined {
  if (text === "") return "must not be empty";
  const [, scheme] = /^([a-z][a-z\d+.-]+):\/\//i.exec(text) ?? [];
  if (scheme === undefined) return undefined;
  if (!isDatabaseUrl(text)) return `${FORMS}; ${scheme.toLowerCase()}:// is no event store`;
  const parsed = parsePostgresUrl(text);
  return parsed.ok ? undefined : `${FORMS}; ${parsed.message}`;
}

const FORMS = "must be a file, or a URL such as postgres://db/paylink";

/** The passwords in such a URL, as they are spelled and decoded. */
export function passwordsIn(text: string): readonly string[] {
  const parsed = isDatabaseUrl(text) ? parsePostgresUrl(text) : undefined;
  const password = parsed?.ok === true ? (parsed.value.password ?? "") : "";
  return password === "" ? [] : [...new Set([password, encodeURIComponent(password)])];
}
