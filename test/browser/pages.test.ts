/** The dashboard in a real browser: what happens is shown as it happens, and axe-core finds nothing. */
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { violationsOn } from "../support/accessibility.ts";
import { hasBrowser, openBrowser } from "../support/browser.ts";
import { temporaryHome } from "../support/home.ts";
import { readyUrl, runPaylink, startPaylink, type Running } from "../support/paylink.ts";

const expectAccessible = async (page: Page): Promise<void> => expect(await violationsOn(page)).toEqual([]);

// Off linux-x64 no browser is packaged: PAYLINK_CHROMIUM names one there.
describe.skipIf(!hasBrowser)("in Chromium", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await openBrowser();
  });
  afterAll(() => browser.close());

  interface Shop {
    readonly dashboardUrl: string;
    readonly listen: Running;
    readonly create: (...args: string[]) => Promise<string>;
  }

  async function openShop(): Promise<Shop> {
    const home = temporaryHome();
    const sandbox = startPaylink(["sandbox", "--port", "0", "--json"], { home });
    const [, dashboardUrl = ""] = await sandbox.until(/\{"type":"dashboard","url":"([^"]+)"\}\n/);
    const listen = startPaylink(["listen", "--port", "0", "--json"], { home });
    const callback = await readyUrl(listen);
    const addresses = ["--callback-url", callback, "--failure-callback-url", callback];
    const create = async (...args: string[]): Promise<string> =>
      (await runPaylink(["create", "-q", ...addresses, ...args], { home })).stdout.trim();
    return { dashboardUrl, listen, create };
  }

  it("the dashboard shows what happens as it happens, makes a link, resends and cancels", async () => {
    const { dashboardUrl, listen, create } = await openShop();
    const page = await browser.newPage();
    await page.goto(dashboardUrl);
    const link = await create("--reusable", "--invoice-id", "LIVE-1");
    await page.getByText("LIVE-1").first().waitFor();
    await fetch(link, { method: "POST", body: new URLSearchParams({ outcome: "approved", amount: "2" }) });
    await page.getByRole("button", { name: /Resend/ }).waitFor();
    await page.getByText("1 attempt", { exact: true }).click();
    expect(await page.getByText('"content-length"').count()).toBeGreaterThan(0);
    await page.getByRole("button", { name: /Resend/ }).click();
    await listen.until(/"repeated":true/);
    await page.getByRole("button", { name: /Cancel link/ }).click();
    await page.locator(".state.cancelled").waitFor();
    await page.getByText("Create a link").click();
    await page.getByRole("button", { name: "Create link" }).click();
    await page.getByRole("status").waitFor();
    await page.getByText("Create a link").click();
    await page.getByLabel("Amount").fill("12,50");
    await page.getByRole("button", { name: "Create link" }).click();
    expect(await page.getByRole("heading", { level: 1 }).textContent()).toBe("Bad Request");
    expect(await page.getByRole("listitem").textContent()).toContain("amount must");
    await expectAccessible(page);
    await page.close();
  });
});
