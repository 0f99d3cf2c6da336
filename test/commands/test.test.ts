/** `paylink test`, in process: its option, the environment of the command, the report and the exit code. */
import { readdirSync } from "node:fs";
import { beforeEach, expect, it, vi } from "vitest";
import { runCommand } from "../support/context.ts";
import { temporaryHome } from "../support/home.ts";
import { startApp } from "../support/webhooks.ts";

let home: string;
/** Where the command makes its own temporary home. */
let temporary: string;

beforeEach(() => {
  home = temporaryHome();
  temporary = temporaryHome();
  vi.stubEnv("TMPDIR", temporary);
  return () => void vi.unstubAllEnvs();
});

/** Creates a link, pays it, and ends with 7. */
const SHOP = `
  const { PAYLINK_BASE_URL, PAYLINK_TOKEN, PAYLINK_TERMINAL_ID, PAYLINK_CALLBACK_URL } = process.env;
  const request = { amount: 1, currency: "EUR", terminalId: PAYLINK_TERMINAL_ID, customerName: "Ada",
    expirationDate: "2099-01-01T00:00:00Z", paymentSettings: { callbackUrl: PAYLINK_CALLBACK_URL } };
  fetch(PAYLINK_BASE_URL + "/v1/payment-links", { method: "POST", body: JSON.stringify(request),
    headers: { Authorization: "Bearer " + PAYLINK_TOKEN, "Content-Type": "application/json" } })
    .then((reply) => reply.json())
    .then(({ url }) => fetch(url, { method: "POST", body: new URLSearchParams({ outcome: "approved" }) }))
    .then(() => { process.exitCode = 7; });`;

const node = (program: string): string[] => ["--", process.execPath, "-e", program];

it("reports what happened, ends with the command's exit code and deletes the temporary home", async () => {
  const { exit, stdout, stderr } = await runCommand(["test", "--json", ...node(SHOP)], { home });
  expect({ exit, stderr }).toEqual({ exit: 7, stderr: "" });
  expect(JSON.parse(stdout)).toMatchObject({
    type: "summary",
    exit: 7,
    created: 1,
    approved: 1,
    delivered: 1,
    undelivered: 0,
    rejected: 0,
    forwarded: 0,
  });
  expect(readdirSync(temporary)).toEqual([]);
  expect(readdirSync(home)).toEqual([]);
});

it("lets the command reach its sandbox although a proxy is set", async () => {
  const printing = node(
    "process.exitCode = process.env.no_proxy === 'corp.example,localhost,127.0.0.1,::1' ? 0 : 9",
  );
  const env = { HTTP_PROXY: "http://proxy.corp:3128", NO_PROXY: "corp.example" };
  expect(await runCommand(["test", "--json", ...printing], { home, env })).toMatchObject({ exit: 0 });
});

it("counts a partial payment separately", async () => {
  const partial = SHOP.replace('"approved"', '"partially-approved"');
  const { stderr, stdout } = await runCommand(["test", "--json", ...node(partial)]);
  expect({ stderr, ...JSON.parse(stdout) }).toMatchObject({ stderr: "", approved: 0, partiallyApproved: 1 });
  const text = (await runCommand(["test", ...node(partial)])).stderr;
  expect(text).toContain("1 created, 0 approved, 1 partially approved, 0 declined");
});

it("forwards each outcome to its target, as listen does", async () => {
  const [approved, others] = [await startApp(() => 200), await startApp(() => 200)];
  const targets = ["--forward-to", others.url, "-f", `approved=${approved.url}`];
  const paired = await runCommand(["test", "--json", ...targets, ...node(SHOP)]);
  expect(JSON.parse(paired.stdout)).toMatchObject({ exit: 7, forwarded: 1 });
  expect([approved.taken.length, others.taken.length]).toEqual([1, 0]);
  const unpaired = ["test", "-f", `declined=${others.url}`, "--json", ...node(SHOP)];
  expect(JSON.parse((await runCommand(unpaired)).stdout)).toMatchObject({ delivered: 1, forwarded: 0 });
  expect(others.taken).toEqual([]);
});

it("names the target that a webhook did not reach, not a port of its own", async () => {
  const { stderr } = await runCommand(["test", "--forward-to", "1", ...node(SHOP)]);
  expect(stderr).toContain("http://localhost:1/: not reached: connection refused");
  expect(stderr).not.toMatch(/\b502\b/);
});

it("gives the command a home with the profile of its sandbox", async () => {
  const program = `const { PAYLINK_HOME, PAYLINK_PROFILE, PAYLINK_BASE_URL } = process.env;
    const { profiles } = JSON.parse(require("fs").readFileSync(PAYLINK_HOME + "/settings.json"));
    process.exit(profiles[PAYLINK_PROFILE].baseUrl === PAYLINK_BASE_URL ? 3 : 4);`;
  expect((await runCommand(["test", ...node(program)])).exit).toBe(3);
});

it("gives the command no setting of a live account, and not its event store", async () => {
  const env = {
    PAYLINK_DB: "postgres://live.example/events",
    PAYLINK_TOKEN_URL: "https://live.example/token",
    PAYLINK_CLIENT_ID: "live",
    PAYLINK_CLIENT_SECRET: "live",
    PAYLINK_CALLBACK_URL: "https://live.example/",
    OTHER: "kept",
  };
  const program = `const shown = Object.entries(process.env).filter(([, value]) => /live/.test(value));
    if (shown.length > 0) throw new Error(shown.join()); process.exit(process.env.OTHER === "kept" ? 3 : 4);`;
  expect((await runCommand(["test", ...node(program)], { env })).exit).toBe(3);
});

it("says so if the command cannot be run, and deletes the temporary home", async () => {
  const { exit, stderr } = await runCommand(["test", "--", "/nonexistent/program"], { home });
  expect(exit).toBe(2);
  expect(stderr).toBe(
    "✗ Cannot run /nonexistent/program: it is not installed, or not in PATH. Nothing was run.\n",
  );
  expect(readdirSync(temporary)).toEqual([]);
});

it("passes an empty argument to the command", async () => {
  const seen = "process.exitCode = process.argv.length === 2 && process.argv[1] === '' ? 0 : 1";
  const { exit } = await runCommand(["test", ...node(seen), ""], { home });
  expect(exit).toBe(0);
});
