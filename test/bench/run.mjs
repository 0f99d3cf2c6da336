/**
 * Runs one benchmark by name, with its arguments, or all of them; with --write first, it updates CONTRIBUTING's table:
 * `npm run bench -- kill 50`, `npm run bench -- --write startup`, `npm run bench -- --write`.
 */
import { spawn } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { formatted } from "../support/formatted.mjs";

const folder = import.meta.dirname;
const ENDING = ".bench.mjs";
const CONTRIBUTING = resolve(folder, "../../.github/CONTRIBUTING.md");
/** The Node of the table's figures. */
const MEASURED_ON = "20";

const known = readdirSync(folder)
  .filter((file) => file.endsWith(ENDING))
  .map((file) => file.slice(0, -ENDING.length));

/**
 * Resolves with the rows that the benchmark printed, each a line of the table.
 * @param {string} bench
 * @param {string[]} args
 * @returns {Promise<string[]>}
 */
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

/** @param {string} row */
const whatOf = (row) => /^\| (.*?) +\|/.exec(row)?.[1];

/**
 * Each row replaces the one that measured the same, or goes to the end of the table. Where every benchmark ran, no other
 * row stays.
 * @param {readonly string[]} rows
 * @param {boolean} isWhole
 */
async function write(rows, isWhole) {
  const text = readFileSync(CONTRIBUTING, "utf8");
  const parts = /^([^]*<!-- measured -->\n+)([^]*?)(\n*<!-- \/measured -->[^]*)$/.exec(text);
  if (parts === null) throw new Error("CONTRIBUTING.md has no measured table");
  const [, before = "", table = "", after = ""] = parts;
  const lines = isWhole ? table.split("\n").slice(0, 2) : table.split("\n");
  for (const row of rows) {
    const at = lines.findIndex((line) => whatOf(line) === whatOf(row));
    if (at === -1) lines.push(row);
    else lines[at] = row;
  }
  writeFileSync(CONTRIBUTING, await formatted(CONTRIBUTING, before + lines.join("\n") + after));
}

const [first, ...others] = process.argv.slice(2);
const writes = first === "--write";
const [name, ...args] = writes ? others : process.argv.slice(2);
if (writes && !process.versions.node.startsWith(`${MEASURED_ON}.`)) {
  process.stdout.write(
    `CONTRIBUTING shows figures of Node ${MEASURED_ON}; this is Node ${process.versions.node}.\n`,
  );
  process.exitCode = 2;
} else if (name !== undefined && !known.includes(name)) {
  process.stdout.write(`npm run bench -- [--write] <${known.join("|")}>\n`);
  process.exitCode = 2;
} else {
  /** @type {string[]} */
  const rows = [];
  for (const bench of name === undefined ? known : [name]) rows.push(...(await run(bench, args)));
  if (writes) await write(rows, name === undefined);
}
