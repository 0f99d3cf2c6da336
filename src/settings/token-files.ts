/** The access tokens that paylink obtained, one file for each profile beside the settings, so that no command waits for another. */
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { replaceFile } from "../store/replace-file.ts";
import { jsonOf } from "./setting-values.ts";

export interface AccessToken {
  readonly token: string;
  /** ISO 8601; absent if the service did not give it. */
  readonly expires?: string | undefined;
}

/** Whether a header can have it, and it does not end at a space. Services give other characters than RFC 6750 does. */
export const isToken = (text: string): boolean => /^[\x21-\x7e]+$/.test(text);

/** Whose token it is: one that was obtained for another client is not used. */
export interface TokenClient {
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly scope: string | undefined;
}

/** The tokens of the profiles. */
export interface TokenFiles {
  /** Undefined without a token, or if the file cannot be read: the caller then obtains a new token. */
  read(profile: string, client: TokenClient): AccessToken | undefined;
  /** Throws the failure of the file system. */
  keep(profile: string, client: TokenClient, token: AccessToken): void;
  forget(profile: string): void;
}

export function openTokenFiles(settingsFolder: string): TokenFiles {
  const folder = join(settingsFolder, "tokens");
  const pathOf = (profile: string): string => join(folder, `${encodeURIComponent(profile)}.json`);
  return {
    read: (profile, { tokenUrl, clientId, scope }) => {
      const { token, expires, ...kept } = readToken(pathOf(profile));
      const isOurs = kept.tokenUrl === tokenUrl && kept.clientId === clientId && kept.scope === scope;
      if (!isOurs || typeof token !== "string" || !isToken(token)) return undefined;
      return typeof expires === "string" ? { token, expires } : { token };
    },
    keep: (profile, client, token) => replaceFile(pathOf(profile), JSON.stringify({ ...client, ...token })),
    forget: (profile) => rmSync(pathOf(profile), { force: true }),
  };
}

type StoredToken = { readonly [Name in keyof (TokenClient & AccessToken)]?: unknown };

function readToken(path: string): StoredToken {
  try {
    const stored = jsonOf(readFileSync(path, "utf8"));
    return typeof stored === "object" && stored !== null ? stored : {};
  } catch {
    return {};
  }
}
