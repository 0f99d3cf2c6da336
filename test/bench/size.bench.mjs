// What the package weighs: packed, and installed without what npm puts beside it.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { row } from "./row.mjs";

const MB = 1_000_000;

const folder = mkdtempSync(join(tmpdir(), "paylink-bench-"));
const args = ["pack", "--json", "--ignore-scripts", "--pack-destination", folder];
const options = { cwd: resolve(import.meta.dirname, "../.."), encoding: "utf8" };
const [{ size, unpackedSize }] = JSON.parse(execFileSync("npm", args, options));
rmSync(folder, { recursive: true });
row("packed npm package", size / MB, { most: 1, unit: "MB" });
row("installed, without the optional SQLite of Node 20", unpackedSize / MB, { most: 4, unit: "MB" });
