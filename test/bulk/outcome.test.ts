/** What is said of a row that a run has not sent: nothing is claimed of its links that the service did not say. */
import { expect, it } from "vitest";
import { earlierOutcome } from "../../src/bulk/outcome.ts";
import type { PlannedRow } from "../../src/bulk/plan.ts";
import type { Attempt } from "../../src/store/sent-rows.ts";

const attempt = (id: string, changes: Partial<Attempt> = {}): Attempt => ({
  key: "key",
  occurrence: 1,
  attempt: 1,
  source: "service",
  state: "created",
  id,
  url: `https://x/${id}`,
  error: null,
  sentAt: 0,
  payment: "EUR 18.00",
  content: undefined,
  orderNumber: "A-1",
  status: "active",
  ...changes,
});

const row = (state: PlannedRow["state"], changes: Partial<PlannedRow>): PlannedRow => ({
  state,
  isDue: false,
  isLeft: false,
  claim: undefined,
  link: undefined,
  others: [],
  cancels: [],
  differs: false,
  isForOther: false,
  isElsewhere: false,
  ...changes,
});

const UNSAID = { status: undefined } as const;

it.each<[said: string, state: PlannedRow["state"], link: Attempt, others?: readonly Attempt[]]>([
  [
    "Its link L1 (EUR 18.00) may still be payable, so no new link was created.",
    "sent",
    attempt("L1", UNSAID),
  ],
  ["Its link L1 (EUR 18.00) can still be paid, so no new link was created.", "sent", attempt("L1")],
  [
    "Its link L1 (EUR 18.00) is as the list says. Other links of this order can still be paid: L2 (EUR 7.00), L3 (EUR 18.00).",
    "sent",
    attempt("L1"),
    [attempt("L2", { payment: "EUR 7.00" }), attempt("L3")],
  ],
  [
    "Its link L1 may still be payable, and asks for another payment: --again changed cancels it first.",
    "changed",
    attempt("L1", { ...UNSAID, payment: undefined }),
  ],
  [
    "Its link L1 (EUR 18.00) can still be paid, and asks for another payment: --again changed cancels it first.",
    "changed",
    attempt("L1", { status: "viewed" }),
  ],
  [
    "It asks for another payment than its expired link L1 (EUR 18.00): --again changed sends it.",
    "changed",
    attempt("L1", { status: "expired" }),
  ],
  [
    "It asks for another payment than its cancelled link https://x/L1 (EUR 18.00): --again changed sends it.",
    "changed",
    attempt("L1", { id: null, status: "cancelled" }),
  ],
  ["Its link L1 (EUR 18.00) is paid, so no new link was created.", "paid", attempt("L1", { status: "paid" })],
  [
    "The service cannot say whether it has the link, or has another link of this order: check there.",
    "unknown",
    attempt("L1", UNSAID),
  ],
])("says why --again leaves a row: %s", (error, state, link, others = []) => {
  const { id, url, status = "created" } = link;
  expect(earlierOutcome(row(state, { isLeft: true, link, others }))).toEqual({
    status,
    id,
    url,
    error,
    isEarlier: true,
    isLeft: true,
  });
});

it.each<[status: string, said: string | undefined, row: PlannedRow]>([
  ["active", undefined, row("sent", { link: attempt("L1") })],
  [
    "active",
    "Another link of this order can still be paid: L2 (EUR 18.00)",
    row("sent", { link: attempt("L1"), others: [attempt("L2")] }),
  ],
  ["created", undefined, row("sent", { link: attempt("L1", UNSAID) })],
  ["invalid", undefined, row("invalid", {})],
  ["skipped", undefined, row("skipped", { link: attempt("L1") })],
  ["not_sent", undefined, row("new", {})],
  ["not_sent", undefined, row("ended", { link: attempt("L1"), isDue: true })],
  [
    "unknown",
    "an earlier run ended during this request; the link may exist",
    row("unknown", { link: attempt("L1", { state: "unknown" }) }),
  ],
  [
    "unknown",
    "another run was still sending it when this one ended; the link may exist",
    row("in_flight", { link: attempt("L1", { state: "in flight" }) }),
  ],
  [
    "unknown",
    "no answer; the service has no link of it now",
    row("unknown", { link: attempt("L1", { state: "absent", error: "no answer" }) }),
  ],
])("calls a row that was not sent now %s: %s", (status, error, planned) => {
  const outcome = earlierOutcome(planned);
  expect([outcome.status, outcome.error]).toEqual([status, error]);
});
