/** A program of the system that a test starts in a folder of its own: nginx, tinyproxy. */
import { spawn } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { delimiter, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { onTestFinished } from "vitest";
import { temporaryHome } from "./home.ts";

/** Its path; undefined where it is not installed. */
export const systemProgram = (name: string): string | undefined =>
  ["/usr/sbin", ...(process.env["PATH"] ?? "").split(delimiter)]
    .map((folder) => join(folder, name))
    .find((path) => existsSync(path));

interface Started {
  readonly program: string;
  /** Its arguments, by the file of its configuration and the folder for its own files. */
  readonly args: (file: string, folder: string) => readonly string[];
  readonly configuration: (folder: string) => string;
  /** Where it listens. */
  readonly port: number;
}

/** Resolves when it accepts connections. It ends with the test. */
export async function startSystemProgram({ program, args, configuration, port }: Started): Promise<void> {
  const folder = temporaryHome();
  const file = join(folder, "program.conf");
  writeFileSync(file, configuration(folder));
  const child = spawn(program, args(file, folder), { stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk: Buffer) => (said += chunk.toString()));
  onTestFinished(() => void child.kill("SIGKILL"));
  for (;;) {
    if (child.exitCode !== null) throw new Error(`${program} ended: ${said}`);
    if (await accepts(port)) return;
    await pause(20);
  }
}

const accepts = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
    socket.once("connect", () => socket.destroy());
  });
