/** The comparison of the three sides: random links, payments and books with known differences, and the edges of each rule. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatAmount, type Sum } from "../../src/domain/money.ts";
import { type Circumstances, type Finding, findingsOf } from "../../src/reconcile/findings.ts";
import { Orders } from "../../src/reconcile/orders.ts";
import type { BookedLine, ComparedLink, ReceivedPayment, RefusedWebhook } from "../../src/reconcile/sides.ts";
import { acceptanceOf } from "../../src/reconcile/timeline.ts";
import { compareOrders, isDifferent } from "../../src/reconcile/summary.ts";

const SINCE = Date.parse("2026-11-01T00:00:00Z");
const PAID = SINCE + 3_600_000;

const eur = (amount: string): Sum => ({ amount, currency: "EUR" });

let number = 0;
const link = (orderNumber: string, amount: string, more: Partial<ComparedLink> = {}): ComparedLink => ({
  id: `link${++number}`,
  orderNumber,
  money: eur(amount),
  paidAt: PAID,
  paidAfter: undefined,
  end: more.isReusable === true ? undefined : "paid",
  isReusable: false,
  isCompared: more.isReusable !== true,
  ...more,
});
const payment = (
  reference: string,
  amount: string,
  more: Partial<ReceivedPayment> = {},
): ReceivedPayment => ({
  event: `event${++number}`,
  uti: `uti${number}`,
  outcome: "APPROVED",
  kind: Number(more.money?.amount ?? amount) === 0 ? "verifies" : "takes",
  reference,
  money: eur(amount),
  receivedAt: PAID,
  delivery: "delivered",
  ...more,
});
const line = (orderNumber: string, amount: string, currency: string | undefined = "EUR"): BookedLine => ({
  line: ++number,
  orderNumber,
  amount,
  currency,
});

interface Sides {
  readonly links?: readonly ComparedLink[];
  readonly payments?: readonly ReceivedPayment[];
  readonly booked?: readonly BookedLine[];
  readonly refused?: ReadonlyMap<string, RefusedWebhook>;
  readonly storedSince?: number;
}

const circumstances = ({ booked, refused = new Map(), storedSince = SINCE }: Sides): Circumstances => ({
  hasBooks: booked !== undefined,
  isReceivingElsewhere: false,
  since: SINCE,
  storedSince,
  refusalsDroppedUntil: Number.NEGATIVE_INFINITY,
  refused,
});

function ordersOf({ links = [], payments = [], booked = [] }: Sides): Orders {
  const orders = new Orders();
  for (const one of booked) orders.addBooked(one);
  for (const one of links) orders.addLink(one);
  for (const one of payments) orders.addPayment(one);
  return orders;
}

const compared = (sides: Sides): Finding[] =>
  [...ordersOf(sides).settled()].flatMap((order) => [...findingsOf(order, circumstances(sides))]);

/** Each finding in one line. */
const words = (sides: Sides): string[] =>
  compared(sides).map(
    ({ finding, orderNumber, money }) =>
      `${finding} ${orderNumber ?? "–"} ${money === null ? "–" : formatAmount(money.amount, money.currency)}`,
  );

/** What happens to an order on its way, and what is then found of it. */
const FATES = {
  agrees: () => [],
  missed: (name: string, amount: string) => [`missed ${name} EUR ${amount}`],
  refused: (name: string, amount: string) => [`refused ${name} EUR ${amount}`],
  undelivered: (name: string, amount: string) => [`undelivered ${name} EUR ${amount}`],
  "paid twice": (name: string, amount: string) => [`twice ${name} EUR ${amount}`],
  "in parts": () => [],
  "not booked": (name: string, amount: string) => [`not booked ${name} EUR ${amount}`],
  "booked only": (name: string, amount: string) => [`booked only ${name} EUR ${amount}`],
  "booked twice": (name: string, amount: string) => [`twice ${name} EUR ${amount}`],
  "booked as another amount": (name: string, amount: string) => [`differs ${name} EUR ${amount}`],
  "paid another amount": (name: string, amount: string) => [`differs ${name} EUR ${amount}`],
  "without a link": (name: string, amount: string) => [`unmatched ${name} EUR ${amount}`],
} as const satisfies Record<string, (name: string, amount: string) => readonly string[]>;
type Fate = keyof typeof FATES;

