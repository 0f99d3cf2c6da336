// Runs one benchmark by name, with its arguments, or all of them: `npm run bench -- kill 50`.
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";

const folder = import.meta.dirname;
const ENDING = ".bench.mjs";
const known = readdirSync(folder)
  .filter((file) => file.endsWith(ENDING))
  .map((file) => file.slice(0, -ENDING.length));
const [name, ...args] = process.argv.slice(2);
if (name !== undefined && !known.includes(name)) {
  process.stdout.write(`npm run bench -- <${known.join("|")}>\n`);
  process.exitCode = 2;
}
for (const bench of known.filter((one) => name === undefined || one === name)) {
  process.stdout.write(`\n# ${bench}\n\n`);
  const { status } = spawnSync(process.execPath, [join(folder, bench + ENDING), ...args], {
    stdio: "inherit",
  });
  if (status !== 0) process.exitCode = status ?? 1;
}
