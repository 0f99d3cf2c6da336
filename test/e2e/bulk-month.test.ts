/** A bookkeeper's month with the real binary and the sandbox: mistakes, a correction, more invoices, a colleague, spreadsheets. */
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { runStep } from "../support/context.ts";
import { temporaryHome } from "../support/home.ts";
import { jsonLines } from "../support/json-lines.ts";
import { BINARY, runPaylink, startSandbox, type Ended } from "../support/paylink.ts";

const invoices = (first: number, last: number): string[] =>
  Array.from({ length: last - first + 1 }, (_, place) => {
    const number = first + place;
    return `2026-${String(number).padStart(3, "0")},${number}.50,Customer ${number},Invoice of November`;
  });
const HEADER = "Invoice No,Amount,Customer Name,Description";
const listOf = (rows: readonly string[]): string => `${[HEADER, ...rows].join("\n")}\n`;

/** As a spreadsheet of another country saves a file: another separator, its marks, and its line ends. */
const savedBySpreadsheet = (text: string): string =>
  `\uFEFF${text
    .trim()
    .split("\n")
    .map((line) => line.split(",").join(";"))
    .join("\r\n")}\r\n;;;;;;;;\r\n`;

it("creates one link for each invoice through a bookkeeper's month, on two machines", async () => {
  const home = temporaryHome();
  await startSandbox(home);
  const path = join(home, "november.csv");
  const results = join(home, "november.links.csv");
  const bulk = (file: string, ...more: string[]) => ({
    at: (machine: string) =>
      runStep(["bulk", file, "--map", "Invoice No=invoiceId", ...more], { home: machine }),
  });
  const send = (rows: readonly string[], ...more: string[]) => {
    writeFileSync(path, listOf(rows));
    return bulk(path, ...more).at(home);
  };
  const paste = ({ stderr }: Ended, advised: RegExp) => {
    const [, command = ""] = advised.exec(stderr) ?? [];
    const paylink = `paylink() { '${process.execPath}' '${BINARY}' "$@"; }`;
    return runPaylink([], { home, program: ["sh", "-c", `${paylink}; ${command}`] });
  };
  const links = async () => {
    const { stdout } = await runStep(["links", "list", "--json"], { home });
    return jsonLines(stdout).map((link) => Object(link) as Record<string, unknown>);
  };

  // Thirty invoices, with two mistakes: nothing is sent before they are mended.
  const november = invoices(1, 30);
  const mistakes = november.map((row) => row.replace(",7.50,", ",7.505,").replace(",9.50,", ",,"));
  const stopped = await send(mistakes);
  expect(stopped).toMatchObject({ code: 2, stderr: expect.stringContaining("2 rows of 30 cannot be sent.") });
  expect(await links()).toEqual([]);
  expect((await send(november)).stdout).toContain("30 rows: 30 created");

  // A price was wrong.
  const corrected = november.map((row) => row.replace(",3.50,", ",33.50,"));
  const changed = await send(corrected);
  expect(changed.code).toBe(2);
  expect(changed.stderr).toContain("2026-003: EUR 33.50 one-time SALE, was EUR 3.50 one-time SALE.");
  // What an error advises is pasted into the shell.
  const unconfirmed = await paste(changed, /the rows as they are now: (paylink bulk .*)/);
  expect(unconfirmed.stderr).toContain("--again changed sends 1 row once more");
  expect((await paste(unconfirmed, /To confirm it: (paylink bulk .*)/)).stdout).toContain(
    "30 rows: 1 created, 29 sent before",
  );

  // Ten more next week, below the others.
  const grown = [...corrected, ...invoices(31, 40)];
  expect((await send(grown)).stdout).toContain("40 rows: 10 created, 30 sent before");

  // A colleague has the account and the results, which a spreadsheet has opened and saved.
  const colleague = temporaryHome();
  mkdirSync(colleague, { recursive: true });
  copyFileSync(join(home, "settings.json"), join(colleague, "settings.json"));
  const theirs = join(colleague, "november.csv");
  const saved = savedBySpreadsheet(readFileSync(results, "utf8"));
  writeFileSync(theirs, saved);
  const again = await bulk(theirs).at(colleague);
  expect(again).toMatchObject({ code: 0, stdout: expect.stringContaining("40 rows: 40 sent before") });

  // There, a price is corrected in the results, a row is copied for another invoice, and a number loses its zeros.
  writeFileSync(theirs, saved.replace(";12.50;", ";120.50;"));
  const theirChange = await bulk(theirs, "-o", join(colleague, "out.csv")).at(colleague);
  expect(theirChange).toMatchObject({ code: 2, stderr: expect.stringContaining("2026-012: EUR 120.50") });
  writeFileSync(theirs, saved.replace("2026-012;", "2026-041;"));
  const copied = await bulk(theirs, "-o", join(colleague, "out.csv")).at(colleague);
  expect(copied).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("which belongs to order 2026-012"),
  });

  const made = await links();
  expect(made).toHaveLength(41);
  const open = made.filter(({ status }) => status === "active").map(({ invoiceId }) => String(invoiceId));
  expect(new Set(open)).toEqual(new Set(invoices(1, 40).map((row) => row.split(",", 1)[0])));
  expect(open).toHaveLength(40);
});
