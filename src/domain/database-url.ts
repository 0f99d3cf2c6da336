/** URLs of PostgreSQL databases, and the passwords in them. */

/** Whether an event store is a database, and not a file. */
export const isDatabaseUrl = (text: string): boolean => /^postgres(?:ql)?:\/\//i.test(text);

/** The passwords in such a URL, as they are spelled and decoded. */
export function passwordsIn(text: string): readonly string[] {
  if (!isDatabaseUrl(text) || !URL.canParse(text)) return [];
  const { password, searchParams } = new URL(text);
  const found = [password, decodeURIComponent(password), searchParams.get("password") ?? ""];
  return [...new Set(found)].filter((one) => one !== "");
}
