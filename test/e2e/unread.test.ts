/** Commands whose reader leaves before they are done, as in `paylink listen --json | head -1`. */
import { describe, expect, it } from "vitest";
import { temporaryHome } from "../support/home.ts";
import { readyUrl, runPaylink, startPaylink } from "../support/paylink.ts";
import { keyFile, post, record, startApp, webhook } from "../support/webhooks.ts";

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

const told = (stderr: string): string[] => stderr.match(/^! Nobody reads .*$/gm) ?? [];

describe("listen without a reader", () => {
  it("receives and keeps as before, and says so once", async () => {
    const { home, listening, send } = await listen();
    for (const status of [await send(), await send(), await send()]) expect(status).toBe(200);
    await expect.poll(() => told(listening.stderr())).toHaveLength(1);
    expect(listening.stderr()).toContain("paylink events list   shows them");
    expect(await send()).toBe(200);
    const { code, stderr } = await listening.stop();
    expect(code).toBe(130);
    expect(told(stderr)).toHaveLength(1);
    const { stdout } = await runPaylink(["events", "export"], { home });
    expect(stdout.trim().split("\n")).toHaveLength(4);
  });

  it("passes on as before", async () => {
    const app = await startApp(() => 200);
    const { listening, send } = await listen("--no-store", "--forward-to", app.url);
    await send();
    await expect
      .poll(() => told(listening.stderr()))
      .toEqual([expect.stringContaining("received as before")]);
    expect(await send()).toBe(200);
    expect(app.taken).toHaveLength(2);
    await listening.stop();
  });

  it("comes to the end that a script expects", async () => {
    const { listening, send } = await listen("--no-store", "--expect", "2");
    await send();
    await expect.poll(() => told(listening.stderr())).toHaveLength(1);
    await send();
    expect((await listening.ended).code).toBe(0);
  });

  it("takes nothing that would then be nowhere", async () => {
    const { listening, send } = await listen("--no-store");
    expect(await send()).toBe(200);
    const { code, stderr } = await listening.ended;
    expect(code).toBe(0);
    expect(told(stderr)).toEqual([expect.stringContaining("no more webhooks are received")]);
    await expect(send()).rejects.toThrow("fetch failed");
  });

  it("has nothing to say of it where it ends anyway", async () => {
    const { listening } = await listen();
    const { code, stderr } = await listening.stop("SIGTERM");
    expect(code).toBe(143);
    expect(told(stderr)).toEqual([]);
  });
});

describe("listen with a reader that is busy", () => {
  it("answers as before, and shows all of it in the end", async () => {
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

  it("fills no memory with what nobody takes: it goes on as without a reader", async () => {
    const { home, listening, send } = await start();
    const readOn = listening.pause();
    // More than two megabytes a line, in its record and in base64.
    const filler = "x".repeat(900_000);
    for (let count = 0; count < 40; count++) expect(await send({ filler })).toBe(200);
    await expect
      .poll(() => told(listening.stderr()))
      .toEqual([expect.stringContaining("received and kept as before")]);
    readOn();
    const { code, stdout } = await listening.stop();
    expect(code).toBe(130);
    const shown = stdout.match(/^\{"type":"event".*\}$/gm) ?? [];
    expect(shown.length).toBeGreaterThan(25);
    expect(shown.length).toBeLessThan(40);
    expect(stdout).toMatch(/^\{"type":"summary","received":40,/m);
    const { stdout: kept } = await runPaylink(["events", "list", "--json", "--limit", "100"], { home });
    expect(kept.match(/"uti"/g)).toHaveLength(40);
  });
});

describe("events export without a reader", () => {
  it("ends", async () => {
    const { home, listening, send } = await listen();
    // More than a pipe holds, so that the exporter is still writing when its reader leaves.
    for (let count = 0; count < 60; count++) expect(await send()).toBe(200);
    await listening.stop();
    const exporting = startPaylink(["events", "export"], { home });
    await exporting.until(/\{"type":"event".*\n/);
    exporting.leave();
    expect(await exporting.ended).toMatchObject({ code: 0, stderr: "" });
  });
});
