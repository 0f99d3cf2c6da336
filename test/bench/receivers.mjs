/** Starts the receivers to measure, each in its own process, and waits until they listen. */
import { spawn } from "node:child_process";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
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
 * @param {readonly string[]} args More flags of listen.
 */
export const startListen = (home, ...args) => {
  const port = args.includes("--port") ? [] : ["--port", "0"];
  return start(home, [BINARY, "listen", ...port, "--json", "--key", join(home, "key.pem"), ...args]);
};

/**
 * A program of this folder to compare listen with.
 * @param {string} program
 * @param {string} home
 * @param {number} port
 */
export const startOther = (program, home, port, place = join(home, "stored")) =>
  start(home, [join(import.meta.dirname, program), join(home, "key.pem"), String(port), place]);

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
 * The processor time of a process and its threads so far, in seconds (Linux).
 * @param {number | undefined} pid
 */
export function timeOfProcessor(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /s, "")
    .split(" ");
  return (Number(fields[11]) + Number(fields[12])) / TICKS;
}

/**
 * The bytes that a process has written to files so far, whole pages of the system's cache (Linux).
 * @param {number | undefined} pid
 */
export function bytesWritten(pid) {
  const [, bytes] = /^write_bytes: (\d+)$/m.exec(readFileSync(`/proc/${pid}/io`, "utf8")) ?? [];
  return Number(bytes);
}

/** A second, as Linux counts it in /proc. */
const TICKS = 100;

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
  const errors = join(home, "errors.txt");
  const [out, err] = [openSync(path, "w"), openSync(errors, "w")];
  const child = spawn(process.execPath, args, {
    env: { ...process.env, NODE_ENV: "production", PAYLINK_HOME: home },
    stdio: ["ignore", out, err],
  });
  closeSync(out);
  closeSync(err);
  const ended = new Promise((done) => child.once("close", done));
  /** @type {string | undefined} */
  let url;
  while (url === undefined) {
    if (child.exitCode !== null) throw new Error(`${args.join(" ")}: ${readFileSync(errors, "utf8")}`);
    await pause(20);
    // The line may be long: it has the store and the keys.
    url = /^\{"type":"ready","url":"([^"]+)".*\}\n/m.exec(readFileSync(path, "utf8"))?.[1];
  }
  return {
    url,
    pid: child.pid,
    /** The bytes that it has printed, which go to a file. */
    printed: () => statSync(path).size,
    /** @param {NodeJS.Signals} signal */
    stop: (signal) => {
      child.kill(signal);
      return ended;
    },
  };
}
