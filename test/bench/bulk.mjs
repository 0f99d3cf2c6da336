/** What the benchmarks of `bulk` share: a list, the command that sends it, and the sandbox that receives it. */
import { spawn } from "node:child_process";
import { createWriteStream, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

export const BINARY = resolve(import.meta.dirname, "../../bin/paylink.js");
export const ROWS = 10_000;

export const newHome = () => mkdtempSync(join(tmpdir(), "paylink-bench-"));

/** @param {string} home */
export const environment = (home) => ({ PATH: process.env["PATH"], PAYLINK_HOME: home, TZ: "UTC" });

/** The types of Node 20 do not know it yet. */
const SQLITE = "node:sqlite";

/** @param {string} path */
export async function openDatabase(path) {
  /** @type {typeof import("@photostructure/sqlite")} */
  const { DatabaseSync } = await import(SQLITE).catch(() => import("@photostructure/sqlite"));
  return new DatabaseSync(path);
}

/** @param {number} row */
const plainRow = (row) => `${row}.50,Customer ${row},INV-${row},customer${row}@shop.example\n`;

/**
 * Quotes, line breaks, other scripts, and each tenth row twice.
 * @param {number} row
 */
export function hostileRow(row) {
  const number = row % 10 === 0 ? row - 1 : row;
  return `${number}.50,"Ada ""${number}"", \u{1F600} \u05D0\u0301;",INV-${number},"customer${number}@shop.example","the\r\n1st\n;"\r\n`;
}

/**
 * @param {string} path
 * @param {number} rows
 * @param {(row: number) => string} [rowOf]
 * @returns {Promise<void>}
 */
export function writeList(path, rows, rowOf = plainRow) {
  const file = createWriteStream(path);
  file.write("amount,customerName,invoiceId,customerDetails.email,description\n");
  return new Promise((done) => {
    let row = 0;
    const writeRows = () => {
      while (row < rows) {
        row++;
        if (!file.write(rowOf(row))) return void file.once("drain", writeRows);
      }
      file.end(done);
    };
    writeRows();
  });
}

/**
 * Runs `bulk` to its end, or until `scheduleKill` kills it: that gets the process and returns what cancels the kill.
 * @param {string} home
 * @param {readonly string[]} args
 * @param {(child: import("node:child_process").ChildProcess) => () => void} [scheduleKill]
 * @returns {Promise<{ code: number | null, seconds: number, output: string }>}
 */
export function bulk(home, args, scheduleKill) {
  const started = performance.now();
  const child = spawn(process.execPath, [BINARY, "bulk", ...args], {
    env: environment(home),
    stdio: ["ignore", "pipe", "pipe"],
  });
  /** @type {Buffer[]} */
  const output = [];
  child.stdout.on("data", (chunk) => output.push(chunk));
  child.stderr.on("data", (chunk) => output.push(chunk));
  const cancelKill = scheduleKill?.(child);
  return new Promise((done) =>
    child.on("close", (code) => {
      cancelKill?.();
      done({ code, seconds: (performance.now() - started) / 1000, output: Buffer.concat(output).toString() });
    }),
  );
}

/**
 * The sandbox, with the profile that it registers in the home; `url` ends with a slash.
 * @param {string} home
 */
export async function startSandbox(home) {
  const child = spawn(process.execPath, [BINARY, "sandbox", "--port", "0", "--json"], {
    env: environment(home),
    stdio: ["ignore", "pipe", "ignore"],
  });
  /** @type {string} */
  const url = await new Promise((found) => {
    let text = "";
    child.stdout.on("data", (chunk) => {
      if (text.includes("\n")) return;
      text += chunk;
      const [, ready] = /"url":"([^"]+)"/.exec(text) ?? [];
      if (ready !== undefined) found(ready);
    });
  });
  return { child, url };
}
