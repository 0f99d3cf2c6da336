// What the benchmarks of `bulk` share: a list, the command over it, and the sandbox that it is sent to.
import { spawn } from "node:child_process";
import { createWriteStream, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

export const BINARY = resolve(import.meta.dirname, "../../bin/paylink.js");
export const ROWS = 10_000;

export const say = (text) => process.stdout.write(`${text}\n`);
export const folder = () => mkdtempSync(join(tmpdir(), "paylink-bench-"));
export const environment = (home) => ({ PATH: process.env.PATH, PAYLINK_HOME: home, TZ: "UTC" });

export function writeList(path, rows) {
  const file = createWriteStream(path);
  file.write("amount,customerName,invoiceId,customerDetails.email\n");
  return new Promise((done) => {
    let row = 0;
    const more = () => {
      while (row < rows) {
        row++;
        if (!file.write(`${row}.50,Customer ${row},INV-${row},customer${row}@shop.example\n`))
          return file.once("drain", more);
      }
      file.end(done);
    };
    more();
  });
}

/** Runs `bulk` to its end, or until `killing` kills it: it is given the process, and answers what is to be undone. */
export function bulk(home, args, killing) {
  const begun = performance.now();
  const child = spawn(process.execPath, [BINARY, "bulk", ...args], {
    env: environment(home),
    stdio: ["ignore", "pipe", "pipe"],
  });
  const output = [];
  child.stdout.on("data", (chunk) => output.push(chunk));
  child.stderr.on("data", (chunk) => output.push(chunk));
  const undo = killing?.(child);
  return new Promise((done) =>
    child.on("close", (code) => {
      undo?.();
      done({ code, seconds: (performance.now() - begun) / 1000, output: Buffer.concat(output).toString() });
    }),
  );
}

/** The sandbox, with the profile that it registers in the home; `url` has a final slash. */
export async function startSandbox(home) {
  const child = spawn(process.execPath, [BINARY, "sandbox", "--port", "0", "--json"], {
    env: environment(home),
    stdio: ["ignore", "pipe", "ignore"],
  });
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
