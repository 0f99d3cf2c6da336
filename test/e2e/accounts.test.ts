/** Accounts for scripts: login by standard input, the environment alone, precedence, and what the service refuses. */
import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { ANSWER } from "../support/link-request.ts";
import { temporaryHome } from "../support/home.ts";
import { readyUrl, runPaylink, startPaylink } from "../support/paylink.ts";
import { MAINTENANCE, rawServer, reply } from "../support/raw-server.ts";

const TOKEN = "tok_Zm9vYmFyYmF6";
const CREATE = ["create", "--amount", "10", "--currency", "EUR"];
const FULL = [...CREATE, "--customer-name", "Ada Lovelace", "--expires", "2030-01-31T12:00:00Z"];

describe("login, without a terminal", () => {
  it("reads a token from standard input, and create then works", async () => {
    const home = temporaryHome();
    const server = await rawServer(reply(200, ANSWER));
    const place = ["--base-url", `${server.url}/`, "--terminal-id", "1234567890", "--no-check"];
    const args = ["login", ...place, "--token-stdin"];
    const login = await runPaylink(args, { home, input: `${TOKEN}\n` });
    expect(login).toMatchObject({ code: 0 });
    const created = await runPaylink([...FULL, "--json"], { home });
    expect(created).toMatchObject({ code: 0, stdout: `${ANSWER}\n`, stderr: "" });
    expect(server.requests[0]).toContain(`Bearer ${TOKEN}\r\n`);
    expect((await runPaylink(["logout"], { home })).code).toBe(0);
    expect(readFileSync(join(home, "settings.json"), "utf8")).not.toContain(TOKEN);
    expect((await runPaylink(FULL, { home })).code).toBe(3);
  });

  it("is not needed with a token in the environment, which no output shows", async () => {
    const server = await rawServer(reply(401, TOKEN));
    const env = { PAYLINK_BASE_URL: server.url, PAYLINK_TOKEN: TOKEN };
    const { code, stdout, stderr } = await runPaylink(["status", "--debug"], { home: temporaryHome(), env });
    expect(code).toBe(3);
    expect(server.requests.join()).toContain(`Bearer ${TOKEN}\r\n`);
    expect(stdout + stderr).not.toContain(TOKEN);
  });

  it("accepts client credentials, and renews their token", async () => {
    const home = temporaryHome();
    const sandbox = startPaylink(["sandbox", "--port", "0", "--json"], { home });
    const url = await readyUrl(sandbox);
    const { profiles } = JSON.parse(readFileSync(join(home, "settings.json"), "utf8")) as {
      profiles: Record<string, Record<string, string>>;
    };
    const secret = profiles["sandbox"]?.["clientSecret"] ?? "";
    const login = await runPaylink(
      [
        "login",
        "-p",
        "shop",
        "--base-url",
        url,
        "--terminal-id",
        "1234567890",
        "--client-id",
        "sandbox",
      ].concat([
        "--client-secret-stdin",
        "--token-url",
        `${url}oauth2/token`,
        "--token-scope",
        "pay_by_link",
      ]),
      { home, input: secret },
    );
    expect(login.code).toBe(0);
    const args = [...FULL, "--quiet", "--debug"];
    const first = await runPaylink(args, { home });
    expect(first.code).toBe(0);
    expect(first.stderr).toContain("/oauth2/token");
    const second = await runPaylink(args, { home });
    expect(second.stderr).not.toContain("/oauth2/token");
    const kept = join(home, "tokens", "shop.json");
    writeFileSync(kept, readFileSync(kept, "utf8").replace(/"token":"[^"]+"/, '"token":"gone"'));
    const third = await runPaylink(args, { home });
    expect(third.code).toBe(0);
    expect(third.stderr).toMatch(/← 401[\s\S]*\/oauth2\/token[\s\S]*← 200[\s\S]*← 200/);
  });
});

describe("a reader that goes away", () => {
  it("is no fault", async () => {
    const binary = resolve(import.meta.dirname, "../../bin/paylink.js");
    const script = '{ "$0" "$1" config list; echo "ended $?" >&2; } | true';
    const { stderr } = await promisify(execFile)("/bin/sh", ["-c", script, process.execPath, binary], {
      env: { PAYLINK_HOME: temporaryHome() },
    });
    expect(stderr).toBe("ended 0\n");
  });
});

describe("an interruption", () => {
  it("ends a wait for another try, with nothing created", async () => {
    const server = await rawServer(reply(503, MAINTENANCE, { "Retry-After": "20" }));
    const env = { PAYLINK_BASE_URL: server.url, PAYLINK_TOKEN: TOKEN, PAYLINK_TERMINAL_ID: "1" };
    const running = startPaylink(FULL, { home: temporaryHome(), env });
    await expect.poll(() => running.stderr()).toContain("Trying again in 20.0 s (1 of 3)");
    expect((await running.stop()).code).toBe(130);
    expect(server.requests).toHaveLength(1);
  });
});
