/** The access tokens that paylink obtained, one file for each profile beside the settings, so that no command waits for another. */
import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeFolder } from "../store/folders.ts";
import { jsonOf } from "./setting-values.ts";

export interface AccessToken {
  readonly token: string;
  /** ISO 8601; absent if the service did not give it. */
  readonly expires?: string | undefined;
}

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
  /** Throws the failure of the file system. `draft` is a name that no other process uses. */
  keep(profile: string, client: TokenClient, token: AccessToken, draft: string): void;
  forget(profile: string): void;
}

export function openTokenFiles(settingsFolder: string): TokenFiles {
  const folder = join(settingsFolder, "tokens");
  const pathOf = (profile: string): string => join(folder, `${encodeURIComponent(profile)}.json`);
  return {
    read: (profile, { tokenUrl, clientId, scope }) => {
      const { token, expires, ...kept } = readToken(pathOf(profile));
      const isOurs = kept.tokenUrl === tokenUrl && kept.clientId === clientId && kept.scope === scope;
      if (!isOurs || typeof token !== "string") return undefined;
      return typeof expires === "string" ? { token, expires } : { token };
    },
    keep: (profile, client, token, draft) => {
      makeFolder(folder);
      const path = join(folder, `${draft}.draft`);
      try {
        writeFileSync(path, JSON.stringify({ ...client, ...token }), { mode: 0o600 });
        // Whole or not at all: another command may read it at this moment.
        renameSync(path, pathOf(profile));
      } finally {
        rmSync(path, { force: true });
      }
    },
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
