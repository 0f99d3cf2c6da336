/** The plan of a list: the same for every permutation and spelling of it, wherever it is made. */
import fc from "fast-check";
import { afterEach, describe, expect, it, vi } from "vitest";
import { checkRows } from "../../src/bulk/read.ts";
import type { CheckedRow } from "../../src/bulk/read.ts";
import { grouped } from "../../src/values/groups.ts";
import { Columns } from "../../src/lists/columns.ts";
import { type Again, plan, type PlannedRow, type RowState } from "../../src/bulk/plan.ts";
import { readList } from "../../src/lists/read-list.ts";
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
  const { rows } = await checkRows({
    list,
    columns,
    context,
    now: NOW,
    only: [],
    signal,
    checked: () => undefined,
  });
  const plain = ({ row, identity, own, isValid, isChosen }: CheckedRow) => ({
    row,
    identity,
    own,
    isValid,
    isChosen,
  });
  return { list, rows: [...rows].map(plain) };
}

const OPTIONS = { again: undefined, allowDuplicates: true, isOfLinks: false } as const;
const NOTHING: ReadonlyMap<string, readonly Attempt[]> = new Map();
const byKey = (attempts: readonly Attempt[]) => grouped(attempts, ({ key }) => key);

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

/** A link that the memory has. */
const MADE = {
  source: "memory",
  state: "created",
  sentAt: 0,
  occurrence: 1,
  attempt: 1,
  id: "L1",
  url: "https://pay.example/?r=L1",
  error: null,
  status: undefined,
} as const;

/** What was sent when each of the rows with an even place was. */
function sentOf(planned: readonly PlannedRow[], rows: Awaited<ReturnType<typeof check>>["rows"]): Attempt[] {
  return planned.flatMap(({ claim }, at) => {
    const identity = rows[at]?.identity;
    if (claim === undefined || identity === undefined || at % 2 === 1) return [];
    const id = `link ${at}`;
    const url = `https://pay.example/?r=${at}`;
    return [{ ...MADE, ...identity, ...claim, id, url }];
  });
}