/** 1 to 99,999.99 in cents. */
const decimal = (cents: number): string =>
  `${Math.trunc(cents / 100)}.${String(cents % 100).padStart(2, "0")}`;

const fates = fc.uniqueArray(
  fc.record({
    // Spaces, and hyphens in front of nine characters, as a reusable link would have.
    name: fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9 #/-]{0,18}[A-Za-z0-9]$/),
    cents: fc.integer({ min: 2, max: 9_999_999 }),
    fate: fc.constantFrom(...(Object.keys(FATES) as Fate[])),
  }),
  { selector: ({ name }) => name.replace(/\s+/g, " "), maxLength: 30 },
);

/** The three sides as they are after all fates, in any order. */
function sidesOf(
  all: readonly { name: string; cents: number; fate: Fate }[],
): Required<Omit<Sides, "storedSince">> {
  const [links, payments, booked]: [ComparedLink[], ReceivedPayment[], BookedLine[]] = [[], [], []];
  const refused = new Map<string, RefusedWebhook>();
  for (const { name, cents, fate } of all) {
    const amount = decimal(cents);
    const half = Math.trunc(cents / 2);
    const isBookedAlone = fate === "booked only";
    if (!isBookedAlone && fate !== "without a link") links.push(link(name, amount));
    if (fate === "refused")
      refused.set(name.replace(/\s+/g, " "), { id: "r", code: "signature_invalid", receivedAt: PAID });
    if (fate === "in parts")
      payments.push(
        payment(name, decimal(half), { outcome: "PARTIALLY_APPROVED" }),
        payment(name, decimal(cents - half)),
      );
    else if (fate === "paid another amount") payments.push(payment(name, decimal(cents + 1)));
    else if (!["missed", "refused", "booked only"].includes(fate))
      payments.push(payment(name, amount, { delivery: fate === "undelivered" ? "failed" : "delivered" }));
    if (fate === "paid twice") payments.push(payment(name, amount));
    if (fate === "booked as another amount") booked.push(line(name, decimal(cents + 1)));
    // A refund that was taken back, and the spelling of a spreadsheet.
    else if (fate !== "not booked")
      booked.push(line(` ${name}`, `${amount}0`), line(name, "-1"), line(name, "1.000"));
    if (fate === "booked twice") booked.splice(-3, 3, line(name, amount), line(`${name} `, amount));
  }
  return { links, payments, booked, refused };
}

describe("random orders", () => {
  it("names each difference, and nothing else", () => {
    fc.assert(
      fc.property(fates, fc.infiniteStream(fc.double({ min: 0, max: 1, noNaN: true })), (all, random) => {
        const sides = sidesOf(all);
        const shuffled = <T>(some: readonly T[]): T[] =>
          some
            .map((one) => [random.next().value ?? 0, one] as const)
            .toSorted(([one], [other]) => one - other)
            .map(([, one]) => one);
        const found = words({
          links: shuffled(sides.links),
          payments: shuffled(sides.payments),
          booked: shuffled(sides.booked),
          refused: sides.refused,
        });
        const expected = all.flatMap(({ name, cents, fate }) => FATES[fate](name, decimal(cents)));
        expect(found.map((text) => text.replace(/\s+/g, " ")).toSorted()).toEqual(
          expected.map((text) => text.replace(/\s+/g, " ")).toSorted(),
        );
      }),
      { numRuns: 300 },
    );
  });

  it("counts every paid link once, and adds up exactly", async () => {
    await fc.assert(
      fc.asyncProperty(fates, async (all) => {
        const sides = sidesOf(all);
        const { paid, agree, findings } = await compareOrders(
          ordersOf(sides),
          circumstances(sides),
          () => undefined,
        );
        const cents = (some: typeof all): bigint => some.reduce((sum, one) => sum + BigInt(one.cents), 0n);
        const linked = all.filter(({ fate }) => fate !== "booked only" && fate !== "without a link");
        const agreed = linked.filter(({ fate }) => FATES[fate]("", "").length === 0);
        expect(paid.count).toBe(linked.length);
        expect(paid.sums).toEqual(linked.length === 0 ? [] : [eur(decimal(Number(cents(linked))))]);
        expect(agree.count).toBe(agreed.length);
        expect(isDifferent({ findings })).toBe(
          all.some(({ fate }) => FATES[fate]("", "").length > 0 && fate !== "without a link"),
        );
      }),
      { numRuns: 100 },
    );
  });
});

