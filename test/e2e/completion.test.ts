/** Completion in the real shells, typed at a real pseudo-terminal: the word grows when Tab is pressed. */
import { accessSync, constants, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { spawn } from "@lydell/node-pty";
import { describe, expect, it, onTestFinished } from "vitest";
import { temporaryHome } from "../support/home.ts";
import { BINARY, runPaylink } from "../support/paylink.ts";

interface Shell {
  readonly name: "bash" | "zsh" | "fish";
  /** The name of the script, by which a shell that looks in folders finds it. */
  readonly file: string;
  readonly args: readonly string[];
  /** What is typed first, so that the script is in force. */
  readonly setUp: (script: string) => string;
}

const SHELLS: readonly Shell[] = [
  {
    name: "bash",
    file: "paylink.bash",
    args: ["--norc", "--noprofile", "-i"],
    setUp: (script) => `source ${script}; source ${script}`,
  },
  {
    name: "zsh",
    file: "paylink.zsh",
    args: ["-f", "-i"],
    setUp: (script) => `autoload -U compinit; compinit -u; source ${script}; source ${script}`,
  },
  {
    name: "zsh",
    file: "_paylink",
    args: ["-f", "-i"],
    setUp: (script) => `fpath=(${dirname(script)} $fpath); autoload -U compinit; compinit -u -D`,
  },
  {
    name: "fish",
    file: "paylink.fish",
    args: ["--no-config", "-i"],
    setUp: (script) => `source ${script}; source ${script}`,
  },
  {
    name: "fish",
    file: "paylink.fish",
    args: ["--no-config", "-i"],
    setUp: (script) => `set fish_complete_path ${dirname(script)} $fish_complete_path`,
  },
];

/** The gate installs all three shells; elsewhere a test whose shell is missing is shown as skipped. */
function installed(shell: Shell): boolean {
  return (process.env["PATH"] ?? "").split(delimiter).some((folder) => canRun(join(folder, shell.name)));
}

function canRun(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

interface Session {
  type(text: string): void;
  /** Resolves with what has been shown since the last call, once the pattern is in it. */
  until(pattern: RegExp): Promise<string>;
}

function startShell(shell: Shell, home: string): Session {
  const pty = spawn(shell.name, [...shell.args], {
    cols: 120,
    rows: 30,
    cwd: home,
    env: {
      PATH: `${home}${delimiter}${process.env["PATH"] ?? ""}`,
      HOME: home,
      PAYLINK_HOME: home,
      TERM: "xterm",
      // Else bash writes one as it ends, into the folder that is just being removed.
      HISTFILE: "/dev/null",
      PS1: "ready> ",
    },
  });
  onTestFinished(() => pty.kill());
  let shown = "";
  let look = (): void => undefined;
  pty.onData((data) => {
    shown += data;
    look();
  });
  return {
    type: (text) => pty.write(text),
    until: (pattern) =>
      new Promise((found) => {
        look = () => {
          // oxlint-disable-next-line no-control-regex -- a shell redraws its line with escape sequences
          const text = shown.replace(/\u001b\[[0-9;?]*[ -/]*[@-~]/g, "");
          if (!pattern.test(text)) return;
          shown = "";
          found(text);
        };
        look();
      }),
  };
}

describe.each(SHELLS)("in $name with $file", (shell) => {
  it.runIf(installed(shell))(
    "completes a command, a flag, a value and a file name, also when sourced twice",
    async () => {
      const home = temporaryHome();
      symlinkSync(BINARY, join(home, "paylink"));
      const { stdout } = await runPaylink(["completion", shell.name], { home });
      const script = join(home, shell.file);
      writeFileSync(script, stdout);
      const session = startShell(shell, home);
      session.type(`${shell.setUp(script)}; echo loa''ded\r`);
      await session.until(/loaded/);
      session.type("paylink cre\t");
      await session.until(/paylink create /);
      session.type("--curr\t");
      await session.until(/--currency /);
      session.type("EUR\u0015paylink completion powe\t");
      expect(await session.until(/completion powershell/)).toContain("powershell");
      session.type("\u0015paylink pay X --outcome=appr\t");
      await session.until(/--outcome=approved/);
      writeFileSync(join(home, "webhook-key.pem"), "");
      session.type("\u0015paylink verify --key webh\t");
      await session.until(/--key webhook-key\.pem/);
      session.type("\u0015paylink verify webh\t");
      await session.until(/verify webhook-key\.pem/);
      session.type("\u0015paylink verify --key=webh\t");
      await session.until(/--key=webhook-key\.pem/);
    },
  );
});

it("has every shell installed where the gate runs", () => {
  const installed = readFileSync(new URL("../../.ci/install", import.meta.url), "utf8");
  for (const shell of ["zsh", "fish"]) expect(installed).toContain(shell);
});

it.each(["bash", "zsh", "fish", "powershell"])(
  "prints a script for %s that asks the program itself",
  async (shell) => {
    const { code, stdout } = await runPaylink(["completion", shell], { home: tmpdir() });
    expect(code).toBe(0);
    expect(stdout).toMatch(/paylink complete '?--/);
  },
);
