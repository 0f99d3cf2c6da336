// Runs the benchmarks that are named, or all of them: `npm run bench -- startup verify`.
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";

const folder = import.meta.dirname;
const known = readdirSync(folder)
  .filter((file) => file.endsWith(".mjs") && file !== "run.mjs")
  .map((file) => file.replace(/\.mjs$/, ""));
const named = process.argv.slice(2);
const unknown = named.filter((name) => !known.includes(name));
if (unknown.length > 0) throw new Error(`no benchmark ${unknown.join(", ")}; there is ${known.join(", ")}`);
for (const name of named.length > 0 ? named : known) {
  process.stdout.write(`\n# ${name}\n\n`);
  const { status } = spawnSync(process.execPath, [join(folder, `${name}.mjs`)], { stdio: "inherit" });
  if (status !== 0) process.exitCode = status ?? 1;
}
