/** The inspector in a real browser: webhooks that arrive by themselves, failures and their retry, and what axe-core finds. */
import { createServer } from "node:http";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { violationsOn } from "../support/accessibility.ts";
import { hasBrowser, useBrowser } from "../support/browser.ts";
import { temporaryHome } from "../support/home.ts";
import { runPaylink, startPaylink, type Running } from "../support/paylink.ts";
import { listenOnFreePort } from "../support/ports.ts";
import { usePostgres } from "../support/postgres.ts";

interface Setting {
  readonly home: string;
  /** Of the first receiver. */
  readonly listen: string;
  readonly receivers: readonly Running[];
  /** The printed address, with its key. */
  readonly inspect: string;
  /** What it answers; undefined for nothing. */
  readonly application: { status: number | undefined };
  /** Starts one more receiver on the same store. */
  readonly receive: () => Promise<string>;
  readonly trigger: (...flags: readonly string[]) => Promise<void>;
}

/** Receivers that forward to one application, and the inspector, on one store. */
async function openSetting({
  db,
  receivers = 1,
}: { db?: string; receivers?: number } = {}): Promise<Setting> {
  const home = temporaryHome();
  const store = ["--db", db ?? join(home, "events.db")];
  const application: Setting["application"] = { status: 200 };
  const server = createServer((_, reply) => {
    if (application.status !== undefined) reply.writeHead(application.status).end("nope");
  });
  const port = await listenOnFreePort(server);
  await startPaylink(["sandbox", "--port", "0", "--json"], { home }).until(/"dashboard"/);
  const forwarding = ["--ack", "stored", "--forward-to", String(port), "--retry", "1s,1h"];
  const times = ["--forward-timeout", "2s"];
  const started: Running[] = [];
  const receive = async (): Promise<string> => {
    const flags = ["--port", "0", "--json", ...store, ...forwarding, ...times];
    const running = startPaylink(["listen", "-p", "sandbox", ...flags], { home });
    started.push(running);
    const [, url = ""] = await running.until(/"type":"ready","url":"([^"]+)"/);
    return url;
  };
  const [listen = ""] = await Promise.all(Array.from({ length: receivers }, receive));
  const inspect = startPaylink(["inspect", "-p", "sandbox", "--port", "0", "--json", ...store], { home });
  const [, address = ""] = await inspect.until(/"type":"ready","url":"([^"]+)"/);
  const trigger = async (...flags: readonly string[]): Promise<void> => {
    const to = flags.includes("--to") ? [] : ["--to", listen];
    await runPaylink(["trigger", "-p", "sandbox", "approved", ...to, ...flags], { home });
  };
  return { home, listen, receivers: started, inspect: address, application, receive, trigger };
}

/** The second attempt has been made: the third one is an hour away. */
const RETRIED_BY_ITSELF = /Your application refused it: 500 nope\. Attempt 3 in/;

const SILENCE = "did not answer within 2.0 s";

