/** The password file of libpq: one line for each server, with host, port, database, user and password. */
import { readFile, stat } from "node:fs/promises";
import { platform } from "node:os";
import { join } from "node:path";
import { PaylinkError } from "../../domain/errors.ts";
import type { Environment } from "../../settings/resolved-settings.ts";

interface Login {
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly user: string;
}

/** The password of the first line that matches. Throws `file_unreadable` if others may read the file. */
export async function passwordFromFile(
  { host, port, database, user }: Login,
  env: Environment,
): Promise<string | undefined> {
  const path = env["PGPASSFILE"] || join(env["HOME"] ?? "", ".pgpass");
  const text = await readOwnFile(path);
  const wanted = [host.startsWith("/") ? "localhost" : host, String(port), database, user];
  for (const line of text?.split(/\r?\n/) ?? []) {
    if (line.startsWith("#")) continue;
    const fields = fieldsOf(line);
    if (wanted.every((value, index) => fields[index] === "*" || fields[index] === value))
      return fields[wanted.length];
  }
  return undefined;
}

/** Colons separate the fields; a backslash escapes a colon or a backslash. */
const fieldsOf = (line: string): string[] =>
  [...line.matchAll(/((?:\\.|[^\\:])*)(?::|$)/g)].map(([, field = ""]) => field.replace(/\\(.)/g, "$1"));

async function readOwnFile(path: string): Promise<string | undefined> {
  try {
    const { mode } = await stat(path);
    // Like libpq, paylink uses no file that others can read.
    if (platform() === "win32" || (mode & 0o077) === 0) return await readFile(path, "utf8");
  } catch {
    return undefined;
  }
  throw new PaylinkError("file_unreadable", `Others may read the password file ${path}, so it is not used.`, {
    hint: `chmod 600 ${path}`,
  });
}
