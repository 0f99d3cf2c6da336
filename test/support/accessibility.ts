/** What axe-core finds on a page of a real browser. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

interface Axe {
  run(): Promise<{ violations: { id: string; nodes: { target: unknown }[] }[] }>;
}

/** Evaluated by the driver, which no policy of the page binds. */
export async function violationsOn(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  return page.evaluate(async () => {
    const { axe } = globalThis as unknown as { axe: Axe };
    const { violations } = await axe.run();
    return violations.map(({ id, nodes }) => `${id}: ${String(nodes[0]?.target)}`);
  });
}
