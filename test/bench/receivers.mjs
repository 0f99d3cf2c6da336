/** Starts the receivers to measure, each in its own process, and waits until they listen. */
import { spawn } from "node:child_process";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

export const BINARY = resolve(import.meta.dirname, "../../bin/paylink.js");

/**
 * A new folder that holds the public key.
 * @param {import("node:crypto").KeyObject} publicKey
 */
export function createHome(publicKey) {
  const home = mkdtempSync(join(tmpdir(), "paylink-bench-"));
  writeFileSync(join(home, "key.pem"), publicKey.export({ type: "spki", format: "pem" }));
  return { home, remove: () => rmSync(home, { recursive: true, force: true }) };
}

/**
 * @param {string} home
 * @param {string[]} flags
 */
export const startListen = (home, ...flags) =>
  start(home, [BINARY, "listen", "--port", "0", "--json", "--key", join(home, "key.pem"), ...flags]);

/** @param {string} home */
export const startFloor = (home, place = join(home, "floor.log")) =>
  start(home, [join(import.meta.dirname, "floor.mjs"), join(home, "key.pem"), "4699", place]);

/**
 * The memory that a process holds, in MiB (Linux).
 * @param {number | undefined} pid
 */
export const residentMemory = (pid) => memoryOf(pid, "VmRSS");

/**
 * The most memory that a process has held so far, in MiB (Linux).
 * @param {number | undefined} pid
 */
export const peakMemory = (pid) => memoryOf(pid, "VmHWM");

/**
 * @param {number | undefined} pid
 * @param {"VmRSS" | "VmHWM"} figure
 */
function memoryOf(pid, figure) {
  const [, kibibytes] =
    new RegExp(`${figure}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kibibytes) / 1024;
}

/**
 * @param {string} home
 * @param {string[]} args
 */
async function start(home, args) {
  const path = join(home, "out.jsonl");
  const out = openSync(path, "w");
  const child = spawn(process.execPath, args, {
    env: { ...process.env, PAYLINK_HOME: home },
    stdio: ["ignore", out, "inherit"],
  });
  closeSync(out);
  const ended = new Promise((done) => child.once("close", done));
  /** @type {string | undefined} */
  let url;
  while (url === undefined) {
    if (child.exitCode !== null) throw new Error(`${args.join(" ")} ended with ${child.exitCode}`);
    await pause(20);
    url = /^\{"type":"ready","url":"([^"]+)"\}\n/.exec(readFileSync(path, "utf8").slice(0, 200))?.[1];
  }
  return {
    url,
    pid: child.pid,
    /** @param {NodeJS.Signals} signal */
    stop: (signal) => {
      child.kill(signal);
      return ended;
    },
  };
}
