/** What happens to a created link besides the card: its payment, the browser, and the curl command. */
import { execFile } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { ANSWER } from "../support/link-request.ts";
import { temporaryHome } from "../support/home.ts";
import { runPaylink, startPaylink, startSandbox } from "../support/paylink.ts";
import { rawServer, reply } from "../support/raw-server.ts";

const CREATE = ["create", "--amount", "10", "--currency", "EUR"];
const FULL = [
  ...CREATE,
  "--customer-name",
  "Ada",
  "--terminal-id",
  "1234567890",
  "--expires",
  "2030-01-31T12:00:00Z",
];

async function homeWithSandbox(): Promise<string> {
  const home = temporaryHome();
  await startSandbox(home);
  return home;
}

describe("create --wait", () => {
  it("ends with the payment at the sandbox, without a key or a listener", async () => {
    const home = await homeWithSandbox();
    const waiting = startPaylink([...CREATE, "--wait", "--timeout", "60s"], { home });
    const [url = ""] = await waiting.until(/^http\S+/);
    expect((await runPaylink(["pay", url, "--outcome", "declined"], { home })).code).toBe(0);
    expect((await runPaylink(["pay", url], { home })).code).toBe(0);
    const ended = await waiting.ended;
    expect(ended.code).toBe(0);
    expect(ended.stdout).toMatch(/status +paid/);
  });
});

describe("create --curl", () => {
  it("prints a command that creates the same link, and no token", async () => {
    const server = await rawServer(reply(200, ANSWER));
    const home = temporaryHome();
    const env = { PAYLINK_BASE_URL: server.url, PAYLINK_TOKEN: "token-1" };
    const args = [...FULL, "--description", `It's "10%" & $HOME \\ \`id\``];
    const { stdout, code } = await runPaylink([...args, "--curl"], { home, env });
    expect(code).toBe(0);
    expect(stdout).not.toContain("token-1");
    expect(server.requests).toEqual([]);
    const curl = await promisify(execFile)("/bin/sh", ["-c", stdout], {
      env: { ...env, PATH: process.env["PATH"] },
    });
    expect(curl.stdout).toBe(ANSWER);
    await runPaylink(args, { home, env });
    // The same, with whatever is on the machine left out: what a shell makes of the words.
    const words = await promisify(execFile)("/bin/sh", ["-c", `curl() { printf '%s\\n' "$@"; }\n${stdout}`], {
      env,
    });
    expect(words.stdout).toContain(String.raw`"description":"It's \"10%\" & $HOME \\ ` + "`id`");
    const [byCurl = "", byPaylink = ""] = server.requests;
    const parts = (request: string) => {
      const [head = "", body] = request.split("\r\n\r\n");
      const [line, ...headers] = head.split("\r\n");
      const kept = headers.filter((header) => /^(?:authorization|content-type|accept):/i.test(header));
      return { line, headers: kept.map((header) => header.toLowerCase()).toSorted(), body };
    };
    expect(parts(byCurl)).toEqual(parts(byPaylink));
  });
});

describe("create --open", () => {
  const program = (home: string, name: string, script: string): void => {
    mkdirSync(join(home, "bin"), { recursive: true });
    writeFileSync(join(home, "bin", name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(home, "bin", name), 0o755);
  };

  it.runIf(process.platform === "linux")("passes the link to the program of the platform", async () => {
    const server = await rawServer(reply(200, ANSWER));
    const home = temporaryHome();
    program(
      home,
      "xdg-open",
      `printf %s "$1" > "${home}/opened.part" && mv "${home}/opened.part" "${home}/opened"`,
    );
    const env = {
      PAYLINK_BASE_URL: server.url,
      PAYLINK_TOKEN: "token-1",
      PATH: `${join(home, "bin")}:/usr/bin:/bin`,
    };
    const run = await runPaylink([...FULL, "--open", "-q"], { home, env });
    expect(run).toMatchObject({ code: 0, stdout: "https://pay.example/checkout?r=L1\n" });
    await expect.poll(() => existsSync(join(home, "opened"))).toBe(true);
    expect(readFileSync(join(home, "opened"), "utf8")).toBe("https://pay.example/checkout?r=L1");
  });

  it.runIf(process.platform === "linux")("says that the program could not open it", async () => {
    const server = await rawServer(reply(200, ANSWER));
    const home = temporaryHome();
    program(home, "xdg-open", "exit 3");
    const env = {
      PAYLINK_BASE_URL: server.url,
      PAYLINK_TOKEN: "token-1",
      PATH: `${join(home, "bin")}:/usr/bin:/bin`,
    };
    const run = await runPaylink([...FULL, "--open"], { home, env });
    expect(run.code).toBe(0);
    expect(run.stderr).toContain("could not be opened: the program that opens web pages ended with 3");
    expect(run.stderr).not.toContain("Opened in the browser.");
  });

  it("only warns if no program accepts the link, since it exists", async () => {
    const server = await rawServer(reply(200, ANSWER));
    const env = { PAYLINK_BASE_URL: server.url, PAYLINK_TOKEN: "token-1", PATH: "/nowhere" };
    const run = await runPaylink([...FULL, "--open", "-q"], { home: temporaryHome(), env });
    expect(run.code).toBe(0);
    if (process.platform === "linux")
      expect(run.stderr).toContain("could not be opened: the program that opens web pages is not installed");
  });

  it("opens nothing but a web address", async () => {
    const server = await rawServer(reply(200, ANSWER.replace("https://pay.example", "file://etc")));
    const env = { PAYLINK_BASE_URL: server.url, PAYLINK_TOKEN: "token-1" };
    const run = await runPaylink([...FULL, "--open"], { home: temporaryHome(), env });
    expect(run).toMatchObject({ code: 6, stdout: "" });
    expect(run.stderr).toContain("file://etc");
    expect(run.stderr).not.toContain("Opened in the browser.");
  });
});
