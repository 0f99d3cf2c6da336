/** Stand-ins for `cloudflared`: shell scripts of that name in a folder of their own, first in PATH. */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryHome } from "./home.ts";

export interface Cloudflared {
  /** What a program needs to find it. */
  readonly env: { readonly PATH: string };
  /** The arguments that it was called with. */
  readonly args: () => string;
  /** Whether it runs. */
  readonly isRunning: () => boolean;
}

export const TUNNEL = "https://calm-bird-7.trycloudflare.com";

/** What cloudflared prints before its address, and how it goes on. */
export const OPENS = `echo 'INF Requesting new quick Tunnel on trycloudflare.com...' >&2
echo 'INF |  ${TUNNEL}  |' >&2`;
export const STAYS = "exec sleep 600";

export function standIn(...script: readonly string[]): Cloudflared {
  const folder = temporaryHome();
  const [program, args, pid] = ["cloudflared", "args", "pid"].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  const lines = ["#!/bin/sh", `echo $$ > ${pid}`, `echo "$@" > ${args}`, ...script, ""];
  writeFileSync(program, lines.join("\n"), { mode: 0o755 });
  return {
    env: { PATH: `${folder}:${process.env["PATH"]}` },
    args: () => readFileSync(args, "utf8").trim(),
    isRunning: () => existsSync(pid) && isAlive(Number(readFileSync(pid, "utf8"))),
  };
}

/** A program that has ended stays in the table of processes, as Z, until its parent asks. */
function isAlive(pid: number): boolean {
  const { stdout } = spawnSync("ps", ["-o", "stat=", "-p", String(pid)], { encoding: "utf8" });
  return /^[^Z\s]/.test(stdout);
}
