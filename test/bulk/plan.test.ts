/** The plan of a list: the same for every permutation and spelling of it, wherever it is made. */
import fc from "fast-check";
import { afterEach, describe, expect, it, vi } from "vitest";
import { checkRows } from "../../src/bulk/check-rows.ts";
import type { CheckedRow } from "../../src/bulk/check-rows.ts";
import { Columns } from "../../src/lists/columns.ts";
import {
  plan,
  type PlannedRow,
  type ResultLink,
  type RowState,
  type KnownLink,
} from "../../src/bulk/plan.ts";
import { readList } from "../../src/lists/read-list.ts";
import { ownColumns, writeResults, type Result } from "../../src/bulk/results.ts";
import type { RowContext } from "../../src/bulk/row.ts";
import { requestBuilder } from "../../src/service/request.ts";
import { resolveSettings } from "../../src/settings/resolved-settings.ts";
import type { SentAttempt } from "../../src/store/sent-rows.ts";

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
  const plain = ({ row, key, identity, own, isValid }: CheckedRow) => ({ row, key, identity, own, isValid });
  return { list, rows: [...rows].map(plain) };
}

const NOTHING = { results: new Map(), links: new Map(), without: new Set<string>() };
const OPTIONS = { again: undefined, allowDuplicates: true } as const;

interface Order {
  readonly invoiceId: string;
  readonly amount: string;
  readonly customerName: string;
  readonly description: string;
  readonly expirationDate: string;
}

const NAMES = ["invoiceId", "amount", "customerName", "description", "expirationDate"] as const;
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
  expirationDate: fc.constantFrom("", "2026-12-30", "2026-12-30T23:30:00Z"),
});
const orders = fc.array(order, { minLength: 1, maxLength: 8 });
const blanks = fc.constantFrom(" ", "  ", "\u00A0", "\u200B ", "\u3000");

/** What was sent when each of the rows with an even place was. */
function sentOf(
  planned: readonly PlannedRow[],
  rows: Awaited<ReturnType<typeof check>>["rows"],
): SentAttempt[] {
  return planned.flatMap(({ claim }, at) => {
    const identity = rows[at]?.identity;
    if (claim === undefined || identity === undefined || at % 2 === 1) return [];
    const { key, payment, content } = identity;
    const id = `link ${at}`;
    const url = `https://pay.example/?r=${at}`;
    const sent = { state: "created", isInFlight: false, sentAt: 0, id, url, error: null } as const;
    return [{ key, ...claim, payment, content, ...sent }];
  });
}

/** The plan without the order of the rows. */
const summary = (planned: readonly PlannedRow[], rows: readonly { readonly key: string | undefined }[]) =>
  planned
    .map(({ state, claim, known }, at) =>
      JSON.stringify([state, rows[at]?.key, claim, known.map(({ id }) => id)]),
    )
    .toSorted();

