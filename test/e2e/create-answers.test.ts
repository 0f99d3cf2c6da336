/** What happens to a created link besides the card: its payment, the browser, and the curl command. */
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { CREATE } from "../support/account.ts";
import { startCommand, startSandboxCommand } from "../support/background-command.ts";
import { ANSWER } from "../support/link-request.ts";
import { runStep } from "../support/context.ts";
import { temporaryHome } from "../support/home.ts";
import { runPaylink } from "../support/paylink.ts";
import { rawServer, reply } from "../support/raw-server.ts";

const FULL = [...CREATE, "--terminal-id", "1234567890", "--expires", "2099-01-31T12:00:00Z"];

describe("create --wait", () => {
  it("ends with the payment at the sandbox, without a key or a listener", async () => {
    const home = temporaryHome();
    await startSandboxCommand(home);
    const waiting = startCommand([...CREATE, "--wait", "--timeout", "60s"], { home });
    const [url = ""] = await waiting.until(/^http\S+/);
    expect((await runStep(["pay", url, "--outcome", "declined"], { home })).code).toBe(0);
    expect((await runStep(["pay", url], { home })).code).toBe(0);
    const ended = await waiting.ended;
    expect(ended.exit).toBe(0);
    expect(ended.stdout).toMatch(/status +paid/);
  });
});

describe("create --curl", () => {
  it("prints a command that creates the same link, and no token", async () => {
    const server = await rawServer(reply(200, ANSWER));
    const home = temporaryHome();
    const env = { PAYLINK_BASE_URL: server.url, PAYLINK_TOKEN: "token-1" };
    const args = [...FULL, "--description", `It's "10%" & $HOME \\ \`id\``];
    const { stdout, code } = await runStep([...args, "--curl"], { home, env });
    expect(code).toBe(0);
    expect(stdout).not.toContain("token-1");
    expect(server.requests).toEqual([]);
    const curl = await promisify(execFile)("/bin/sh", ["-c", stdout], {
      env: { ...env, PATH: process.env["PATH"] },
    });
    expect(curl.stdout).toBe(ANSWER);
    await runStep(args, { home, env });
    // The same, with whatever is on the machine left out: what a shell makes of the words.
    const words = await promisify(execFile)("/bin/sh", ["-c", `curl() { printf '%s\\n' "$@"; }\n${stdout}`], {
      env,
    });
    expect(JSON.parse(words.stdout.trim().split("\n").at(-1) ?? "")).toMatchObject({
      description: `It's "10%" & $HOME \\ \`id\``,
    });
    const [byCurl = "", byPaylink = ""] = server.requests;
    const parts = (text: string) => {
      const [head = "", body] = text.split("\r\n\r\n");
      const [line, ...headers] = head.split("\r\n");
      const kept = headers.filter((header) => /^(?:authorization|content-type|accept):/i.test(header));
      // Spelled otherwise for the shell, and the same JSON.
      const request = JSON.parse(body ?? "") as unknown;
      return { line, headers: kept.map((header) => header.toLowerCase()).toSorted(), request };
    };
    expect(parts(byCurl)).toEqual(parts(byPaylink));
  });
});

describe.runIf(process.platform === "linux")("create --open", () => {
  const LINK = "https://pay.example/checkout?r=L1";

  /** With this script, if any, as the program of the platform that opens web pages. */
  async function open(script: (home: string) => string | undefined) {
    const server = await rawServer(reply(200, ANSWER));
    const home = temporaryHome();
    const bin = join(home, "bin");
    mkdirSync(bin);
    const program = script(home);
    if (program !== undefined)
      writeFileSync(join(bin, "xdg-open"), `#!/bin/sh\n${program}\n`, { mode: 0o755 });
    const path = program === undefined ? bin : `${bin}:/usr/bin:/bin`;
    const env = { PAYLINK_BASE_URL: server.url, PAYLINK_TOKEN: "token-1", PATH: path };
    return { home, ...(await runPaylink([...FULL, "--open", "-q"], { home, env })) };
  }

  it("passes the link to the program of the platform", async () => {
    const { home, ...run } = await open(
      (folder) => `printf %s "$1" > "${folder}/opened.part" && mv "${folder}/opened.part" "${folder}/opened"`,
    );
    expect(run).toMatchObject({ code: 0, stdout: `${LINK}\n` });
    await expect.poll(() => existsSync(join(home, "opened"))).toBe(true);
    expect(readFileSync(join(home, "opened"), "utf8")).toBe(LINK);
  });

  it.each([
    ["ended with exit code 3", "exit 3"],
    ["is not installed", undefined],
  ])("only warns if the program %s, since the link exists", async (words, script) => {
    const { code, stdout, stderr } = await open(() => script);
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${LINK}\n` });
    expect(stderr).toContain(`could not be opened: the program that opens web pages ${words}`);
    expect(stderr).not.toContain("Opened in the browser.");
  });
});
