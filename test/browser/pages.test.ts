/** The pages in a real browser: each kind of link paid, without JavaScript, and nothing that axe-core finds. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hasBrowser, openBrowser } from "../support/browser.ts";
import { temporaryHome } from "../support/home.ts";
import { readyUrl, runPaylink, startPaylink, type Running } from "../support/paylink.ts";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

interface Axe {
  run(): Promise<{ violations: { id: string }[] }>;
}

/** Evaluated by the driver, which no policy of the page binds. */
async function expectAccessible(page: Page): Promise<void> {
  await page.evaluate(AXE);
  const found = await page.evaluate(async () => {
    const { axe } = globalThis as unknown as { axe: Axe };
    return (await axe.run()).violations.map(({ id }) => id);
  });
  expect(found).toEqual([]);
}

// Off linux-x64 no browser is packaged: PAYLINK_CHROMIUM names one there.
describe.skipIf(!hasBrowser)("in Chromium", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await openBrowser();
  });
  afterAll(() => browser.close());

  interface Shop {
    readonly url: string;
    readonly listen: Running;
    readonly create: (...args: string[]) => Promise<string>;
  }

  async function openShop(): Promise<Shop> {
    const home = temporaryHome();
    const sandbox = startPaylink(["sandbox", "--port", "0", "--json"], { home });
    const url = await readyUrl(sandbox);
    const listen = startPaylink(["listen", "--port", "0", "--json"], { home });
    const callback = await readyUrl(listen);
    const addresses = ["--callback-url", callback, "--failure-callback-url", callback];
    const create = async (...args: string[]): Promise<string> =>
      (await runPaylink(["create", "-q", ...addresses, ...args], { home })).stdout.trim();
    return { url, listen, create };
  }

  it("pays each kind of link without JavaScript, and listen verifies each record", async () => {
    const { listen, create } = await openShop();
    const context = await browser.newContext({ javaScriptEnabled: false });
    const page = await context.newPage();
    const elsewhere: string[] = [];
    page.on("request", (request) => {
      if (!request.url().startsWith("http://127.0.0.1:") && !request.url().startsWith("data:"))
        elsewhere.push(request.url());
    });

    await page.goto(await create("--amount", "10", "--currency", "EUR", "--invoice-id", "INV-1"));
    await page.getByRole("button", { name: "Pay EUR 10.00" }).click();
    expect(await page.getByRole("status").textContent()).toBe("Payment approved");
    await listen.until(/"transApproved":true.*"reference":"INV-1"/);

    const reusable = await create("--reusable", "--min-amount", "5", "--invoice-id", "GIFT");
    await page.goto(reusable);
    await page.getByLabel("Amount").fill("4");
    await page.getByRole("button", { name: "Pay", exact: true }).click();
    expect(await page.getByRole("alert").textContent()).toContain("must be at least EUR 5.00");
    expect(await page.getByLabel("Amount").inputValue()).toBe("4");
    await page.getByLabel("Amount").fill("25");
    await page.getByLabel("4000 0000 0000 0002").check();
    await page.getByRole("button", { name: "Pay", exact: true }).click();
    expect(await page.getByRole("status").textContent()).toBe("Payment declined");
    await listen.until(/"transApproved":false,.*"reference":"GIFT-/);

    await page.goto(await create("--subscription", "--invoice-id", "SUB-1"));
    await page.getByRole("button", { name: "Verify card" }).click();
    await listen.until(/"transType":"VERIFICATION".*"reference":"SUB-1"/);

    await page.goto(await create("--amount", "3", "--invoice-id", "NO-1"));
    await page.getByRole("button", { name: "Cancel payment" }).click();
    expect(await page.getByRole("status").textContent()).toBe("Payment cancelled");
    await listen.until(/"transCancelled":true.*"reference":"NO-1"/);
    expect(elsewhere).toEqual([]);
    await context.close();
  });

  it("returns the customer to the merchant, on another origin", async () => {
    const { url, listen, create } = await openShop();
    const shop = url.replace("127.0.0.1", "localhost");
    const page = await browser.newPage();
    await page.goto(
      await create(
        "--amount",
        "1",
        "--return-url",
        `${shop}style.css`,
        "--failure-return-url",
        `${shop}dashboard.js`,
      ),
    );
    await page.getByRole("button", { name: "Pay EUR 1.00" }).click();
    await page.waitForURL(`${shop}style.css`);
    expect(page.url()).toBe(`${shop}style.css`);
    await listen.until(/"transApproved":true/);
    await page.close();
  });

  it.each(["light", "dark"] as const)("is accessible, %s, on a phone", async (colorScheme) => {
    const { url, create } = await openShop();
    const context = await browser.newContext({ colorScheme, viewport: { width: 390, height: 844 } });
    const page = await context.newPage();
    const link = await create(
      "--reusable",
      "--min-amount",
      "5",
      "--reference-mode",
      "OPEN",
      "--email",
      "ada@shop.example",
    );
    await page.goto(link);
    await expectAccessible(page);
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(390);
    await page.getByLabel("Amount").fill("1");
    await page.getByRole("button", { name: "Pay", exact: true }).click();
    await expectAccessible(page);
    await page.getByLabel("Amount").fill("10");
    await page.getByRole("button", { name: "Pay", exact: true }).click();
    await page.waitForURL(/result/);
    await expectAccessible(page);
    await page.goto(`${url}pay?r=none`);
    await expectAccessible(page);
    await context.close();
  });
});
