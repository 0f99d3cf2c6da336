// Runs one benchmark by name, with its arguments, or all of them; with --write first, what they measured goes into the
// README's table: `npm run bench -- kill 50`, `npm run bench -- --write startup`, `npm run bench -- --write`.
import { spawn } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { format, resolveConfig } from "prettier";

const folder = import.meta.dirname;
const ENDING = ".bench.mjs";
const README = resolve(folder, "../../README.md");
/** The Node that the README's figures are measured on. */
const MEASURED_ON = "20";

const known = readdirSync(folder)
  .filter((file) => file.endsWith(ENDING))
  .map((file) => file.slice(0, -ENDING.length));

/** Resolves with the rows that it printed, each a line of the README's table. */
function run(bench, args) {
  process.stdout.write(`\n# ${bench}\n\n`);
  const child = spawn(process.execPath, [join(folder, bench + ENDING), ...args], {
    stdio: ["inherit", "pipe", "inherit"],
  });
  let printed = "";
  child.stdout.on("data", (chunk) => {
    printed += chunk;
    process.stdout.write(chunk);
  });
  return new Promise((done) =>
    child.on("close", (code) => {
      if (code !== 0) process.exitCode = code ?? 1;
      done(printed.match(/^\| .* \|$/gm) ?? []);
    }),
  );
}

const whatOf = (row) => row.split(" | ")[0].replace(/^\| /, "").trim();

/** Each row takes the place of the one that measured the same, or else the end of the table. */
async function write(rows) {
  const readme = readFileSync(README, "utf8");
  const [, before, table, after] = /^([^]*<!-- measured -->\n+)([^]*?)(\n*<!-- \/measured -->[^]*)$/.exec(
    readme,
  );
  const lines = table.split("\n");
  for (const row of rows) {
    const at = lines.findIndex((line) => whatOf(line) === whatOf(row));
    if (at === -1) lines.push(row);
    else lines[at] = row;
  }
  const options = { ...(await resolveConfig(README)), parser: "markdown" };
  writeFileSync(README, await format(before + lines.join("\n") + after, options));
}

const [first, ...others] = process.argv.slice(2);
const writes = first === "--write";
const [name, ...args] = writes ? others : [first, ...others];
if (writes && !process.versions.node.startsWith(`${MEASURED_ON}.`)) {
  process.stdout.write(
    `The README's figures are of Node ${MEASURED_ON}, and this is ${process.versions.node}.\n`,
  );
  process.exitCode = 2;
} else if (name !== undefined && !known.includes(name)) {
  process.stdout.write(`npm run bench -- [--write] <${known.join("|")}>\n`);
  process.exitCode = 2;
} else {
  const rows = [];
  for (const bench of name === undefined ? known : [name]) rows.push(...(await run(bench, args)));
  if (writes) await write(rows);
}