describe("one order", () => {
  it("agrees however number and amount are spelled", () => {
    const links = [link("Caf\u00e9  1", "10")];
    const payments = [payment("Cafe\u0301\u00a01", "10.00")];
    expect(
      words({ links, payments, booked: [line("\u200bCaf\u00e9 1 ", "1e1".replace("1e1", "10.000"))] }),
    ).toEqual([]);
  });

  it("uses the currency of the payment for books without currencies", () => {
    const [links, payments] = [[link("A", "10")], [payment("A", "10")]];
    expect(words({ links, payments, booked: [line("A", "10", undefined)] })).toEqual([]);
    expect(words({ links, payments, booked: [line("A", "10", "GBP")] })).toEqual(["differs A EUR 10.00"]);
  });

  it("differs if link and webhook are in two currencies", () => {
    const payments = [payment("A", "10", { money: { amount: "10", currency: "GBP" } })];
    expect(words({ links: [link("A", "10")], payments })).toEqual(["differs A EUR 10.00"]);
  });

  it("differs if the amount of a webhook is not known, or its outcome is unclear", () => {
    const links = [link("A", "10")];
    expect(words({ links, payments: [payment("A", "10", { money: undefined })] })).toEqual([
      "differs A EUR 10.00",
    ]);
    const unclear = payment("A", "10", { outcome: "UNCLEAR", money: undefined });
    expect(words({ links, payments: [unclear] })).toEqual(["differs A EUR 10.00"]);
  });

  it("misses a payment of which only declined attempts arrived", () => {
    const declined = payment("A", "10", { outcome: "DECLINED", money: undefined });
    expect(compared({ links: [link("A", "10")], payments: [declined] })).toMatchObject([
      { finding: "missed", why: "only others", other: "DECLINED" },
    ]);
    expect(words({ links: [link("A", "10")], payments: [declined, payment("A", "10")] })).toEqual([]);
  });

  it("need not be booked where a later webhook has taken the payment back", () => {
    const links = [link("A", "10")];
    const payments = [
      payment("A", "10", { uti: "same" }),
      payment("A", "10", { uti: "same", outcome: "CANCELLED" }),
    ];
    expect(words({ links, payments, booked: [] })).toEqual(["missed A EUR 10.00"]);
    expect(compared({ links, payments, booked: [line("A", "10")] })).toMatchObject([
      { finding: "missed", why: "only others", other: "CANCELLED" },
      { finding: "differs", why: "books", expected: [{ amount: "0" }], found: [eur("10.00")] },
    ]);
  });

  it("differs where its link is open and a payment in another currency arrived, and is a part where too little did", () => {
    const links = [link("A", "10", { end: undefined, isCompared: false, paidAt: undefined })];
    const dollars = payment("A", "10", { money: { amount: "10", currency: "USD" } });
    expect(compared({ links, payments: [dollars] })).toMatchObject([
      { finding: "differs", why: "webhook", expected: [eur("10.00")], found: [{ currency: "USD" }] },
    ]);
    expect(compared({ links, payments: [payment("A", "8")] })).toMatchObject([
      { finding: "unmatched", why: "part", money: eur("8") },
    ]);
  });

  it("counts several events of one payment once, as delivered if one of them is", () => {
    const once = payment("A", "10", { uti: "same" });
    const again = payment("A", "10.0", { uti: "same", delivery: "pending", receivedAt: PAID + 1 });
    expect(words({ links: [link("A", "10")], payments: [once, again] })).toEqual([]);
  });

  it("is paid twice by two payments, also if they spell its number otherwise", () => {
    const payments = [payment("A 1", "10"), payment("A\u00a0 1", "10")];
    expect(compared({ links: [link("A 1", "10")], payments })).toMatchObject([
      { finding: "twice", why: "payments", count: 2, money: eur("10.00"), uti: payments[0]?.uti },
    ]);
  });

  it("is compared exactly in currencies of no decimals and of three", () => {
    const money = (amount: string, currency: string) => ({ money: { amount, currency } });
    const links = [link("Y", "0", money("1050", "JPY")), link("K", "0", money("1.005", "KWD"))];
    const payments = [payment("Y", "0", money("1050.00", "JPY")), payment("K", "0", money("1.0050", "KWD"))];
    expect(words({ links, payments, booked: [line("Y", "1050", "JPY"), line("K", "1.005", "KWD")] })).toEqual(
      [],
    );
    expect(words({ links, payments, booked: [line("Y", "1050", "JPY"), line("K", "1.00", "KWD")] })).toEqual([
      "differs K KWD 1.005",
    ]);
    const twice = [line("Y", "1050", "JPY"), line("K", "1.005", "KWD"), line("K", "1.005", "KWD")];
    expect(words({ links, payments, booked: twice })).toEqual(["twice K KWD 1.005"]);
  });

  it("is paid twice by two links, and names the payment that did not arrive", () => {
    const links = [link("A", "10"), link("A", "10")];
    expect(words({ links, payments: [payment("A", "10"), payment("A", "10")] })).toEqual([
      "twice A EUR 10.00",
    ]);
    expect(words({ links, payments: [payment("A", "10")] })).toEqual([
      "twice A EUR 10.00",
      "missed A EUR 10.00",
    ]);
  });

  it("is paid twice by two approved payments without a link", () => {
    expect(words({ payments: [payment("A", "10"), payment("A", "10")] })).toEqual(["twice A EUR 10.00"]);
  });

  it("is still due in part", () => {
    const part = payment("A", "5", { outcome: "PARTIALLY_APPROVED" });
    expect(compared({ payments: [part] })).toMatchObject([{ finding: "unmatched", why: "part" }]);
    expect(words({ links: [link("A", "10")], payments: [part] })).toEqual(["differs A EUR 10.00"]);
  });

  it("is unmatched if it was paid before the store began, and missed if the store is empty", () => {
    const links = [link("A", "10")];
    expect(compared({ links, storedSince: PAID + 1 })).toMatchObject([
      { finding: "unmatched", why: "before the store" },
    ]);
    expect(words({ links, storedSince: Number.NEGATIVE_INFINITY })).toEqual(["missed A EUR 10.00"]);
  });

  it("is unmatched if it may have been paid before the store began, and missed if it was created since", () => {
    const links = [link("A", "10", { paidAt: undefined, paidAfter: PAID })];
    expect(compared({ links, storedSince: PAID + 1 })).toMatchObject([
      { finding: "unmatched", why: "before the store", paidAt: null },
    ]);
    expect(words({ links, storedSince: PAID })).toEqual(["missed A EUR 10.00"]);
    expect(words({ links, payments: [payment("A", "10")] })).toEqual([]);
  });

  it("without a number is found by the id of its link, where the service uses that as the reference", () => {
    const one = link("", "10");
    expect(words({ links: [one] })).toEqual(["not known – EUR 10.00"]);
    const payments = [payment(one.id, "10")];
    expect(words({ links: [one], payments })).toEqual([]);
    expect(words({ links: [one], payments, booked: [line(one.id, "10")] })).toEqual([]);
    expect(words({ links: [one], payments, booked: [line(one.id, "9")] })).toEqual(["differs – EUR 10.00"]);
  });

  it("without a number is not said to agree with books that do not have it, and is said once", () => {
    const one = link("", "10");
    const payments = [payment(one.id, "10")];
    expect(compared({ links: [one], payments, booked: [] })).toMatchObject([
      { finding: "unmatched", why: "not in the books", link: one.id },
    ]);
    expect(words({ links: [one], booked: [] })).toEqual(["not known – EUR 10.00"]);
  });

  it("over nothing, such as the start of a subscription, needs no line in the books", () => {
    const payments = [payment("S", "0.00"), payment("R-1-ABCDEFGH1", "0")];
    const links = [link("S", "0"), link("R-1", "0", { isReusable: true, paidAt: undefined })];
    expect(words({ links, payments, booked: [] })).toEqual([]);
    expect(words({ links, payments, booked: [line("S", "0")] })).toEqual([]);
    expect(words({ links, payments, booked: [line("S", "5")] })).toEqual(["differs S EUR 0.00"]);
    // What is charged to a verified card later is no second payment of its link.
    const charges = [payment("S", "0"), payment("S", "9.99"), payment("S", "9.99")];
    const start = [link("S", "0")];
    expect(compared({ links: start, payments: charges.slice(0, 2) })).toMatchObject([
      { finding: "unmatched", why: "verified card", money: eur("9.99") },
    ]);
    expect(words({ links: start, payments: charges, booked: [line("S", "19.98")] })).toEqual([
      "twice S EUR 9.99",
    ]);
    expect(words({ links: start, payments: charges, booked: [] })).toContain("not booked S EUR 19.98");
    const both = [...start, link("S", "9.99")];
    expect(words({ links: both, payments: charges.slice(0, 2) })).toEqual([]);
    expect(words({ links: both, payments: charges })).toEqual(["twice S EUR 9.99"]);
    const unknown = [link("U", "0", { money: undefined })];
    expect(words({ links: unknown, payments: [payment("U", "0")], booked: [] })).toEqual(["differs U –"]);
  });

  it("is not a payment of a reusable link if its own number ends in nine characters", () => {
    const links = [link("order-123456789", "10"), link("order", "0", { isReusable: true })];
    expect(words({ links, payments: [payment("order-123456789", "10")] })).toEqual([]);
  });
});

