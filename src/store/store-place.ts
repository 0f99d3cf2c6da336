/** Where events are kept, as the user names it: a file, or the URL of a PostgreSQL database. */
import { parsePostgresUrl } from "./postgres/url.ts";

/** Whether it is a database, and not a file. */
export const isDatabaseUrl = (text: string): boolean => /^postgres(?:ql)?:\/\//i.test(text);

/** What is wrong with a place of events. The text may hold a password, whatever it is, so that no error repeats it. */
export function eventStoreProblem(text: string): string | undefined {
  if (text === "") return "must not be empty";
  const [, scheme] = /^([a-z][a-z\d+.-]+):\/\//i.exec(text) ?? [];
  if (scheme === undefined)
    return isPlainPath(text)
      ? undefined
      : `${FORMS}; this looks like neither, but like a variable or an address that was not filled in: it begins with a ~, or contains a $, a quote, an =, a colon, a bracket or an @`;
  if (!isDatabaseUrl(text)) return `${FORMS}; ${scheme.toLowerCase()}:// is not an event store`;
  const parsed = parsePostgresUrl(text);
  return parsed.ok ? undefined : `${FORMS}; ${parsed.message}`;
}

/**
 * Whether it can be meant as a file. A file of any other name would be made without a word, and the payments in it lost with a container: a
 * variable that was not expanded, `host=… password=…`, `db.internal:5432`, `jdbc:…`, a URL in quotes or without its scheme.
 */
const isPlainPath = (text: string): boolean => {
  const path = text.replace(/^[a-z]:(?=[\\/])/i, "");
  return !/^~|[$"'`=<>{}|*?]|^%.*%$|^[^\\/]*:|:[^\\/]*@|^\/\/|\p{Cc}/u.test(path);
};

const FORMS = "must be a file, or a URL such as postgres://db/paylink";

/** The passwords in such a URL, as they are spelled and decoded. */
export function passwordsIn(text: string): readonly string[] {
  const parsed = isDatabaseUrl(text) ? parsePostgresUrl(text) : undefined;
  const password = parsed?.ok === true ? (parsed.value.password ?? "") : "";
  return password === "" ? [] : [...new Set([password, encodeURIComponent(password)])];
}
