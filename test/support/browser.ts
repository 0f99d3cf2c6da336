/** A real Chromium for tests of pages: the one that PAYLINK_CHROMIUM names. */
import { chromium as playwright, type Browser, type BrowserContextOptions, type Page } from "playwright-core";
import { afterAll, beforeAll, expect, onTestFinished } from "vitest";

const executablePath = process.env["PAYLINK_CHROMIUM"];

/** Without one the tests are skipped, and say so. */
export const hasBrowser = executablePath !== undefined;

/** No request leaves the machine, not even the browser's own. */
const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** One browser for the tests of a `describe`. What it returns opens a page, whose errors fail the test, but for those that it expects. */
export function useBrowser(): (options?: BrowserContextOptions, expected?: RegExp) => Promise<Page> {
  let browser: Browser;
  beforeAll(async () => {
    browser = await playwright.launch({ executablePath: executablePath ?? "", headless: true, args: FLAGS });
  });
  afterAll(() => browser.close());
  return async (options = {}, expected) => {
    const context = await browser.newContext(options);
    const page = await context.newPage();
    const errors: string[] = [];
    page.on("pageerror", (error) => errors.push(error.message));
    page.on("console", (message) => {
      const text = message.text();
      if (/Content.Security.Policy/i.test(text) && expected?.test(text) !== true) errors.push(text);
    });
    onTestFinished(async () => {
      await context.close();
      expect(errors).toEqual([]);
    });
    return page;
  };
}
