/** Runs shell scripts as a user's machine would: `paylink` in the PATH, and a home and a folder that are thrown away. */
import { spawn } from "node:child_process";
import { mkdirSync, symlinkSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import { GIVEN_ENVIRONMENT } from "./given-environment.ts";
import { BINARY, type Ended } from "./paylink.ts";

export interface Shell {
  readonly home: string;
  /** Where scripts run. */
  readonly cwd: string;
  /** Their PATH. */
  readonly path: string;
  readonly run: (script: string, options?: ScriptOptions) => Promise<Ended>;
}

interface ScriptOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** The script is interrupted, as by Ctrl-C, once it has printed this. */
  readonly interruptAt?: RegExp;
}

/** `bin` stands before everything else in the PATH; by default it holds the program as it was built. */
export function openShell(home: string, bin = builtProgram(home)): Shell {
  const cwd = join(home, "project");
  mkdirSync(cwd);
  const path = [bin, dirname(process.execPath), process.env["PATH"] ?? ""].join(delimiter);
  const run = (script: string, { env = {}, interruptAt }: ScriptOptions = {}): Promise<Ended> => {
    const child = spawn("bash", ["-c", script], {
      cwd,
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...GIVEN_ENVIRONMENT, PATH: path, HOME: home, PAYLINK_HOME: home, ...env },
    });
    const signal = (name: NodeJS.Signals): void => {
      if (child.pid !== undefined && child.exitCode === null && child.signalCode === null)
        process.kill(-child.pid, name);
    };
    onTestFinished(() => signal("SIGKILL"));
    let [stdout, stderr, interrupted] = ["", "", false];
    const look = (): void => {
      if (interrupted || interruptAt?.test(stdout + stderr) !== true) return;
      interrupted = true;
      signal("SIGINT");
    };
    child.stdout.on("data", (chunk) => ((stdout += String(chunk)), look()));
    child.stderr.on("data", (chunk) => ((stderr += String(chunk)), look()));
    return new Promise((done, fail) => {
      child.on("error", fail);
      child.on("close", (code) => done({ code, stdout, stderr }));
    });
  };
  return { home, cwd, path, run };
}

function builtProgram(home: string): string {
  const bin = join(home, "bin");
  mkdirSync(bin);
  symlinkSync(BINARY, join(bin, "paylink"));
  return bin;
}