/** The plan without the order of the rows. */
const summary = (planned: readonly PlannedRow[], rows: readonly Pick<CheckedRow, "identity">[]) =>
  planned
    .map(({ state, claim, link }, at) => JSON.stringify([state, rows[at]?.identity?.key, claim, link?.id]))
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
          const attempts = sentOf(plan(first.rows, NOTHING, OPTIONS), first.rows);
          const expected = plan(first.rows, byKey(attempts), OPTIONS);
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
          const planned = plan(other.rows, byKey(attempts), OPTIONS);
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
        const own = byKey(back.rows.flatMap(({ own: link }) => link ?? []));
        const planned = plan(back.rows, own, OPTIONS);
        expect(planned.map(({ state }) => state)).toEqual(
          rows.map((_, at) => (at % 2 === 0 ? "sent" : "new")),
        );
      }),
      { numRuns: 100 },
    );
  });

  /** A plan of one row of EUR 2.00, of one order, and of what is known of that order. */
  async function planOne(
    known: readonly Partial<Attempt>[],
    again?: Again,
    amount = "2",
  ): Promise<PlannedRow> {
    const { rows } = await check(`invoiceId,amount,customerName\n7,${amount},Ada\n`);
    const { key = "", payment = "", content = "", orderNumber = "" } = rows[0]?.identity ?? {};
    const attempts = known.map((attempt, at): Attempt => ({
      ...MADE,
      key,
      payment,
      content,
      orderNumber,
      id: `L${at + 1}`,
      attempt: at + 1,
      sentAt: at,
      ...attempt,
      ...(attempt.source === undefined ? {} : { occurrence: 0, attempt: 0 }),
    }));
    const [row] = plan(rows, byKey(attempts), { ...OPTIONS, allowDuplicates: false, again });
    if (row === undefined) throw new Error("no row");
    return row;
  }

  const open = { status: "active" } as const;
  const paid = { status: "paid" } as const;
  const cancelled = { status: "cancelled" } as const;
  const expired = { status: "expired" } as const;
  const other = { payment: "EUR 9.00 ? ?" } as const;
  const elsewhere = { source: "service", payment: "EUR 2.00 ? ?" } as const;
  const inResults = { source: "results" } as const;

  it.each<[string, Partial<Attempt>[], RowState]>([
    ["nothing", [], "new"],
    ["an open link", [open], "sent"],
    ["a link elsewhere", [{ ...elsewhere, ...open }], "sent"],
    ["a link elsewhere over another amount", [{ ...elsewhere, ...open, ...other }], "changed"],
    ["a link elsewhere in another currency", [{ ...elsewhere, ...open, payment: "USD 2.00 ? ?" }], "changed"],
    ["a reusable link elsewhere", [{ ...elsewhere, ...open, payment: "EUR 2.00 reusable ?" }], "changed"],
    [
      "a reusable link elsewhere whose amount the customer enters",
      [{ ...elsewhere, ...open, payment: "EUR 0.00 reusable ?" }],
      "changed",
    ],
    [
      "a verification elsewhere, which asks for nothing",
      [{ ...elsewhere, ...open, payment: "EUR 0.00 ? ?" }],
      "new",
    ],
    ["a link whose end is not known", [{}], "sent"],
    ["a cancelled link", [cancelled], "ended"],
    ["a cancelled link over another amount", [{ ...cancelled, ...other }], "changed"],
    ["a cancelled link, and an open one elsewhere", [cancelled, { ...elsewhere, ...open }], "sent"],
    ["a cancelled link, and a paid one elsewhere", [cancelled, { ...elsewhere, ...paid }], "paid"],
    ["a paid link over another amount", [{ ...paid, ...other }], "paid"],
    ["a paid link, and a newer open one", [paid, open], "paid"],
    [
      "an open link over another amount, and a newer cancelled one",
      [{ ...open, ...other }, cancelled],
      "changed",
    ],
    ["a request in flight", [{ state: "in flight" }], "in_flight"],
    ["a request that may have made a link", [{ state: "unknown" }], "unknown"],
    ["a request that has made none", [{ state: "absent" }], "unknown"],
    ["a request that has made none, and an open link", [open, { state: "absent" }], "sent"],
    ["another spelling", [{ ...open, orderNumber: "007" }], "respelled"],
    ["results with the link of another order", [{ ...inResults, ...open, orderNumber: "N2" }], "misplaced"],
    ["results with a link of which nothing is known", [{ ...inResults, payment: undefined }], "sent"],
    ["results with another amount", [{ ...inResults, ...other }], "changed"],
  ])("knows what a row is, of whose order there is %s", async (_, known, state) => {
    expect((await planOne(known)).state).toBe(state);
  });

  const again: readonly Again[] = ["unknown", "ended", "expired", "changed"];

  it.each<[string, Partial<Attempt>[], (typeof again)[number][]]>([
    ["cancelled", [cancelled], ["ended"]],
    ["expired", [expired], ["ended", "expired"]],
    ["cancelled, and was expired before", [expired, cancelled], ["ended"]],
    ["not made", [{ state: "absent" }], ["unknown"]],
    ["perhaps made", [{ state: "unknown" }], []],
    ["over another amount", [{ ...open, ...other }], ["changed"]],
    ["over another amount, and ended", [{ ...expired, ...other }], ["ended", "expired", "changed"]],
    ["paid over another amount", [{ ...paid, ...other }], []],
    ["ended, and another can be paid", [expired, { ...elsewhere, ...open }], []],
    ["ended, and another is paid", [expired, { ...elsewhere, ...paid }], []],
    [
      "ended, and another over another amount can be paid",
      [expired, { ...elsewhere, ...open, ...other }],
      ["changed"],
    ],
    ["not made, and another can be paid", [{ state: "absent" }, { ...elsewhere, ...open }], []],
    ["as the list says, and another is not", [open, { ...elsewhere, ...open, ...other }], []],
  ])("sends a row once more whose link is %s", async (_, known, forms) => {
    const due = await Promise.all(
      again.map(async (form) => ((await planOne(known, form)).isDue ? [form] : [])),
    );
    expect(due.flat()).toEqual(forms);
    const all = await planOne(known, "all");
    expect([all.isDue, all.cancels]).toEqual([true, []]);
  });

  it.each<[Again, Partial<Attempt>[], readonly string[]]>([
    ["ended", [cancelled, { ...elsewhere, ...open }], []],
    ["expired", [expired, { ...elsewhere, ...paid }], []],
    ["unknown", [{ state: "absent" }, { ...elsewhere, ...open }], []],
    ["changed", [open, { ...elsewhere, ...open, ...other }], ["L2"]],
    ["changed", [{ ...paid, ...other }], []],
    ["ended", [{ ...open, ...other }], []],
  ])(
    "leaves a row that --again %s was meant for because of another link, and names what can be paid: %j",
    async (form, known, others) => {
      const row = await planOne(known, form);
      expect([row.isDue, row.isLeft, row.others.map(({ id }) => id)]).toEqual([false, true, others]);
    },
  );

  it("cancels every open link of the order that differs", async () => {
    const known = [
      { ...open, ...other },
      { ...elsewhere, ...open, payment: "EUR 7.00 ? ?" },
      { ...elsewhere, ...expired, ...other },
    ];
    expect((await planOne(known, "changed")).cancels).toEqual(["L1", "L2"]);
    expect((await planOne(known, "all")).others.map(({ id }) => id)).toEqual(["L1", "L2"]);
  });

  it("takes several links of one order in a list of links for attempts of one row", async () => {
    const { rows } = await check("invoiceId,amount,customerName\nN1,2,Ada\nN1,2,Ada\nN2,2,Ada\n");
    const made = rows.map(
      (row, at): Attempt =>
        ({
          ...MADE,
          ...row.identity,
          source: "results",
          occurrence: 0,
          attempt: 0,
          id: `L${at}`,
          sentAt: at,
          status: at === 1 ? "active" : "expired",
        }) as Attempt,
    );
    const own = rows.map((row, at) => ({ ...row, own: made[at] }));
    const states = (attempts: readonly Attempt[], form?: Again) =>
      plan(own, byKey(attempts), { again: form, allowDuplicates: false, isOfLinks: true }).map(
        ({ state, isDue }) => [state, isDue],
      );
    expect(states(made, "expired")).toEqual([
      ["ended", false],
      ["sent", false],
      ["ended", true],
    ]);
    const ended = made.map((attempt) => ({ ...attempt, status: "expired" as const }));
    expect(states(ended, "expired")).toEqual([
      ["ended", false],
      ["ended", true],
      ["ended", true],
    ]);
  });

  it("gives a link that two rows of a results file have to neither, unless the service knows whose it is", async () => {
    const { rows } = await check("invoiceId,amount,customerName\nN1,2,Ada\nN2,2,Ada\n");
    const both = (known: Partial<Attempt>) => {
      const own = rows.map((row) => ({
        ...row,
        own: { ...MADE, ...row.identity, ...inResults, occurrence: 0, ...known } as Attempt,
      }));
      return plan(own, byKey(own.map((row) => row.own)), { ...OPTIONS, again: "all" }).map(
        ({ state, isDue }) => [state, isDue],
      );
    };
    expect(both({})).toEqual([
      ["misplaced", false],
      ["misplaced", false],
    ]);
    expect(both({ ...open, orderNumber: "N1" })).toEqual([
      ["sent", true],
      ["misplaced", false],
    ]);
  });
});