describe("an order with several links", () => {
  const open = (orderNumber: string, amount: string): ComparedLink =>
    link(orderNumber, amount, { end: undefined, isCompared: false, paidAt: undefined });

  it("can be paid again while another link of it is open, whether its webhook arrived or not", () => {
    const links = [open("A", "10"), link("A", "10")];
    expect(words({ links, payments: [payment("A", "10")] })).toEqual(["payable A EUR 10.00"]);
    expect(words({ links: links.toReversed() })).toEqual(["missed A EUR 10.00", "payable A EUR 10.00"]);
    expect(words({ links, payments: [payment("A", "10", { kind: "reserves" })] })).toEqual([
      "payable A EUR 10.00",
    ]);
  });

  it("differs in nothing while it is not paid, or its other link verifies a card alone", () => {
    expect(words({ links: [open("A", "10"), open("A", "10")] })).toEqual([]);
    const links = [link("A", "10"), open("A", "0")];
    expect(words({ links, payments: [payment("A", "10")] })).toEqual([]);
  });

  it("has a link for its rest, which is not cancelled while a part alone is paid or reserved", () => {
    const found = (
      rest: Partial<ComparedLink>,
      payments: readonly ReceivedPayment[],
      booked?: BookedLine[],
    ) => {
      const orders = ordersOf({ payments, booked: booked ?? [] });
      orders.addLink(link("A", "20", { end: "cancelled", isCompared: false, paidAt: undefined }));
      orders.addLink(link("A", "8", rest));
      return [...orders.settled()].flatMap((order) => [
        ...findingsOf(order, circumstances(booked === undefined ? {} : { booked })),
      ]);
    };
    const part = payment("A", "12", { outcome: "PARTIALLY_APPROVED" });
    const unpaid = { end: undefined, isCompared: false, paidAt: undefined };
    expect(found(unpaid, [part])).toMatchObject([{ finding: "unmatched", why: "part" }]);
    expect(found(unpaid, [{ ...part, kind: "reserves" }])).toMatchObject([
      { finding: "unmatched", why: "part" },
    ]);
    const paid = [part, payment("A", "8")];
    expect(found({}, paid)).toEqual([]);
    expect(found({}, paid, [line("A", "20")])).toEqual([]);
    expect(found({}, paid, [line("A", "8")])).toMatchObject([
      { finding: "differs", expected: [eur("20.00")] },
    ]);
    expect(found({}, paid, [line("A", "20"), line("A", "20")])).toMatchObject([
      { finding: "twice", why: "books", money: eur("20.00") },
    ]);
    expect(found({}, [part])).toMatchObject([
      { finding: "differs", expected: [eur("20.00")], found: [eur("12.00")] },
    ]);
  });

  it("was paid before the period, and a part of it in the period", () => {
    const links = [link("A", "10", { isCompared: false })];
    const payments = [payment("A", "4", { outcome: "PARTIALLY_APPROVED" }), payment("A", "6")];
    expect(words({ links: [], payments: payments.slice(0, 1) })).toEqual(["unmatched A EUR 4.00"]);
    const orders = new Orders();
    for (const one of payments) orders.addPayment(one);
    for (const one of links) orders.addLink(one);
    expect([...orders.settled()].flatMap((order) => [...findingsOf(order, circumstances({}))])).toEqual([]);
  });
});