describe.skipIf(!hasBrowser)("the inspector in Chromium", () => {
  const openPage = useBrowser();
  const live = (page: Page) => page.getByText("Connected", { exact: true }).waitFor();

  it("shows the first webhook within three seconds, and with one click why it was accepted, or what differed", async () => {
    const { inspect, trigger } = await openSetting();
    const page = await openPage();
    await page.goto(inspect);
    expect(page.url()).not.toContain("key");
    await page.getByText("Waiting for the first webhook").waitFor();
    await live(page);
    await trigger("--reference", "FIRST");
    await page.getByRole("link", { name: "FIRST" }).waitFor({ timeout: 3_000 });
    await page.getByRole("link", { name: "FIRST" }).click();
    await page.getByText("Your application accepted it: 200").waitFor();
    await page.getByText("✓ Signature").first().waitFor();
    await page.goto(new URL("/", inspect).href);
    await trigger("--tamper", "body");
    await page.getByRole("link", { name: "content_digest_mismatch" }).waitFor({ timeout: 3_000 });
    await page.getByRole("link", { name: "content_digest_mismatch" }).click();
    await page.getByText("Rejected with 401: the body is not the one that was signed.").waitFor();
    await page.getByText("✗ Digest").first().waitFor();
    await page.getByText("the field has sha-256=").first().waitFor();
  });

  it("leads an operator by keyboard from what failed to its retry", async () => {
    const { inspect, trigger, application } = await openSetting();
    application.status = 500;
    const page = await openPage();
    await page.goto(new URL(`/queue${new URL(inspect).search}`, inspect).href);
    await page.getByText("Nothing waits, nothing has failed.").waitFor();
    await live(page);
    await trigger("--reference", "LOST");
    await page.getByText(/localhost:\d+ answers 500: 1 waits/).waitFor();
    expect(await page.title()).toContain("Queue – paylink inspect");
    await page.getByRole("link", { name: "LOST" }).press("Enter");
    await page.getByText(RETRIED_BY_ITSELF).waitFor();
    application.status = 200;
    await page.getByRole("button", { name: "Retry" }).press("Enter");
    await page.getByText("It is due now").waitFor();
    await page.getByText("Your application accepted it: 200").waitFor();
    await page.locator("#title-state .badge.forwarded").waitFor();
    expect(await page.locator("#attempts").textContent()).toContain("Retry by");
  });

  it("skips after a question, without JavaScript, and retry undoes it", async () => {
    const { inspect, trigger, application } = await openSetting();
    application.status = 500;
    await trigger("--reference", "PARKED", "--amount", "12");
    const page = await openPage({ javaScriptEnabled: false });
    await page.goto(inspect);
    await page.getByRole("link", { name: "PARKED" }).click();
    await page.getByRole("button", { name: "Skip…" }).click();
    await page.getByText("approved EUR 12.00 PARKED").waitFor();
    await page.getByRole("button", { name: "Skip", exact: true }).click();
    await page.getByText("It is never forwarded. Retry undoes this.").waitFor();
    await page.getByText(/Skipped .* ago: it is never forwarded/).waitFor();
    application.status = 200;
    await page.getByRole("button", { name: "Retry" }).click();
    await page.getByText("It is due now").waitFor();
    expect(new URL(page.url()).searchParams.get("done")).toBe("retry");
  });

  /** Receivers are killed while they wait for an application that hangs; another one takes over. Resolves with what is said of it. */
  async function followKilled(page: Page, setting: Setting): Promise<string | null> {
    const { inspect, trigger, receivers, application, receive } = setting;
    application.status = undefined;
    await page.goto(inspect);
    await live(page);
    await trigger("--reference", "KILLED");
    await page.getByRole("link", { name: "KILLED" }).press("Enter");
    await page.getByText("It is being forwarded at this moment.").waitFor();
    for (const { pid } of receivers) process.kill(pid, "SIGKILL");
    application.status = 200;
    const listen = await receive();
    // The lease of what the dead one has claimed ends by itself.
    await page.getByText("Your application accepted it: 200").waitFor({ timeout: 40_000 });
    application.status = undefined;
    await trigger("--reference", "HUNG", "--to", listen);
    await page.goto(new URL("/queue", inspect).href);
    await page.getByText(/localhost:\d+ does not answer: 1 waits/).waitFor();
    await page.getByRole("link", { name: "HUNG" }).press("Enter");
    await page.getByText(/Your application did not answer\. Attempt 3 in/).waitFor();
    return page.locator("#summary").textContent();
  }

  it("shows an application that hangs, and what a killed receiver leaves, in a file", async () => {
    const setting = await openSetting();
    expect(await followKilled(await openPage(), setting)).toContain(SILENCE);
  });

  describe("on PostgreSQL, with two receivers", () => {
    const server = usePostgres();

    it("shows what both receive, and what a stopped one leaves", async () => {
      const { inspect, trigger, receivers, application } = await openSetting({
        db: await server().createDatabase(),
        receivers: 2,
      });
      application.status = 500;
      const page = await openPage();
      await page.goto(inspect);
      await live(page);
      await trigger("--reference", "PG-1");
      await page.getByRole("link", { name: "PG-1" }).waitFor({ timeout: 3_000 });
      await receivers[0]?.stop();
      await page.getByRole("link", { name: "PG-1" }).click();
      await page.getByText(RETRIED_BY_ITSELF).waitFor();
      application.status = 200;
      await page.getByRole("button", { name: "Retry" }).click();
      await page.getByText("Your application accepted it: 200").waitFor({ timeout: 20_000 });
      expect(await page.locator("#attempts").textContent()).toContain("Retry by");
    });

    it("shows an application that hangs, and what killed receivers leave", async () => {
      const setting = await openSetting({ db: await server().createDatabase(), receivers: 2 });
      expect(await followKilled(await openPage(), setting)).toContain(SILENCE);
    });
  });

  it.each([
    { colorScheme: "light", width: 360 },
    { colorScheme: "dark", width: 360 },
    { colorScheme: "dark", width: 1280 },
    { colorScheme: "light", width: 1920, forcedColors: "active" },
  ] as const)("is accessible and fits in every state: %j", async ({ width, colorScheme, ...other }) => {
    const { inspect, trigger, application } = await openSetting();
    const forcedColors = "forcedColors" in other ? other.forcedColors : "none";
    const page = await openPage({ colorScheme, forcedColors, viewport: { width, height: 800 } });
    const check = async (): Promise<void> => {
      expect(await violationsOn(page)).toEqual([]);
      expect(await page.evaluate(`document.documentElement.scrollWidth <= ${width}`)).toBe(true);
    };
    await page.goto(inspect);
    await check();
    await trigger("--reference", "W".repeat(300));
    application.status = 500;
    await trigger("--reference", "FAILS");
    await trigger("--tamper", "body");
    for (const path of ["/", "/?state=failed", "/queue", "/?text=none", "/events/none"]) {
      await page.goto(new URL(path, inspect).href);
      await check();
    }
    await page.goto(new URL("/", inspect).href);
    for (const name of ["FAILS", "content_digest_mismatch"]) {
      await page.getByRole("link", { name }).click();
      await page.locator("#signature").waitFor();
      await page.evaluate("for (const folded of document.querySelectorAll('details')) folded.open = true");
      await check();
      if (name === "FAILS") {
        await page.getByRole("button", { name: "Skip…" }).click();
        expect(await violationsOn(page)).toEqual([]);
        await page.keyboard.press("Escape");
      }
      await page.goto(new URL("/", inspect).href);
    }
  });
});
