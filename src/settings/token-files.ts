/** The access tokens that paylink obtained, one file for each profile beside the settings, so that no command waits for another. */
import { readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { PaylinkError } from "../domain/errors.ts";
import { makeFolder } from "../store/folders.ts";
import { replaceFile } from "../store/replace-file.ts";
import { lockBeside } from "./file-lock.ts";
import { jsonOf } from "../values/json.ts";

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

/** The token that all processes of an account share: a service may end it when it gives another one. */
export interface SharedToken {
  /** As it is now. Undefined without a token, or if the file cannot be read: the caller then obtains a new token. */
  read(): AccessToken | undefined;
  /** Throws the failure of the file system. */
  keep(token: AccessToken): void;
  /** Does the work while no other process does; `pause` waits for one that does. */
  alone<T>(work: () => Promise<T>, pause: LockPause): Promise<T>;
}

type LockPause = (milliseconds: number) => Promise<void>;

/** Of an account that is not stored. */
export const NOT_SHARED: SharedToken = {
  read: () => undefined,
  keep: () => undefined,
  alone: async (work) => work(),
};

/** By their owner: a profile, or what stands for credentials that only the environment has. */
export interface TokenFiles {
  of(owner: string, client: TokenClient): SharedToken;
  forget(owner: string): void;
}

export function openTokenFiles(settingsFolder: string): TokenFiles {
  const folder = join(settingsFolder, "tokens");
  const pathOf = (owner: string): string => join(folder, `${encodeURIComponent(owner)}.json`);
  return {
    of: (owner, client) => sharedToken(pathOf(owner), client),
    forget: (owner) => rmSync(pathOf(owner), { force: true }),
  };
}

const sharedToken = (path: string, { tokenUrl, clientId, scope }: TokenClient): SharedToken => ({
  read: () => {
    const { token, expires, ...kept } = readToken(path);
    const isOurs = kept.tokenUrl === tokenUrl && kept.clientId === clientId && kept.scope === scope;
    if (!isOurs || typeof token !== "string" || !isToken(token)) return undefined;
    return typeof expires === "string" ? { token, expires } : { token };
  },
  keep: (token) => replaceFile(path, JSON.stringify({ tokenUrl, clientId, scope, ...token })),
  alone: async (work, pause) => {
    const release = await lockOf(path, pause);
    try {
      return await work();
    } finally {
      release?.();
    }
  },
});

/** Undefined where no file can be made: nothing is shared then. */
async function lockOf(path: string, pause: LockPause): Promise<(() => void) | undefined> {
  try {
    makeFolder(dirname(path));
    return await lockBeside(path, pause);
  } catch (error) {
    if (error instanceof PaylinkError) throw error;
    return undefined;
  }
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
