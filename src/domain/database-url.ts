/** URLs of PostgreSQL databases, and the passwords in them. */

/** Whether an event store is a database, and not a file. */
export const isDatabaseUrl = (text: string): boolean => /^postgres(?:ql)?:\/\//i.test(text);

/** Whether such a URL can be read. A password that was pasted unescaped may have a `%` that begins no escape. */
export function isReadableUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { hostname, username, password, pathname } = new URL(text);
  return [hostname, username, password, pathname].every(isDecodable);
}

function isDecodable(part: string): boolean {
  try {
    decodeURIComponent(part);
    return true;
  } catch {
    return false;
  }
}

/** The passwords in such a URL, as they are spelled and decoded. */
export function passwordsIn(text: string): readonly string[] {
  if (!isDatabaseUrl(text) || !isReadableUrl(text)) return [];
  const { password, searchParams } = new URL(text);
  const found = [password, decodeURIComponent(password), searchParams.get("password") ?? ""];
  return [...new Set(found)].filter((one) => one !== "");
}
