/** The sandbox with the real binary: its clock, its keys, its kills, and a command run around one of its own. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { temporaryHome } from "../support/home.ts";
import { readyUrl, runPaylink, startPaylink } from "../support/paylink.ts";

const SANDBOX = ["sandbox", "--port", "0", "--json"];

/** A receiver that knows each record by its uti. */
async function countingReceiver(): Promise<{ readonly url: string; readonly seen: Set<string> }> {
  const seen = new Set<string>();
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      seen.add((JSON.parse(Buffer.concat(chunks).toString()) as { uti: string }).uti);
      response.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, seen };
}

describe("kill -9 while deliveries are under way", () => {
  it("loses no webhook of a payment that was answered", async () => {
    const home = temporaryHome();
    const { url: callback, seen } = await countingReceiver();
    const paid: string[] = [];
    for (let round = 0; round < 3; round++) {
      const sandbox = startPaylink(SANDBOX, { home });
      await readyUrl(sandbox);
      const create = ["create", "--reusable", "--callback-url", callback, "-q"];
      const link = (await runPaylink(create, { home })).stdout.trim();
      const body = new URLSearchParams({ outcome: "approved", amount: "1" });
      const pay = async (): Promise<void> => {
        const reply = await fetch(link, { method: "POST", headers: { Accept: "application/json" }, body });
        paid.push(((await reply.json()) as { uti: string }).uti);
        if (paid.length % 25 === 10) void sandbox.stop("SIGKILL");
      };
      await Promise.allSettled(Array.from({ length: 25 }, pay));
      await sandbox.stop("SIGKILL");
    }
    expect(paid.length).toBeGreaterThan(5);
    const last = startPaylink(SANDBOX, { home });
    await readyUrl(last);
    while (paid.some((uti) => !seen.has(uti))) await new Promise((resolve) => setTimeout(resolve, 20));
    expect((await last.stop("SIGTERM")).code).toBe(143);
  });
});

