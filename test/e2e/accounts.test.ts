/** Accounts for scripts: login by standard input, the environment alone, precedence, and what the service refuses. */
import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { ANSWER } from "../support/link-request.ts";
import { temporaryHome } from "../support/home.ts";
import { readyUrl, runPaylink, startPaylink } from "../support/paylink.ts";
import { rawServer, reply } from "../support/raw-server.ts";

const TOKEN = "tok_Zm9vYmFyYmF6";
const CREATE = ["create", "--amount", "10", "--currency", "EUR"];
const FULL = [...CREATE, "--customer-name", "Ada Lovelace", "--expires", "2030-01-31T12:00:00Z"];

describe("login, without a terminal", () => {
  it("takes a token by standard input, and create then works", async () => {
    const home = temporaryHome();
    const server = await rawServer(reply(200, ANSWER));
    const args = ["login", "--base-url", `${server.url}/`, "--terminal-id", "1234567890", "--token-stdin"];
    const login = await runPaylink(args, { home, input: `${TOKEN}\n` });
    expect(login).toMatchObject({ code: 0 });
    const created = await runPaylink([...FULL, "--json"], { home });
    expect(created).toMatchObject({ code: 0, stdout: `${ANSWER}\n`, stderr: "" });
    expect(server.requests[0]).toContain(`Bearer ${TOKEN}\r\n`);
    expect((await runPaylink(["logout"], { home })).code).toBe(0);
    expect(readFileSync(join(home, "settings.json"), "utf8")).not.toContain(TOKEN);
    expect((await runPaylink(FULL, { home })).code).toBe(3);
  });

  it("takes client credentials, and renews what they obtained", async () => {
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
      ].concat(["--client-secret-stdin", "--token-url", `${url}oauth/token`]),
      { home, input: secret },
    );
    expect(login.code).toBe(0);
    const args = [...FULL, "--quiet", "--debug"];
    const first = await runPaylink(args, { home });
    expect(first.code).toBe(0);
    expect(first.stderr).toContain("/oauth/token");
    const second = await runPaylink(args, { home });
    expect(second.stderr).not.toContain("/oauth/token");
    const stored = readFileSync(join(home, "settings.json"), "utf8");
    writeFileSync(
      join(home, "settings.json"),
      stored.replace(/"accessToken": "[^"]+"/, '"accessToken": "gone"'),
    );
    const third = await runPaylink(args, { home });
    expect(third.code).toBe(0);
    expect(third.stderr).toMatch(/← 401[\s\S]*\/oauth\/token[\s\S]*← 200[\s\S]*← 200/);
  });

  it("names everything that is missing or wrong by its flag, and stores nothing", async () => {
    const home = temporaryHome();
    const missing = await runPaylink(["login", "--base-url", "http://shop.example", "--json"], { home });
    expect(missing.code).toBe(2);
    expect(missing.stderr).toContain("must be https");
    const both = await runPaylink(["login", "--client-id", "x", "--json"], { home });
    const failure = JSON.parse(both.stderr) as { error: { details: { problems: { at: string }[] } } };
    expect(failure.error.details.problems.map(({ at }) => at)).toEqual([
      "--base-url",
      "--terminal-id",
      "--client-secret-stdin",
      "--token-url",
    ]);
    expect((await runPaylink(["config", "list", "--json"], { home })).stdout).toContain('"profile":null');
  });
});

describe("the values in force", () => {
  it("need no profile where the environment gives them", async () => {
    const server = await rawServer(reply(200, ANSWER));
    const env = { PAYLINK_BASE_URL: server.url, PAYLINK_TOKEN: TOKEN, PAYLINK_TERMINAL_ID: "1234567890" };
    const created = await runPaylink([...FULL, "-q"], { home: temporaryHome(), env });
    expect(created).toMatchObject({ code: 0, stdout: "https://pay.example/checkout?r=L1\n", stderr: "" });
  });

  it("come from the flag, then the environment, then the profile, then the default", async () => {
    const home = temporaryHome();
    for (const [key, value] of [
      ["baseUrl", "http://127.0.0.1:1"],
      ["terminalId", "profile"],
    ] as const)
      await runPaylink(["config", "set", key, value, "-p", "shop"], { home });
    const terminal = async (args: readonly string[], env: Record<string, string>): Promise<unknown> => {
      const { stdout } = await runPaylink([...FULL, "--dry-run", ...args], { home, env });
      return (JSON.parse(stdout) as { terminalId: unknown }).terminalId;
    };
    const env = { PAYLINK_TERMINAL_ID: "environment" };
    expect(await terminal([], {})).toBe("profile");
    expect(await terminal([], env)).toBe("environment");
    expect(await terminal(["--terminal-id", "flag"], env)).toBe("flag");
    const list = await runPaylink(["config", "list", "--json"], { home, env });
    expect(JSON.parse(list.stdout)).toMatchObject({
      profile: { name: "shop", source: "current" },
      settings: {
        terminalId: { value: "environment", source: "environment" },
        baseUrl: { source: "profile" },
        expires: { value: "7d", source: "default" },
        currency: null,
      },
    });
  });

  it.each([
    [["set", "token", "x"], "secret"],
    [["get", "clientSecret"], "secret"],
    [["set", "colour", "red"], "no setting named colour. There is baseUrl"],
    [["unset", "curency"], "no setting named curency. Did you mean currency?"],
    [["set", "expires", "soon"], "duration"],
    [["set", "expires", "2020-01-01"], "future"],
    [["set", "transactionPath", "/t"], "{uti}"],
  ])("are refused by name: config %j", async (args, words) => {
    const { code, stderr } = await runPaylink(["config", ...args], { home: temporaryHome() });
    expect(code).toBe(2);
    expect(stderr).toContain(words);
  });

  it("can be changed, unset and switched", async () => {
    const home = temporaryHome();
    const config = async (...args: string[]) => (await runPaylink(["config", ...args], { home })).stdout;
    await config("set", "currency", "eur", "-p", "shop");
    await config("set", "currency", "usd", "-p", "other");
    expect(await config("get", "currency")).toBe("EUR\n");
    await config("use", "other");
    expect(await config("get", "currency")).toBe("USD\n");
    await config("unset", "currency");
    expect((await runPaylink(["config", "get", "currency"], { home })).code).toBe(2);
    expect((await runPaylink(["config", "use", "nobody"], { home })).stderr).toContain("shop, other");
    expect(await config("path")).toBe(`${join(home, "settings.json")}\n`);
  });
});

