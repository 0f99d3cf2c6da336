/** The sandbox and `paylink test` with the real binary: kills and signals. */
import { createServer } from "node:http";
import { describe, expect, it } from "vitest";
import { temporaryHome } from "../support/home.ts";
import { readyUrl, runPaylink, startPaylink } from "../support/paylink.ts";
import { createLink } from "../support/sandbox-link.ts";
import { giveMerchant } from "../support/merchant.ts";
import { listenOnFreePort } from "../support/ports.ts";
import { CTRL_C, ENTER, openScreen } from "../support/screen.ts";

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
  const port = await listenOnFreePort(server);
  return { url: `http://127.0.0.1:${port}/`, seen };
}

describe("kill -9 while deliveries are under way", () => {
  it("loses no webhook of a payment that was answered", async () => {
    const home = temporaryHome();
    const { url: callback, seen } = await countingReceiver();
    const paid: string[] = [];
    giveMerchant(home);
    for (let round = 0; round < 3; round++) {
      const sandbox = startPaylink(SANDBOX, { home });
      const paymentSettings = { callbackUrl: callback };
      const link = (await createLink(await readyUrl(sandbox), { paymentSettings })).url;
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

describe("paylink test", () => {
  it.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const)("passes %s on once where no terminal does", async (signal, exit) => {
    const program = `let count = 0; process.on("${signal}", () => { count += 1; console.log("signalled", count);
      process.stdin.resume().on("end", () => process.exit()); }); setInterval(() => {}, 1000); console.log("up");`;
    const running = startPaylink(["test", "--", process.execPath, "-e", program], { home: temporaryHome() });
    await running.until(/up/);
    const ended = running.stop(signal);
    await running.until(/signalled 1/);
    running.close();
    const { code, stdout } = await ended;
    expect(stdout).not.toContain("signalled 2");
    expect(code).toBe(exit);
  });

  it.each(["", 'process.on("SIGTERM", () => {});'])(
    "ends what its command has started, with %j",
    async (deaf) => {
      const program = `${deaf} setInterval(() => {}, 1000); console.log("child", process.pid);`;
      // As npm does: a shell between paylink and the program.
      const line = `"$0" -e "$1" & wait`;
      const command = ["sh", "-c", line, process.execPath, program];
      const running = startPaylink(["test", "--", ...command], { home: temporaryHome() });
      const [, pid] = await running.until(/child (\d+)\n/);
      expect((await running.stop("SIGTERM")).code).toBe(143);
      expect(() => process.kill(Number(pid), 0)).toThrow("ESRCH");
    },
  );

  it.each([
    ["SIGTERM", "", 143],
    ["SIGTERM", 'process.on("SIGTERM", () => {});', 143],
    // A shell lets its background programs ignore it.
    ["Ctrl-C", "", 130],
  ])("ends what its command has started at a terminal: %s, with %j", async (how, deaf, exit) => {
    const program = `${deaf} setInterval(() => {}, 1000); console.log("child", process.pid);`;
    const command = ["sh", "-c", `"$0" -e "$1" & wait`, process.execPath, program];
    const screen = openScreen(["test", "--", ...command], { home: temporaryHome() });
    const [, pid] = await screen.until(/child (\d+)/);
    if (how === "SIGTERM") screen.signal("SIGTERM");
    else screen.type(CTRL_C);
    expect(await screen.ended).toBe(exit);
    expect(() => process.kill(Number(pid), 0)).toThrow("ESRCH");
  });

  it("ends what its command has started where Ctrl-C has ended that before paylink saw it", async () => {
    const program = `setInterval(() => {}, 1000); console.log("child", process.pid);`;
    const command = ["sh", "-c", `"$0" -e "$1" & read line; kill -INT $$`, process.execPath, program];
    const screen = openScreen(["test", "--", ...command], { home: temporaryHome() });
    const [, pid] = await screen.until(/child (\d+)/);
    screen.type(ENTER);
    expect(await screen.ended).toBe(130);
    expect(() => process.kill(Number(pid), 0)).toThrow("ESRCH");
  });

  it("starts the sandbox with the faults of --fail", async () => {
    const command = ["sh", "-c", `"${process.execPath}" bin/paylink.js create --reusable --json; exit $?`];
    const { code } = await runPaylink(["test", "--fail", "create=lost", "--", ...command], {
      home: temporaryHome(),
    });
    expect(code).toBe(6);
  });
});
