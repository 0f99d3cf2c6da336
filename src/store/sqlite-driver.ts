/** The SQLite that runs this program: Node's own driver, or on Node 20 the package with the same API. */
import { createRequire } from "node:module";
import { PaylinkError } from "../domain/errors.ts";
import { hint } from "../domain/hint.ts";
import type { Connection } from "./database.ts";

interface Driver {
  readonly DatabaseSync: new (path: string, options?: { readonly readOnly?: boolean }) => Connection;
}

/** The SQLite of Node 20, which has none, with the API of node:sqlite. Its users install it beside paylink. */
const PACKAGE = "@photostructure/sqlite";

/** Loaded at run time: one is built into Node and the other is native code, so neither can be bundled. */
export function driver(): Driver {
  const require = createRequire(import.meta.url);
  for (const name of ["node:sqlite", PACKAGE]) {
    try {
      return require(name) as Driver;
    } catch {
      continue;
    }
  }
  throw new PaylinkError("usage", "This version of Node has no SQLite, which paylink needs to store data.", {
    hints: [
      hint`Use Node 22.13 or later.`,
      hint`Or install SQLite beside paylink: npm install --global ${PACKAGE}@1`,
      hint`In a project, leave out --global. With pnpm, add both in one command. The install script that npm warns of is not needed.`,
    ],
  });
}