describe("the plan of a list", () => {
  afterEach(() => void vi.unstubAllEnvs());

  it("does not depend on the order of rows and columns, white space, profile, or time zone", async () => {
    await fc.assert(
      fc.asyncProperty(
        orders,
        fc.infiniteStream(fc.nat(99)),
        fc.shuffledSubarray([...NAMES], { minLength: NAMES.length }),
        blanks,
        fc.constantFrom("America/New_York", "Pacific/Kiritimati", "UTC"),
        async (list, random, names, blank, zone) => {
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
              expirationDate: one.expirationDate,
              description: `${one.description.replaceAll("\n", "\r\n")}${blank}`,
            }));
          vi.stubEnv("TZ", zone);
          const other = await check(csvOf(shuffled, names), { PAYLINK_CALLBACK_URL: "https://x.example/" });
          vi.unstubAllEnvs();
          const planned = plan(other.rows, { attempts, ...NOTHING }, OPTIONS);
          expect(summary(planned, other.rows)).toEqual(summary(expected, first.rows));
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

  const own = { state: "created", id: "L1", url: "https://pay.example/?r=L1", error: null } as const;
  const cells = { ...own, payment: "EUR 2.00 one-time SALE" };
  const link = { status: "active", payment: "EUR 2.00 ? ?", orderNumber: "N1" } as const;
  it.each<[string, RowState, Parameters<typeof planOne>[0]]>([
    ["the same amount", "sent", { amount: "2", link }],
    ["another amount", "changed", { amount: "20", link }],
    ["another currency", "changed", { amount: "2", link: { ...link, payment: "USD 2.00 ? ?" } }],
    ["another kind", "changed", { amount: "2", link: { ...link, payment: "EUR 2.00 reusable ?" } }],
    ["another amount, paid", "changed", { amount: "20", link: { ...link, status: "paid" } }],
    ["another amount than the cells of the results", "changed", { amount: "20", results: cells }],
    ["the amount of those cells", "sent", { amount: "2", results: cells }],
    [
      "cells that were edited",
      "changed",
      { amount: "20", results: { ...cells, payment: "EUR 20.00 one-time SALE" }, link },
    ],
    ["another order number", "misplaced", { amount: "2", link: { ...link, orderNumber: "N2" } }],
    ["no order number at the service", "sent", { amount: "2", link: { ...link, orderNumber: "" } }],
    ["no amount at the service", "sent", { amount: "20", link: { ...link, payment: undefined } }],
    ["no service", "sent", { amount: "20" }],
  ])("compares a row with the link that results name: %s", async (_, state, input) => {
    const [row] = await planOne(input);
    const isKnown = input.link?.payment !== undefined || input.results !== undefined;
    expect(row).toMatchObject({ state, isDue: false, isUncompared: !isKnown });
  });

  interface One {
    readonly amount: string;
    readonly link?: KnownLink;
    readonly results?: ResultLink;
  }

  async function planOne({ amount, link: atService, results }: One): Promise<PlannedRow[]> {
    const { rows } = await check(`invoiceId,amount,customerName\nN1,${amount},Ada\n`);
    const key = rows[0]?.identity?.key ?? "";
    return plan(
      rows.map((row) => ({
        ...row,
        own: results === undefined ? { ...own, payment: undefined } : undefined,
      })),
      {
        ...NOTHING,
        attempts: [],
        results: new Map(results === undefined ? [] : [[key, [results]]]),
        links: new Map(atService === undefined ? [] : [["L1", atService]]),
      },
      OPTIONS,
    );
  }

  it.each<[string, Partial<SentAttempt>, Partial<ResultLink>, RowState]>([
    ["takes the link", { state: "claimed" }, {}, "sent"],
    ["takes the link", { state: "unknown", error: "reset" }, {}, "sent"],
    ["compares the link", { state: "claimed", payment: "EUR 9.00 one-time SALE" }, {}, "changed"],
    [
      "does not take the unknown link",
      { state: "claimed" },
      { state: "unknown", id: null, url: null },
      "unknown",
    ],
    ["waits in spite of the link", { state: "claimed", isInFlight: true }, {}, "in_flight"],
  ])(
    "settles an attempt with an unknown end as %s from results: %j, %j",
    async (_, attempt, result, state) => {
      const { rows } = await check("invoiceId,amount,customerName\nN1,2,Ada\nN2,2,Ada\n");
      const { key = "", payment = "", content = "" } = rows[0]?.identity ?? {};
      const claimed: SentAttempt = {
        key,
        occurrence: 1,
        attempt: 1,
        state: "claimed",
        isInFlight: false,
        sentAt: 0,
        payment,
        content,
        id: null,
        url: null,
        error: null,
        ...attempt,
      };
      const results = new Map([[key, [{ ...own, payment, ...result }]]]);
      for (const again of [undefined, "unknown", "ended"] as const) {
        const input = { ...NOTHING, attempts: [claimed], results };
        const [first, second] = plan(rows, input, { ...OPTIONS, again });
        expect(first).toMatchObject({ state, isDue: false, claim: { occurrence: 1, attempt: 2 } });
        expect(second).toMatchObject({ state: "new", isDue: true });
      }
    },
  );

  it("gives a link that two rows of a results file have to neither, unless the service knows whose it is", async () => {
    const { rows } = await check("invoiceId,amount,customerName\nN1,2,Ada\nN2,2,Ada\n");
    const both = rows.map((row) => ({ ...row, own: { ...own, payment: undefined } }));
    const states = (links: ReadonlyMap<string, KnownLink>) =>
      plan(both, { ...NOTHING, attempts: [], links }, { ...OPTIONS, again: "all" }).map(
        ({ state, isDue }) => [state, isDue],
      );
    expect(states(new Map())).toEqual([
      ["misplaced", false],
      ["misplaced", false],
    ]);
    expect(states(new Map([["L1", link]]))).toEqual([
      ["sent", true],
      ["misplaced", false],
    ]);
  });
});
