/** A real Chromium for tests of pages: the one that PAYLINK_CHROMIUM names, else the packaged one of linux-x64. */
import chromium from "@sparticuz/chromium";
import { chromium as playwright, type Browser } from "playwright-core";

const named = process.env["PAYLINK_CHROMIUM"];

/** Elsewhere there is no packaged browser: the tests are then skipped, and say so. */
export const hasBrowser = named !== undefined || (process.platform === "linux" && process.arch === "x64");

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

export async function openBrowser(): Promise<Browser> {
  const executablePath = named ?? (await chromium.executablePath());
  return playwright.launch({ executablePath, headless: true, args: FLAGS });
}
