/** What `check --books` finds in the books, by what was posted for an order, what the endpoint answered, and what is booked of it. */
import { describe, expect, it } from "vitest";
import { type BookedFinding, compareBooked } from "../../src/check/booked.ts";
import type { CaseWebhook, EndpointCase } from "../../src/check/endpoint-case.ts";
import type { OrderUse } from "../../src/check/endpoint.ts";

const ORDER = { number: "A-1", amount: "10.50", currency: "EUR" };
const PART = "4.00";

type Booking = string | { readonly amount: string; readonly currency?: string; readonly of?: string };

interface Shown {
  readonly order?: { readonly number: string; readonly amount: string; readonly currency: string };
  readonly kind?: EndpointCase["order"];
  readonly knowsOrders?: boolean;
  readonly before?: readonly string[];
}

const use = (
  books: EndpointCase["books"],
  payments: readonly [pays: CaseWebhook["pays"], amount: string, status: number | null][],
  { order = ORDER, kind = "fresh" }: Shown = {},
): OrderUse => ({
  case: { name: "case", description: "a webhook", order: kind, books },
  order,
  payments: payments.map(([pays, amount, status]) => ({
    pays,
    status,
    sum: { amount, currency: order.currency },
  })),
});

const PAID = use("once", [["all", "10.50", 200]]);
const UNANSWERED = use("once", [["all", "10.50", null]]);
const REFUSED = use("once", [["all", "10.50", 500]]);
const DECLINED = use("never", [["nothing", "10.50", 200]]);
const IN_PART = use("never", [["a part", PART, 200]]);
const ALL_AS_PART = use("never", [["a part", "10.5", 200]]);
const PAID_AGAIN = use("never", [["all", "10.50", 200]]);

const FAILED = use("once", [
  ["all", "10.50", 500],
  ["nothing", "10.50", 200],
]);
const IN_PART_ALONE = use("once", [
  ["all", "10.50", 500],
  ["a part", PART, 200],
]);

function findingOf(
  uses: readonly OrderUse[],
  bookings: readonly Booking[],
  { knowsOrders = false, before = [] }: Shown = {},
): BookedFinding | "right" {
  const lines = bookings.map((booking, at) => {
    const { of: orderNumber = ORDER.number, ...money } =
      typeof booking === "string" ? { amount: booking, currency: "EUR" } : booking;
    return { line: at + 1, orderNumber, currency: undefined, ...money };
  });
  const [compared, ...others] = compareBooked({ uses, knowsOrders, before: new Set(before) }, lines);
  expect(others).toEqual([]);
  return compared?.finding ?? "right";
}

