/** Every example of every help page is run against a sandbox and a listener; what needs a shell has one of its own. */
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { startListenCommand, startSandboxCommand } from "../support/background-command.ts";
import { interrupted, runCommand } from "../support/context.ts";
import { helpPages } from "../support/help-pages.ts";
import { temporaryHome } from "../support/home.ts";
import type { Ended } from "../support/paylink.ts";
import { openShell, type Shell } from "../support/shell.ts";
import { listenOnFreePort } from "../support/ports.ts";

const pages = await helpPages();
const COMMANDS = [...new Set(pages.map(({ command: [name = "paylink"] }) => name))];
const examplesOf = (name: string): readonly string[] =>
  pages.filter(({ command: [first = "paylink"] }) => first === name).flatMap(({ examples }) => examples);

/** They change what the examples of other commands find. */
const ALONE = ["sandbox", "logout", "profiles"];
const TOGETHER = COMMANDS.filter((name) => !ALONE.includes(name));
/** Some of them share a stage, so that each test ends in time on a busy machine. */
const STAGES = [
  ...Array.from({ length: 4 }, (_, part) => TOGETHER.filter((__, at) => at % 4 === part)),
  ...ALONE.map((name) => [name]),
].map((names) => ({ names: names.join(", "), of: names }));

/** What an example finds: a sandbox with links, a listener that has received something, and an application. */
interface Stage {
  readonly home: string;
  readonly env: Readonly<Record<string, string>>;
  /** The example with the stage's ports for the default ones, which may be in use. */
  readonly staged: (example: string) => string;
}

async function stage(): Promise<Stage> {
  const home = temporaryHome();
  // In this process: the examples are what is tried.
  const { url: sandbox } = await startSandboxCommand(home);
  const listening = await startListenCommand(home);
  const listener = listening.url;
  for (const key of ["callbackUrl", "failureCallbackUrl"])
    await runCommand(["config", "set", key, listener], { home });
  await runCommand(["trigger", "approved"], { home });
  const create = ["create", "--amount", "10", "--currency", "EUR", "--quiet"];
  const links = await Promise.all(Array.from({ length: 6 }, () => runCommand(create, { home })));
  // The newest event is a payment that the sandbox knows.
  await runCommand(["pay", links[0]?.stdout.trim() ?? ""], { home });
  await listening.until(/"type":"event"[^]*"type":"event"/);
  const identity = JSON.parse(readFileSync(join(home, "data/sandbox/sandbox.json"), "utf8")) as {
    readonly token: string;
    readonly clientSecret: string;
  };
  const ports: Readonly<Record<string, string>> = {
    4010: new URL(sandbox).port,
    4000: new URL(listener).port,
    3000: await startApplication(),
  };
  return {
    home,
    env: { TOKEN: identity.token, SECRET: identity.clientSecret },
    staged: (example) =>
      example
        .replace(/^paylink listen(?: --port \d+)?/, "paylink listen --port 0")
        .replace(/^paylink inspect(?: --port \d+)?/, "paylink inspect --port 0")
        // Another sandbox would take the place of the stage's own, in its profile and in its folder.
        .replace(/^paylink sandbox(?: --port \d+)?(?! [a-z])/, "PAYLINK_HOME=other paylink sandbox --port 0")
        .replace(/\b(?:4010|4000|3000)\b/g, (port) => ports[port] ?? port),
  };
}

/** Takes whatever it is sent. */
async function startApplication(): Promise<string> {
  const server = createServer((_, response) => response.end());
  return String(await listenOnFreePort(server));
}

/** The output of an example that runs until it is stopped. */
const GOES_ON =
  /^(?:20\S+ \S+ \S+ info )?(?:Listening on|Sandbox on|paylink inspect on|\{"type":"ready"|Waiting for (?:the payment|events))/m;

/** The words of an example that needs no shell; undefined for others. */
function plainWords(example: string): string[] | undefined {
  if (!/^paylink(?: (?:[\w@%+=:,./-]+|'[^']*'|"[^"$`\\]*"))+$/.test(example)) return undefined;
  return [...example.matchAll(/ (?:'([^']*)'|"([^"]*)"|(\S+))/g)].map(([, ...words]) => words.join(""));
}

/** Runs it in this process, which takes a tenth of the time of a shell and a program of its own. */
async function runPlain(words: readonly string[], { home, path }: Shell): Promise<Ended> {
  const ends = new AbortController();
  const look = (text: string): void => {
    if (GOES_ON.test(text)) ends.abort(interrupted());
  };
  const options = { home, env: { PATH: path }, signal: ends.signal, watch: look, watchStderr: look };
  const { exit: code, stdout, stderr } = await runCommand(words, options);
  return { code, stdout, stderr };
}

/** The example with what a command within it prints, as a shell puts it there. */
async function withAnswers(example: string, shell: Shell): Promise<string> {
  const [asked, inner = ""] = /(?<= )\$\((paylink [^()]+)\)/.exec(example) ?? [];
  const words = plainWords(inner);
  if (asked === undefined || words === undefined) return example;
  return example.replace(asked, `'${(await runPlain(words, shell)).stdout.trim()}'`);
}

it.each(STAGES)("of $names", async ({ of: names }) => {
  const { home, env, staged } = await stage();
  const shell = openShell(home);
  writeFileSync(join(shell.cwd, "package.json"), '{"scripts": {"test": "paylink create --reusable"}}');
  const before = process.cwd();
  onTestFinished(() => process.chdir(before));
  process.chdir(shell.cwd);
  const failed: object[] = [];
  for (const example of names.flatMap(examplesOf)) {
    const line = await withAnswers(staged(example), shell);
    const words = plainWords(line);
    const { code, stdout, stderr } = await (words === undefined
      ? shell.run(line, { env, interruptAt: GOES_ON })
      : runPlain(words, shell));
    const passed = code === 0 || (code === 130 && GOES_ON.test(stdout + stderr));
    if (!passed) failed.push({ example, code, said: stdout + stderr });
  }
  expect(failed).toEqual([]);
});
