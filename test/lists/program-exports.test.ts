/** What the exports of eight accounting programs, shops and payment services say of their rows: links to send, and what is booked. */
import { describe, expect, it } from "vitest";
import { Sums, formatAmount } from "../../src/domain/money.ts";
import { parseMapping } from "../../src/lists/columns.ts";
import { readBooks } from "../../src/reconcile/books.ts";
import { runCommand } from "../support/context.ts";
import { jsonLines } from "../support/json-lines.ts";
import { temporaryHome } from "../support/home.ts";
import { PROGRAM_EXPORTS } from "./program-exports.ts";

const ENV = {
  PAYLINK_BASE_URL: "http://127.0.0.1:9",
  PAYLINK_TOKEN: "t",
  PAYLINK_TERMINAL_ID: "1",
};

/** The value of each flag that is spelled `--flag=value`. */
const valuesOf = (flags: readonly string[], name: string): string[] =>
  flags.flatMap((flag) => (flag.startsWith(`--${name}=`) ? [flag.slice(name.length + 3)] : []));

/** As `reconcile` reads them, with the flags of its command line. */
async function booksOf(text: string, flags: readonly string[]) {
  const map = valuesOf(flags, "map").map((typed) => {
    const parsed = parseMapping(typed);
    if (!parsed.ok) throw new Error(parsed.message);
    return parsed.value;
  });
  const [headerLine] = valuesOf(flags, "header-line").map(Number);
  const [currency] = valuesOf(flags, "currency");
  const decimalComma = flags.includes("--decimal-comma");
  const { signal } = new AbortController();
  return readBooks(Buffer.from(text), { map, headerLine, currency, decimalComma, signal });
}

/** The lists that links are made of. */
const TO_SEND = PROGRAM_EXPORTS.flatMap((one) => (one.due === undefined ? [] : [{ ...one, due: one.due }]));

describe("an export of invoices or orders", () => {
  it.each(TO_SEND)(
    "of $program is not sent before its paid rows are left out, and then with the right sum",
    async ({ text, toSend, due }) => {
      const send = (flags: readonly string[]) =>
        runCommand(["bulk", "-", "--dry-run", "--look-back", "0", "--json", ...flags], {
          home: temporaryHome(),
          stdin: text,
          env: ENV,
        });
      const withPaid = await send(toSend.filter((flag) => !flag.startsWith("--only")));
      expect(withPaid.exit).toBe(2);
      expect(withPaid.stderr).toContain("says what became of");
      const chosen = await send(toSend);
      expect(chosen).toMatchObject({ exit: 0 });
      expect(jsonLines(chosen.stdout)).toMatchObject([{ links: due.links, sums: due.sums }]);
    },
  );
});

describe("an export as books", () => {
  it.each(PROGRAM_EXPORTS)("of $program says what was paid", async ({ text, toCompare, paid }) => {
    const { lines } = await booksOf(text, toCompare);
    const sums = new Map<string, Sums>();
    for (const { orderNumber, amount, currency = "" } of lines) {
      const sum = sums.get(orderNumber) ?? new Sums();
      sum.add(amount, currency);
      sums.set(orderNumber, sum);
    }
    const found = [...sums].map(([number, sum]) => [
      number,
      sum
        .list()
        .map(({ amount, currency }) => formatAmount(amount, currency))
        .join(", "),
    ]);
    expect(Object.fromEntries(found)).toEqual(paid);
  });
});