describe("the rare cases", () => {
  it("moves the clock, rotates the key, and listen takes the new one's signature", async () => {
    const home = temporaryHome();
    const url = await readyUrl(startPaylink([...SANDBOX, "--clock", "2026-01-31T12:00:00Z"], { home }));
    const advanced = await runPaylink(["sandbox", "advance", "2h", "--json"], { home });
    expect(JSON.parse(advanced.stdout)).toEqual({ now: "2026-01-31T14:00:00.000Z" });
    const rotated = await runPaylink(["sandbox", "rotate-key"], { home });
    expect(rotated).toMatchObject({ code: 0, stdout: expect.stringContaining("The sandbox signs with") });
    const { keys } = (await (await fetch(new URL("/.well-known/jwks.json", url))).json()) as {
      keys: object[];
    };
    expect(keys).toHaveLength(2);
    const listen = startPaylink(["listen", "--port", "0", "--json"], { home });
    const callback = await readyUrl(listen);
    const link = await runPaylink(["create", "--reusable", "--callback-url", callback, "-q"], { home });
    await runPaylink(["pay", link.stdout.trim(), "--amount", "3"], { home });
    await listen.until(/"type":"event"/);
  });

  it("pays by id, and names what is wrong by its flag", async () => {
    const home = temporaryHome();
    await readyUrl(startPaylink(SANDBOX, { home }));
    const created = await runPaylink(["create", "--reusable", "--max-amount", "5", "--json"], { home });
    const { id } = JSON.parse(created.stdout) as { id: string };
    const paid = await runPaylink(["pay", id, "--amount", "2.50", "--outcome", "declined", "--json"], {
      home,
    });
    expect(JSON.parse(paid.stdout)).toMatchObject({
      transApproved: false,
      transCancelled: false,
      amountTrans: 2.5,
    });
    const wrong = await runPaylink(["pay", id, "--amount", "2,50", "--outcome", "paid"], { home });
    expect(wrong.code).toBe(2);
    expect(wrong.stderr).toMatch(/--outcome[\s\S]*--amount/);
    expect((await runPaylink(["pay", id, "--amount", "6"], { home })).code).toBe(4);
    expect((await runPaylink(["pay", "https://pay.example/?r=1"], { home })).code).toBe(2);
  });

  it("names every wrong flag at once", async () => {
    const flags = [
      "--port",
      "x",
      "--seed",
      "-1",
      "--retry",
      "soon",
      "--deliver",
      "never",
      "--host",
      "0.0.0.0",
      "--clock",
      "noon",
    ];
    const { code, stderr } = await runPaylink(["sandbox", ...flags], { home: temporaryHome() });
    expect(code).toBe(2);
    for (const flag of flags.filter((word) => word.startsWith("--"))) expect(stderr).toContain(flag);
  });

  it("runs side by side with another that keeps its own, each knowing its own links", async () => {
    const home = temporaryHome();
    const start = (name: string) => startPaylink([...SANDBOX, "--db", join(home, name)], { home });
    const first = await readyUrl(start("first.db"));
    const second = await readyUrl(start("second.db"));
    const third = await runPaylink([...SANDBOX, "--db", join(home, "first.db")], { home });
    expect(third.code).toBe(2);
    expect(third.stderr).toContain("Another sandbox is using");
    const listen = startPaylink(["listen", "--port", "0", "--json"], { home });
    const callback = await readyUrl(listen);
    const paid: string[] = [];
    for (const url of [first, second, first]) {
      const env = { PAYLINK_BASE_URL: url.replace(/\/$/, "") };
      const create = ["create", "--reusable", "--callback-url", callback, "-q"];
      const link = (await runPaylink(create, { home, env })).stdout.trim();
      expect(link).toMatch(new RegExp(`^${url}`));
      const payment = await runPaylink(["pay", link, "--amount", "1", "--json"], { home, env });
      paid.push((JSON.parse(payment.stdout) as { uti: string }).uti);
      const [other = ""] = [first, second].filter((one) => one !== url);
      expect((await fetch(link.replace(url, other))).status).toBe(404);
    }
    await listen.until(/(?:\{"type":"event"[^\n]*\n){3}/);
    const { stdout } = await listen.stop();
    for (const uti of paid) expect(stdout).toContain(uti);
    expect(JSON.parse(stdout.trim().split("\n").at(-1) ?? "")).toMatchObject({ verified: 3, rejected: 0 });
  });

  it("keeps links between runs, and forgets them with --reset", async () => {
    const home = temporaryHome();
    const db = join(home, "mine.db");
    const first = startPaylink([...SANDBOX, "--db", db], { home });
    await readyUrl(first);
    const { id } = JSON.parse((await runPaylink(["create", "--reusable", "--json"], { home })).stdout) as {
      id: string;
    };
    await first.stop();
    const second = startPaylink([...SANDBOX, "--db", db], { home });
    await readyUrl(second);
    expect((await runPaylink(["pay", id, "--amount", "1"], { home })).code).toBe(0);
    await second.stop();
    await readyUrl(startPaylink([...SANDBOX, "--db", db, "--reset"], { home }));
    expect((await runPaylink(["pay", id, "--amount", "1"], { home })).code).toBe(4);
  });
});

describe("paylink test", () => {
  const SHOP = `
    const { PAYLINK_BASE_URL, PAYLINK_TOKEN, PAYLINK_TERMINAL_ID, PAYLINK_CALLBACK_URL } = process.env;
    const request = { amount: 1, currency: "EUR", terminalId: PAYLINK_TERMINAL_ID, customerName: "Ada",
      expirationDate: "2099-01-01T00:00:00Z", paymentSettings: { callbackUrl: PAYLINK_CALLBACK_URL } };
    fetch(PAYLINK_BASE_URL + "/v1/payment-links", { method: "POST", body: JSON.stringify(request),
      headers: { Authorization: "Bearer " + PAYLINK_TOKEN, "Content-Type": "application/json" } })
      .then((reply) => reply.json())
      .then(({ url }) => fetch(url, { method: "POST", body: new URLSearchParams({ outcome: "approved" }) }))
      .then(() => { process.exitCode = 7; });`;

  it("reports what happened, and ends with the command's own exit code", async () => {
    const home = temporaryHome();
    const { code, stdout } = await runPaylink(["test", "--json", "--", process.execPath, "-e", SHOP], {
      home,
    });
    expect(code).toBe(7);
    expect(JSON.parse(stdout)).toMatchObject({
      exit: 7,
      created: 1,
      approved: 1,
      delivered: 1,
      undelivered: 0,
      rejected: 0,
    });
    expect((await runPaylink(["create", "--reusable"], { home })).code).toBe(3);
  });

  it("passes verified webhooks on", async () => {
    const { url, seen } = await countingReceiver();
    const args = ["test", "--json", "--forward-to", url, "--", process.execPath, "-e", SHOP];
    expect(JSON.parse((await runPaylink(args, { home: temporaryHome() })).stdout)).toMatchObject({
      forwarded: 1,
    });
    expect(seen.size).toBe(1);
  });

  it("passes an interruption on once where no terminal does", async () => {
    const program = `let count = 0; process.on("SIGINT", () => { count += 1; console.log("told", count);
      process.stdin.resume().on("end", () => process.exit()); }); setInterval(() => {}, 1000); console.log("up");`;
    const running = startPaylink(["test", "--", process.execPath, "-e", program], { home: temporaryHome() });
    await running.until(/up/);
    const ended = running.stop("SIGINT");
    await running.until(/told 1/);
    running.close();
    const { code, stdout } = await ended;
    expect(stdout).not.toContain("told 2");
    expect(code).toBe(130);
  });

  it("passes a signal on, and says so when a command cannot be run", async () => {
    const home = temporaryHome();
    const program = `process.on("SIGTERM", () => { console.log("told"); process.exit(0); }); setInterval(() => {}, 1000); console.log("up");`;
    const running = startPaylink(["test", "--", process.execPath, "-e", program], { home });
    await running.until(/up/);
    const { stdout, code } = await running.stop("SIGTERM");
    expect(stdout).toContain("told");
    expect(code).toBe(143);
    const none = await runPaylink(["test", "--", "/nonexistent/program"], { home });
    expect(none.code).toBe(2);
    expect(none.stderr).toContain("cannot be run");
  });
});
