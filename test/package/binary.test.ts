/** The single executable of `npm run binary`, without Node: nothing is on its PATH. */
import { spawnSync } from "node:child_process";
import { chmodSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { bulkLists, listOfRows } from "../support/bulk-list.ts";
import { temporaryHome } from "../support/home.ts";
import { jsonLines } from "../support/json-lines.ts";
import { KEYS } from "../support/keys.ts";
import { startLinkService } from "../support/link-service.ts";
import { giveMerchant } from "../support/merchant.ts";
import { readyUrl, runPaylink, startPaylink, type RunOptions } from "../support/paylink.ts";
import { post, record, webhook } from "../support/webhooks.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const BINARY = join(ROOT, process.platform === "win32" ? "binary/paylink.exe" : "binary/paylink");

let reasonToSkip: string | undefined;

beforeAll(() => {
  const made = spawnSync(process.execPath, [join(ROOT, ".config/binary.mjs")], { encoding: "utf8" });
  if (made.status === 0) return;
  if (!/\b(?:ETARGET|E404)\b/.test(made.stderr)) throw new Error(made.stderr);
  reasonToSkip = `npm has no such Node for ${process.platform} on ${process.arch}`;
}, 300_000);

beforeEach((test) => test.skip(reasonToSkip !== undefined, reasonToSkip));

const withoutNode = (options: RunOptions): RunOptions => ({
  program: [BINARY],
  ...options,
  env: { ...options.env, PATH: "" },
});
const run = (args: readonly string[], options: RunOptions) => runPaylink(args, withoutNode(options));
const start = (args: readonly string[], options: RunOptions) => startPaylink(args, withoutNode(options));

const distFile = (name: string): string => readFileSync(join(ROOT, "dist", name), "utf8");

const LINK = ["--amount", "10", "--currency", "EUR", "--terminal-id", "T-1", "--customer-name", "Ada"];

describe("the executable", () => {
  it("prints the same as the program in dist/", async () => {
    const home = temporaryHome();
    for (const args of [
      ["--version"],
      ["--help"],
      ["help", "production", "kubernetes"],
      ["help", "--json"],
      ["completion", "zsh"],
      ["complete", "--", "links", ""],
      ["create", ...LINK, "--expires", "2099-01-01", "--dry-run", "--json"],
      ["create", "--amount", "1,5", "--json"],
    ])
      expect(await run(args, { home })).toEqual(await runPaylink(args, { home }));
  });

  it("contains the files that come with paylink, and the licences of Node", async () => {
    const home = temporaryHome();
    const printed = async (name: string): Promise<string> =>
      (await run(["help", "files", name], { home })).stdout;
    expect(await printed("man")).toContain(".TH PAYLINK 1");
    expect(await printed("openapi")).toContain('"openapi":"3.1.1"');
    const notices = await printed("notices");
    expect(notices).toContain(distFile("THIRD-PARTY-NOTICES.txt").trim());
    expect(notices).toContain("Node.js is licensed for use as follows");
  });

  it("ignores the options of another Node, and leaves no compiled code behind", async () => {
    const home = temporaryHome();
    const env = { NODE_OPTIONS: "--require ./missing.cjs", XDG_CACHE_HOME: join(home, "cache") };
    const ended = await run(["help", "errors"], { home, env });
    expect(ended).toMatchObject({ code: 0, stderr: "" });
    expect(readdirSync(home)).toEqual([]);
  });

  it("runs the demo", async () => {
    const { code, stdout } = await run(["demo"], { home: temporaryHome() });
    expect({ code, steps: stdout.match(/^✓/gm)?.length }).toEqual({ code: 0, steps: 7 });
  });

  it("creates a link at its own sandbox, pays it, and verifies, stores and checks the webhooks", async () => {
    const home = temporaryHome();
    giveMerchant(home);
    await readyUrl(start(["sandbox", "--port", "0", "--json"], { home }));
    const listener = start(["listen", "--port", "0", "--json"], { home });
    const url = await readyUrl(listener);
    const create = ["create", "--amount", "10", "--currency", "EUR", "--callback-url", url, "--quiet"];
    const { stdout: link, stderr } = await run(create, { home });
    expect(stderr).toBe("");
    expect((await run(["pay", link.trim()], { home })).code).toBe(0);
    await listener.until(/"outcome":"APPROVED"/);
    expect(listener.stderr()).toBe("");
    expect(jsonLines((await run(["events", "list", "--json"], { home })).stdout)).toHaveLength(1);
    expect(await run(["check", url], { home })).toMatchObject({ code: 0 });
    expect((await listener.stop()).code).toBe(130);
  });

  it("loses no webhook that it acknowledged when it is killed under load", async () => {
    const home = temporaryHome();
    const key = join(home, "key.pem");
    writeFileSync(key, KEYS.publicPem);
    const acknowledged = new Set<string>();
    for (const killAfter of [1, 40, 90]) {
      const listener = start(["listen", "--port", "0", "--json", "--key", key], { home });
      const url = await readyUrl(listener);
      const before = acknowledged.size;
      const sender = async (): Promise<void> => {
        for (;;) {
          const one = record();
          const status = await post(url, webhook(url, one));
          if (status === 200) acknowledged.add(String(one["uti"]));
          if (acknowledged.size - before === killAfter) void listener.stop("SIGKILL");
        }
      };
      await Promise.allSettled(Array.from({ length: 16 }, sender));
      await listener.ended;
    }
    expect(acknowledged.size).toBeGreaterThan(130);
    const { stdout } = await run(["events", "list", "--all", "--json"], { home });
    const stored = stdout
      .trim()
      .split("\n")
      .map((line) => (JSON.parse(line) as { record: { uti: string } }).record.uti);
    expect(stored).toHaveLength(new Set(stored).size);
    expect([...acknowledged].filter((uti) => !stored.includes(uti))).toEqual([]);
  });

  it("creates each row of a list once when it is killed", async () => {
    const service = await startLinkService(() => "create");
    const { home, env, args, results, send } = bulkLists(run)(listOfRows(100), service);
    const running = start([...args, "--json", "--rate", "200"], { home, env });
    await expect.poll(() => service.arrivals.length, { interval: 1 }).toBeGreaterThan(30);
    await running.stop("SIGKILL");
    expect([0, 6]).toContain((await send()).code);
    expect(results()).toHaveLength(101);
    expect([...service.links.values()].every((links) => links === 1)).toBe(true);
  });

  it("names the functions in a crash report", async () => {
    const home = temporaryHome();
    const broken = join(home, "paylink");
    const bytes = readFileSync(BINARY);
    const method = bytes.indexOf("toISOString", bytes.indexOf("const formatInstant="));
    bytes.write("toISOStrinG", method);
    writeFileSync(broken, bytes);
    chmodSync(broken, 0o755);
    const { code, stderr } = await run(["create", ...LINK, "--dry-run"], { home, program: [broken] });
    expect(code).toBe(1);
    expect(stderr).toMatch(/^✗ TypeError: .*toISOStrinG is not a function\n/);
    expect(stderr).toMatch(/^ +at .*formatInstant \(/m);
    expect(stderr).toMatch(/^ +at async run \(/m);
  });
});
