/** Lists for `paylink bulk`: a file in a home of its own, how to send it, and its results. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { temporaryHome } from "./home.ts";
import type { LinkService } from "./link-service.ts";

/** Runs a command line: in this process, or with the built program. */
type Run<End> = (
  args: readonly string[],
  options: { readonly home: string; readonly env: Readonly<Record<string, string>> },
) => Promise<End>;

export const listOfRows = (rows: number): string =>
  `invoiceId,amount,customerName,colour\n${Array.from({ length: rows }, (_, row) => `I${row},${row + 1}.50,Ada,n${row}\n`).join("")}`;

export const bulkLists =
  <End>(run: Run<End>) =>
  (text: string, { env }: Pick<LinkService, "env">, home = temporaryHome()) => {
    mkdirSync(home, { recursive: true });
    const path = join(home, "orders.csv");
    writeFileSync(path, text);
    const args = ["bulk", path, "--currency", "EUR"];
    return {
      home,
      path,
      env,
      args,
      send: (...more: string[]): Promise<End> => run([...args, ...more], { home, env }),
      results: (): string[][] =>
        readFileSync(join(home, "orders.links.csv"), "utf8")
          .trim()
          .split("\n")
          .map((line) => line.split(",")),
    };
  };

/** What the results say of each row, held against what the service made. */
export function expectExactlyOnce(
  results: string[][],
  links: ReadonlyMap<string, number>,
  rows: number,
): void {
  const [, ...records] = results;
  expect(records.map(([invoice]) => invoice)).toEqual(Array.from({ length: rows }, (_, row) => `I${row}`));
  for (const [invoice = "", , , , id, , shown] of records) {
    // Of a link that was there before, the results have the state.
    const status = shown === "active" ? "created" : shown;
    const made = links.get(invoice) ?? 0;
    expect([invoice, status, made]).toEqual([invoice, status, status === "created" ? 1 : Math.min(made, 1)]);
    expect(["created", "unknown"]).toContain(status);
    if (status === "created") expect(id).toBe(`${invoice}.1`);
  }
}
