/** The plan of a list: the same for every permutation and spelling of it, wherever it is made. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { checkRows } from "../../src/bulk/check-rows.ts";
import { Columns } from "../../src/bulk/columns.ts";
import { plan, type PlannedRow } from "../../src/bulk/plan.ts";
import { readList } from "../../src/bulk/read-list.ts";
import { ownColumns, writeResults, type Result } from "../../src/bulk/results.ts";
import type { RowContext } from "../../src/bulk/row.ts";
import { requestBuilder } from "../../src/service/request.ts";
import { resolveSettings } from "../../src/settings/resolved-settings.ts";
import type { Attempt } from "../../src/store/sent-rows.ts";

const NOW = new Date(Date.UTC(2026, 0, 31));
const SERVICE = "https://pay.example";

async function check(text: string, env: Readonly<Record<string, string>> = {}) {
  const columns = new Columns();
  const list = await readList(Buffer.from(text), columns);
  const settings = resolveSettings({ env: { PAYLINK_TERMINAL_ID: "1", ...env } });
  const context: RowContext = {
    build: requestBuilder({ flags: { currency: "EUR" }, base: undefined, settings }),
    service: SERVICE,
    currency: { of: "--currency", spelled: "EUR", currencies: ["EUR"] },
    defaults: new Set(["customerName"]),
    list,
  };
  const { signal } = new AbortController();
  const { rows } = await checkRows({ list, columns, context, now: NOW, signal, checked: () => undefined });
  return { list, rows };
}

const NOTHING = { results: new Map(), states: new Map(), without: new Set<string>() };
const OPTIONS = { again: undefined, allowDuplicates: true } as const;

interface Order {
  readonly invoiceId: string;
  readonly amount: string;
  readonly customerName: string;
  readonly description: string;
}

const NAMES = ["invoiceId", "amount", "customerName", "description"] as const;
const quote = (text: string): string => `"${text.replaceAll('"', '""')}"`;
const csvOf = (orders: readonly Order[], names: readonly (typeof NAMES)[number][] = NAMES): string =>
  [names.join(), ...orders.map((order) => names.map((name) => quote(order[name])).join())].join("\n");

const word = fc.constantFrom(
  "Zoë",
  "A-1",
  "-10%",
  "=1+1",
  "@bob",
  "+44",
  "'x",
  "'-y",
  "x y",
  "one\ntwo",
  "ﬁ",
);
const text = fc.array(word, { minLength: 1, maxLength: 3 }).map((words) => words.join(" "));
const order: fc.Arbitrary<Order> = fc.record({
  invoiceId: fc.oneof(
    fc.constant(""),
    fc.integer({ min: 1, max: 9 }).map((number) => `N ${number}`),
  ),
  amount: fc.constantFrom("1", "2.50", "10", "10.00"),
  customerName: text.map((name) => name.replaceAll("\n", " ")),
  description: fc.oneof(fc.constant(""), text),
});
const orders = fc.array(order, { minLength: 1, maxLength: 8 });
const blanks = fc.constantFrom(" ", "  ", "\u00A0", "\u200B ", "\u3000");

/** What was sent when each of the rows with an even place was. */
function sentOf(planned: readonly PlannedRow[], rows: Awaited<ReturnType<typeof check>>["rows"]): Attempt[] {
  return planned.flatMap(({ claim }, at) => {
    const identity = rows[at]?.identity;
    if (claim === undefined || identity === undefined || at % 2 === 1) return [];
    const { payment, content } = identity;
    const id = `link ${at}`;
    const url = `https://pay.example/?r=${at}`;
    const sent = { state: "created", isInFlight: false, sentAt: 0, id, url, error: null } as const;
    return [{ ...claim, payment, content, ...sent }];
  });
}

/** The plan without the order of the rows. */
const summary = (planned: readonly PlannedRow[]): string[] =>
  planned
    .map(({ state, claim, known }) => JSON.stringify([state, claim, known.map(({ id }) => id)]))
    .toSorted();

describe("the plan of a list", () => {
  it("is the same for any order of rows and columns, spelling of white space, and profile", async () => {
    await fc.assert(
      fc.asyncProperty(
        orders,
        fc.infiniteStream(fc.nat(99)),
        fc.shuffledSubarray([...NAMES], { minLength: 4 }),
        blanks,
        async (list, random, names, blank) => {
          const first = await check(csvOf(list));
          const attempts = sentOf(plan(first.rows, { attempts: [], ...NOTHING }, OPTIONS), first.rows);
          const expected = plan(first.rows, { attempts, ...NOTHING }, OPTIONS);
          const shuffled = list
            .map((one) => ({ one, at: random.next().value ?? 0 }))
            .toSorted((one, other) => one.at - other.at)
            .map(({ one }) => ({
              invoiceId: one.invoiceId && `${blank}${one.invoiceId.replace(" ", blank)}`,
              amount: ` ${one.amount}`,
              customerName: one.customerName.normalize("NFD").replaceAll(" ", blank),
              description: `${one.description.replaceAll("\n", "\r\n")}${blank}`,
            }));
          const other = await check(csvOf(shuffled, names), { PAYLINK_CALLBACK_URL: "https://x.example/" });
          expect(summary(plan(other.rows, { attempts, ...NOTHING }, OPTIONS))).toEqual(summary(expected));
        },
      ),
      { numRuns: 150 },
    );
  });

  it("is the same for the results of a list, in CSV and JSON lines, also without a memory", async () => {
    await fc.assert(
      fc.asyncProperty(orders, fc.constantFrom("csv", "json lines"), async (list, format) => {
        const { list: read, rows } = await check(csvOf(list));
        const results = rows.map(({ row, identity }, at): Result => {
          const sent = { status: "created", id: `id ${at}`, url: `https://pay.example/?r=${at}` } as const;
          const outcome = at % 2 === 0 ? sent : ({ status: "refused", error: "-no" } as const);
          return { row, outcome, terminal: identity?.terminal };
        });
        const written: Uint8Array[] = [];
        await writeResults(format, { list: read, results, service: SERVICE }, async (chunks) => {
          for await (const chunk of chunks) written.push(chunk);
        });
        const back = await check(Buffer.concat(written).toString());
        expect(ownColumns(back.list).map(({ name }) => name)).toEqual([...NAMES]);
        expect(back.rows.map(({ identity }) => identity)).toEqual(rows.map(({ identity }) => identity));
        const planned = plan(back.rows, { attempts: [], ...NOTHING }, OPTIONS);
        expect(planned.map(({ state }) => state)).toEqual(
          rows.map((_, at) => (at % 2 === 0 ? "sent" : "new")),
        );
      }),
      { numRuns: 100 },
    );
  });
});
