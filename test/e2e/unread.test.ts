/** Commands whose reader leaves before they end, as in `paylink listen --json | head -1`. */
import { describe, expect, it } from "vitest";
import { runStep } from "../support/context.ts";
import { temporaryHome } from "../support/home.ts";
import { readyUrl, startPaylink } from "../support/paylink.ts";
import { keyFile } from "../support/keys.ts";
import { post, record, webhook } from "../support/webhooks.ts";

async function start(...flags: string[]) {
  const home = temporaryHome();
  const listening = startPaylink(["listen", "--port", "0", "--json", "--key", keyFile(home), ...flags], {
    home,
  });
  const url = await readyUrl(listening);
  const send = (more: Parameters<typeof record>[0] = {}) => post(url, webhook(url, record(more)));
  return { home, listening, send };
}

async function listen(...flags: string[]) {
  const started = await start(...flags);
  started.listening.leave();
  return started;
}

/** The warnings that nobody reads the output. */
const warnings = (stderr: string): string[] =>
  stderr
    .split("\n")
    .filter((line) => line !== "")
    .map((line): { message?: string } => JSON.parse(line))
    .flatMap(({ message = "" }) =>
      message.startsWith("stdout cannot be written any more (its reader has gone).") ? [message] : [],
    );

describe("listen without a reader", () => {
  it("receives and stores as before, and warns once", async () => {
    const { home, listening, send } = await listen();
    for (const status of [await send(), await send(), await send()]) expect(status).toBe(200);
    await expect.poll(() => warnings(listening.stderr())).toHaveLength(1);
    expect(listening.stderr()).toContain("To see them: paylink events list");
    expect(await send()).toBe(200);
    const { code, stderr } = await listening.stop();
    expect(code).toBe(130);
    expect(warnings(stderr)).toHaveLength(1);
    const { stdout } = await runStep(["events", "list", "--all", "--json"], { home });
    expect(stdout.trim().split("\n")).toHaveLength(4);
  });

  it("ends as a script expects", async () => {
    const { listening, send } = await listen("--no-store", "--expect", "2");
    await send();
    await expect.poll(() => warnings(listening.stderr())).toHaveLength(1);
    await send();
    expect((await listening.ended).code).toBe(0);
  });

  it("stops if nothing would be stored or shown", async () => {
    const { listening, send } = await start("--no-store");
    // It is the last line before the first webhook.
    await listening.until(/"type":"warning".*\n/);
    listening.leave();
    expect(await send()).toBe(200);
    const { code, stderr } = await listening.ended;
    expect(code).toBe(0);
    expect(warnings(stderr)).toEqual([expect.stringContaining("listen stops")]);
    await expect(send()).rejects.toThrow("fetch failed");
  });
});

describe("a reader that stands still", () => {
  const isOver = (pid: number): boolean => {
    try {
      return !process.kill(pid, 0);
    } catch {
      return true;
    }
  };

  it("keeps neither listen alive after SIGTERM, nor a list of what listen has stored", async () => {
    const { home, listening, send } = await start();
    listening.pause();
    const filler = "x".repeat(50_000);
    for (let count = 0; count < 20; count++) expect(await send({ filler })).toBe(200);
    const list = startPaylink(["events", "list", "--all", "--json"], { home });
    // The rest is more than any pipe holds.
    await list.until(/"type":"event"/);
    list.pause();
    for (const running of [listening, list]) {
      const ended = running.stop("SIGTERM");
      await expect.poll(() => isOver(running.pid), { timeout: 20_000 }).toBe(true);
      running.leave();
      const { code, stderr } = await ended;
      expect([code, JSON.parse(stderr)]).toMatchObject([
        143,
        {
          error: { code: "terminated", message: expect.stringMatching(/stands still, so \d+ lines? could/) },
        },
      ]);
    }
    const { stdout } = await runStep(["events", "list", "--all", "-q"], { home });
    expect(stdout.trim().split("\n")).toHaveLength(20);
  });
});

describe("listen with a slow reader", () => {
  it("answers as before, and shows everything in the end", async () => {
    const { listening, send } = await start();
    const readOn = listening.pause();
    // Several megabytes: more than any pipe holds.
    const filler = "x".repeat(50_000);
    for (let count = 0; count < 40; count++) expect(await send({ filler })).toBe(200);
    readOn();
    const { code, stdout } = await listening.stop();
    expect(code).toBe(130);
    expect(stdout.match(/^\{"type":"event"/gm)).toHaveLength(40);
  });

  it("drops output that nobody reads, to bound memory", async () => {
    const { home, listening, send } = await start("--max-body", "1mb");
    const readOn = listening.pause();
    // More than two megabytes a line, in its record and in base64: 16 megabytes may wait.
    const webhooks = 16;
    const filler = "x".repeat(900_000);
    for (let count = 0; count < webhooks; count++) expect(await send({ filler })).toBe(200);
    await expect
      .poll(() => warnings(listening.stderr()))
      .toEqual([expect.stringContaining("still received and stored")]);
    readOn();
    const { code, stdout } = await listening.stop();
    expect(code).toBe(130);
    const shown = stdout.match(/^\{"type":"event".*\}$/gm) ?? [];
    expect(shown.length).toBeGreaterThan(4);
    expect(shown.length).toBeLessThan(webhooks);
    expect(stdout).toContain(`{"type":"summary","received":${webhooks},`);
    const { stdout: kept } = await runStep(["events", "list", "--json", "--limit", "100"], { home });
    expect(kept.match(/^\{"type":"event"/gm)).toHaveLength(webhooks);
  });
});

describe("events list without a reader", () => {
  it("ends", async () => {
    const { home, listening, send } = await listen();
    // More than a pipe holds, so that the exporter is still writing when its reader leaves.
    for (let count = 0; count < 60; count++) expect(await send()).toBe(200);
    await listening.stop();
    const exporting = startPaylink(["events", "list", "--all", "--json"], { home });
    await exporting.until(/\{"type":"event".*\n/);
    exporting.leave();
    expect(await exporting.ended).toMatchObject({ code: 0, stderr: "" });
  });
});