describe("the books of an order", () => {
  it.each<[what: string, uses: readonly OrderUse[], bookings: readonly Booking[], found: string]>([
    ["paid and booked", [PAID], ["10.50"], "right"],
    ["paid and booked in another spelling", [PAID], ["10.5"], "right"],
    ["paid and booked without a currency", [PAID], [{ amount: "10.50" }], "right"],
    ["paid and not booked", [PAID], [], "not booked"],
    ["paid by two cases and not booked", [PAID, PAID], [], "not booked"],
    ["paid and booked twice", [PAID], ["10.50", "10.50"], "twice"],
    ["paid and booked three times", [PAID], ["10.50", "10.50", "10.50"], "twice"],
    ["paid and booked in two lines", [PAID], ["6.50", "4.00"], "right"],
    ["paid and booked with less", [PAID], ["10.49"], "differs"],
    ["paid and booked with twice as much", [PAID], ["21.00"], "differs"],
    ["paid and booked in another currency", [PAID], [{ amount: "10.50", currency: "GBP" }], "differs"],
    ["paid and booked with nothing", [PAID], ["0"], "differs"],
    ["paid and booked with nothing twice", [PAID], ["0", "0"], "differs"],
    ["paid and booked beside others", [PAID], ["10.50", { amount: "1", of: "B-1" }], "right"],
    ["paid and another one booked", [PAID], [{ amount: "10.50", of: "B-1" }], "not booked"],
    ["declined and not booked", [DECLINED], [], "right"],
    ["declined and booked", [DECLINED], ["10.50"], "not paid"],
    ["unanswered and not booked", [UNANSWERED], [], "right"],
    ["unanswered and booked", [UNANSWERED], ["10.50"], "right"],
    ["unanswered and booked twice", [UNANSWERED], ["10.50", "10.50"], "twice"],
    ["refused and not booked", [REFUSED], [], "right"],
    ["refused and booked", [REFUSED], ["10.50"], "right"],
    ["unanswered, then declined, and booked", [UNANSWERED, DECLINED], ["10.50"], "right"],
    ["refused, sent again and not booked", [REFUSED, PAID], [], "not booked"],
    ["paid in part and not booked", [IN_PART], [], "right"],
    ["paid in part and booked as that part", [IN_PART], [PART], "right"],
    ["paid in part and booked as that part twice", [IN_PART], [PART, PART], "not paid"],
    ["paid in part and booked as paid", [IN_PART], ["10.50"], "not paid"],
    ["paid in part, by the record, with all of it, and not booked", [ALL_AS_PART], [], "right"],
    ["paid in part, by the record, with all of it, and booked", [ALL_AS_PART], ["10.50"], "not paid"],
    ["paid, and paid in part: both are booked", [PAID, IN_PART], ["10.50", PART], "right"],
    ["paid, and paid in part: the part alone is booked", [PAID, IN_PART], [PART], "not booked"],
    ["paid, and paid in part with all of it: booked once", [PAID, ALL_AS_PART], ["10.50"], "right"],
    ["paid, and paid in part with all of it: booked twice", [PAID, ALL_AS_PART], ["10.50", "10.50"], "twice"],
    ["paid a second time and booked once", [PAID, PAID_AGAIN], ["10.50"], "right"],
    ["paid a second time and booked twice", [PAID, PAID_AGAIN], ["10.50", "10.50"], "twice"],
    [
      "paid with another amount and booked as that",
      [use("never", [["all", "9.00", 200]])],
      ["9.00"],
      "not paid",
    ],
    ["paid a second time alone and booked", [PAID_AGAIN], ["10.50"], "not paid"],
    ["refused, then told that it failed, and not booked", [FAILED], [], "right"],
    ["paid in part where all of it was refused, and not booked", [IN_PART_ALONE], [], "right"],
    ["either is right, and nothing booked", [use("perhaps", [["all", "10.50", 200]])], [], "right"],
    ["either is right, and booked", [use("perhaps", [["all", "10.50", 200]])], ["10.50"], "right"],
  ])("%s", (_, uses, bookings, found) => {
    expect(findingOf(uses, bookings)).toBe(found);
  });

  it("of an order over 0 are one line of 0", () => {
    const order = { ...ORDER, amount: "0" };
    const paid = use("once", [["all", "0.00", 200]], { order });
    expect(findingOf([paid], ["0"])).toBe("right");
    expect(findingOf([paid], ["0", "0"])).toBe("twice");
    expect(findingOf([paid], ["0", "1"])).toBe("differs");
  });

  it("that were there before stay, whatever is posted", () => {
    const before = { before: ["A-1"], knowsOrders: true };
    expect(findingOf([DECLINED], ["10.50"], before)).toBe("right");
    expect(findingOf([DECLINED], [], before)).toBe("not booked");
    expect(findingOf([PAID_AGAIN], ["10.50", "10.50"], before)).toBe("twice");
  });

  it("that the application does not know are booked or not", () => {
    const unknown = use("once", [["all", "10.50", 200]], { kind: "unknown" });
    const known = { knowsOrders: true };
    expect(findingOf([unknown], [], known)).toBe("right");
    expect(findingOf([unknown], ["10.50"], known)).toBe("right");
    expect(findingOf([unknown], ["9"], known)).toBe("differs");
    expect(findingOf([unknown], [])).toBe("not booked");
    const declined = use("never", [["nothing", "10.50", 200]], { kind: "unknown" });
    expect(findingOf([declined], ["10.50"], known)).toBe("not paid");
  });

  it("have payments of a reusable link by their references, where the order is one of check itself", () => {
    const booking = { amount: "10.50", of: "A-1-ABC123XYZ" };
    expect(findingOf([PAID], [booking])).toBe("right");
    expect(findingOf([PAID], [booking], { knowsOrders: true })).toBe("not booked");
  });
});