describe("what the service does", () => {
  const env = (url: string) => ({
    PAYLINK_BASE_URL: url,
    PAYLINK_TOKEN: TOKEN,
    PAYLINK_TERMINAL_ID: "1234567890",
  });

  it("is of unknown outcome when it dies after it has read the request, in words that a merchant understands", async () => {
    const server = await rawServer((socket) => socket.resetAndDestroy());
    const { code, stdout, stderr } = await runPaylink(FULL, { home: temporaryHome(), env: env(server.url) });
    expect(code).toBe(6);
    expect(stdout).toBe("");
    expect(stderr).toContain("The request was sent, but no usable answer arrived");
    expect(stderr).toContain("The link may exist.");
  });

  it("fails with --quiet where the answer holds no URL, and says that the link may exist", async () => {
    const server = await rawServer(reply(200, '{"id":"L1"}'));
    const run = await runPaylink([...FULL, "-q"], { home: temporaryHome(), env: env(server.url) });
    expect(run).toMatchObject({ code: 6, stdout: "" });
    expect(run.stderr).toContain("may exist");
    const json = await runPaylink([...FULL, "--json"], { home: temporaryHome(), env: env(server.url) });
    expect(json).toMatchObject({ code: 0, stdout: '{"id":"L1"}\n' });
  });

  it("is shown by status, whose exit says whether links can be created", async () => {
    const home = temporaryHome();
    const status = async (url: string) => runPaylink(["status", "--json"], { home, env: env(url) });
    expect((await status((await rawServer(reply(404, ""))).url)).code).toBe(0);
    const refused = await status((await rawServer(reply(401, ""))).url);
    expect(refused.code).toBe(3);
    expect(JSON.parse(refused.stdout)).toMatchObject({ service: { answers: true }, token: { valid: false } });
    expect((await status("http://127.0.0.1:1")).code).toBe(5);
    expect((await runPaylink(["status"], { home })).code).toBe(3);
    const tokenless = { PAYLINK_BASE_URL: "http://127.0.0.1:1" };
    const asked = await runPaylink(["status"], { home, env: tokenless });
    expect(asked.code).toBe(3);
    expect(asked.stdout).toContain("not checked");
  });

  it("reads a transaction back as it was sent, with its custom data, and as people read it", async () => {
    const record =
      '{"uti":"U-1", "transApproved":true,"transCancelled":false,"merchantCustomData":"table 7\\u001b[2J"}';
    const server = await rawServer(reply(200, record));
    const options = { home: temporaryHome(), env: env(server.url) };
    expect(await runPaylink(["transaction", "U-1", "--json"], options)).toMatchObject({
      code: 0,
      stdout: `${record}\n`,
    });
    const shown = await runPaylink(["transaction", "U-1"], options);
    expect(shown.stdout).toMatch(/^APPROVED/);
    expect(shown.stdout).toMatch(/merchantCustomData +table 7\\u\{1b\}\[2J/);
    expect(server.requests[0]).toMatch(/^GET \/v1\/transactions\/U-1 HTTP/);
    const missing = await rawServer(reply(404, ""));
    const none = await runPaylink(["transaction", "a/b"], { ...options, env: env(missing.url) });
    expect(none.code).toBe(4);
    expect(missing.requests[0]).toMatch(/^GET \/v1\/transactions\/a%2Fb HTTP/);
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
    const server = await rawServer(reply(503, "", { "Retry-After": "50" }));
    const env = { PAYLINK_BASE_URL: server.url, PAYLINK_TOKEN: TOKEN, PAYLINK_TERMINAL_ID: "1" };
    const running = startPaylink(FULL, { home: temporaryHome(), env });
    await expect
      .poll(() => running.stderr(), { timeout: 30_000 })
      .toContain("Trying again in 50.0 s (1 of 3)");
    expect((await running.stop()).code).toBe(130);
    expect(server.requests).toHaveLength(1);
  });
});

describe("a request in a file", () => {
  it("is refused if a member is given twice", async () => {
    const home = temporaryHome();
    const input = '{"amount":10,"amount":11,"linkOptions":{"mode":"A","mode":"B"}}';
    const run = await runPaylink(["create", "--from", "-", "--dry-run"], { home, input });
    expect(run.code).toBe(2);
    expect(run.stderr).toMatch(/stdin: amount +must not appear twice/);
    expect(run.stderr).toMatch(/stdin: linkOptions\.mode +must not appear twice/);
  });

  it("keeps every member of its own, whatever its name", async () => {
    const input =
      '{"amount":10.50,"currency":"EUR","terminalId":"1","customerName":"Ada","__proto__":{"x":1}}';
    const run = await runPaylink(["create", "--from", "-", "--dry-run"], { home: temporaryHome(), input });
    expect(run.code).toBe(0);
    expect(run.stdout).toContain('"amount": 10.50');
    expect(run.stdout).toContain('"__proto__": {');
  });
});
