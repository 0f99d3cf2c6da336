/** Every example of every help page is run as it stands, against a sandbox and a listener, in a folder of its own. */
import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { delimiter, dirname, join, resolve } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { helpPages } from "../support/help-pages.ts";
import { temporaryHome } from "../support/home.ts";
import { readyUrl, runPaylink, startPaylink, type Ended } from "../support/paylink.ts";

/** The pages of subcommands before their command's: another `paylink sandbox` would be the one that they speak to. */
const pages = (await helpPages()).toReversed();
const COMMANDS = [...new Set(pages.map(({ command: [name = "paylink"] }) => name))];

/** What an example finds: a sandbox, a listener that has received something, and an application. */
interface Stage {
  readonly home: string;
  readonly env: Readonly<Record<string, string>>;
  /** The example with the stage's ports for the usual ones, which may be taken. */
  readonly staged: (example: string) => string;
}

async function stage(): Promise<Stage> {
  const home = temporaryHome();
  const sandbox = await readyUrl(startPaylink(["sandbox", "--port", "0", "--json"], { home }));
  const listener = await readyUrl(startPaylink(["listen", "--port", "0", "--json"], { home }));
  for (const key of ["callbackUrl", "failureCallbackUrl"])
    await runPaylink(["config", "set", key, listener], { home });
  await runPaylink(["trigger", "approved"], { home });
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
        .replace(/^paylink sandbox(?: --port \d+)?(?! [a-z])/, "paylink sandbox --db another.db --port 0")
        .replace(/\b(?:4010|4000|3000)\b/g, (port) => ports[port] ?? port),
  };
}

/** Takes whatever it is sent. */
async function startApplication(): Promise<string> {
  const server = createServer((_, response) => response.end());
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return String((server.address() as AddressInfo).port);
}

const BINARY = resolve(import.meta.dirname, "../../bin/paylink.js");

/** A folder with a small project in it, and beside it a `paylink` for the PATH. */
function workshop(home: string): { readonly cwd: string; readonly path: string } {
  const [cwd, path] = [join(home, "project"), join(home, "bin")];
  mkdirSync(cwd);
  mkdirSync(path);
  symlinkSync(BINARY, join(path, "paylink"));
  writeFileSync(join(cwd, "package.json"), '{"scripts": {"test": "paylink create --reusable"}}');
  return { cwd, path };
}

/** What is printed by an example that goes on until it is told to stop. */
const GOES_ON = /^Listening on|^Sandbox on|^\{"type":"ready"|^Waiting for the payment/m;

function runExample(line: string, { home, env }: Stage, place: ReturnType<typeof workshop>): Promise<Ended> {
  const child = spawn("bash", ["-c", line], {
    cwd: place.cwd,
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      ...env,
      PATH: [place.path, dirname(process.execPath), process.env["PATH"] ?? ""].join(delimiter),
      HOME: home,
      PAYLINK_HOME: home,
    },
  });
  onTestFinished(() => {
    if (child.pid !== undefined && child.exitCode === null && child.signalCode === null)
      process.kill(-child.pid, "SIGKILL");
  });
  let [stdout, stderr, told] = ["", "", false];
  const look = (): void => {
    if (told || !GOES_ON.test(stdout + stderr) || child.pid === undefined) return;
    told = true;
    process.kill(-child.pid, "SIGINT");
  };
  child.stdout.on("data", (chunk) => ((stdout += String(chunk)), look()));
  child.stderr.on("data", (chunk) => ((stderr += String(chunk)), look()));
  return new Promise((done, fail) => {
    child.on("error", fail);
    child.on("close", (code) => done({ code: told && code === 130 ? 0 : code, stdout, stderr }));
  });
}

it("gives every command two examples at least", () => {
  expect(pages.length).toBeGreaterThan(COMMANDS.length);
  expect(pages.filter(({ examples }) => examples.length < 2).map(({ command }) => command)).toEqual([]);
});

it.each(COMMANDS)("%s", async (name) => {
  const here = await stage();
  const place = workshop(here.home);
  for (const { examples } of pages.filter(({ command: [first = "paylink"] }) => first === name)) {
    for (const example of examples) {
      const { code, stdout, stderr } = await runExample(here.staged(example), here, place);
      expect({ example, code, said: code === 0 ? "" : stdout + stderr }).toEqual({
        example,
        code: 0,
        said: "",
      });
    }
  }
});
