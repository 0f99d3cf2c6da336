/** The size of the package: packed, and installed. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { row } from "./row.mjs";

const MB = 1_000_000;

const folder = mkdtempSync(join(tmpdir(), "paylink-bench-"));
const packed = execFileSync("npm", ["pack", "--json", "--ignore-scripts", "--pack-destination", folder], {
  cwd: resolve(import.meta.dirname, "../.."),
  encoding: "utf8",
});
rmSync(folder, { recursive: true });
const [{ size, unpackedSize }] = JSON.parse(packed);
row("package, packed", size / MB, { most: 0.72, unit: "MB" });
row("package, installed", unpackedSize / MB, { most: 2.35, unit: "MB" });
