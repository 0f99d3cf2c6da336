/** What paylink itself has written: results of `bulk`, and lists of links. Neither says what a merchant has booked. */

export type OwnOutput = "results" | "links";

const hasAll = (names: ReadonlySet<string>, wanted: readonly string[]): boolean =>
  wanted.every((name) => names.has(name));

/** By the names of its columns; undefined for any other list. */
export function ownOutputOf(columns: readonly { readonly name: string }[]): OwnOutput | undefined {
  const names = new Set(columns.map(({ name }) => name.toLowerCase().replace(/^link_/, "")));
  if (hasAll(names, ["status", "service"]) && (names.has("id") || names.has("url"))) return "results";
  return hasAll(names, ["id", "url", "status", "createddate"]) ? "links" : undefined;
}