describe("corrections of a payment", () => {
  it("count: cancelled after it was approved, only that arrived; replaced by another payment, all is well", () => {
    const first = payment("A", "10", { uti: "one" });
    const cancelled = payment("A", "10", { uti: "one", outcome: "CANCELLED" });
    expect(words({ links: [link("A", "10")], payments: [first, cancelled] })).toEqual(["missed A EUR 10.00"]);
    const payments = [first, cancelled, payment("A", "10")];
    expect(words({ links: [link("A", "10")], payments })).toEqual([]);
  });
});

describe("a link without an order number", () => {
  it("has the one payment of no known link that fits by amount, currency and time", () => {
    const nameless = link("", "10");
    const fitting = payment("generated", "10");
    expect(words({ links: [nameless], payments: [fitting] })).toEqual([]);
    const other = payment("other", "10", { receivedAt: PAID + 2 * 3_600_000 });
    expect(words({ links: [nameless], payments: [fitting, other] })).toEqual(["unmatched other EUR 10.00"]);
    expect(words({ links: [nameless], payments: [fitting, payment("second", "10")] })).toEqual([
      "not known – EUR 10.00",
      "unmatched generated EUR 10.00",
      "unmatched second EUR 10.00",
    ]);
  });
});

describe("reusable links", () => {
  const reusable = link("R-1", "0", { isReusable: true, paidAt: undefined });
  const payments = [payment("R-1-ABCDEFGH1", "10"), payment("R-1--ABCDEFGH2", "5.50")];

  it("agree with books by payment or by link, and are never missed", () => {
    expect(words({ links: [reusable], payments })).toEqual([]);
    expect(words({ links: [reusable] })).toEqual([]);
    expect(words({ links: [reusable], payments, booked: [line("R-1", "15.5")] })).toEqual([]);
    const each = [line("R-1-ABCDEFGH1", "10"), line("R-1--ABCDEFGH2", "5.5")];
    expect(words({ links: [reusable], payments, booked: each })).toEqual([]);
  });

  it("leave the order of a one-time link of their number alone", () => {
    const links = [reusable, link("R-1", "20"), link("R-9", "0", { isReusable: true, paidAt: undefined })];
    const arrived = [...payments, payment("R-1", "20")];
    expect(words({ links, payments: arrived }).filter((text) => !text.startsWith("unmatched"))).toEqual([]);
  });

  it("differ from books that lack a payment of theirs", () => {
    expect(words({ links: [reusable], payments, booked: [line("R-1", "10")] })).toEqual([
      "differs R-1 EUR 15.50",
    ]);
    expect(words({ links: [reusable], payments, booked: [] })).toEqual(["not booked R-1 EUR 15.50"]);
  });
});

describe("when the application accepted an event", () => {
  const at = (minute: number): Date => new Date(PAID + minute * 60_000);

  it.each([
    [
      "the first attempt to forward it",
      [
        [1, false],
        [2, false],
      ],
      1,
    ],
    [
      "not a later replay, which may go to another application",
      [
        [1, false],
        [9, true],
      ],
      1,
    ],
    [
      "not an earlier replay",
      [
        [1, true],
        [2, false],
      ],
      2,
    ],
    [
      "the last replay, where it was not forwarded",
      [
        [1, true],
        [2, true],
      ],
      2,
    ],
    ["unknown", [], undefined],
  ] as const)("is %s", (_, attempts, minute) => {
    const accepted = attempts.map(([when, isReplay]) => ({ at: at(when), isReplay }));
    expect(acceptanceOf(accepted)).toEqual(minute === undefined ? undefined : at(minute));
  });
});
