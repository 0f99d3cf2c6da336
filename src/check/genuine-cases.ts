/** The cases of `check` with genuine webhooks: every kind of payment, repeats, copies at the same time, and what must not be booked. */
import { UNITS } from "../values/time.ts";
import { JsonNumber, stringifyJson } from "../values/json.ts";
import { halfOf } from "../domain/money.ts";
import { type CaseWebhook, type EndpointCase, EXACT_BYTES, type ExpectedAnswer } from "./endpoint-case.ts";
import {
  sampleBody,
  type SampleOrder,
  paddedSample,
  approvedPayment,
  recordOfSample,
  type Sample,
  type SampleSource,
} from "../sender/samples.ts";
import { signedWebhook, type WebhookOptions } from "../sender/signed-webhook.ts";
import { addSignature, after, HOUR } from "../sender/tamperings.ts";

const LOST = "The payment was made, but the shop would never know.";
const DELIVERED_AGAIN =
  "The service delivers at least once: an endpoint that refuses a repeated webhook gets it again and again.";
const OUT_OF_ORDER =
  "Webhooks can arrive in any order, because the service sends a webhook that was not accepted again later.";
const NOT_THE_ORDER =
  "The payment is genuine, and the service sends it again until it is accepted: accept it, but do not book it.";

type CaseDetails = Pick<EndpointCase, "order" | "books"> &
  Partial<Pick<EndpointCase, "atOnce" | "rounds" | "amount">>;

/** Most cases pay an order, whichever it is. */
const PAYS: CaseDetails = { order: "any", books: "once" };
const PAYS_FRESH: CaseDetails = { order: "fresh", books: "once" };
const never = (order: EndpointCase["order"]): CaseDetails => ({ order, books: "never" });

function acceptedCase(
  name: string,
  description: string,
  consequence: string,
  webhooks: EndpointCase["webhooks"],
  details: CaseDetails = PAYS,
  expects: ExpectedAnswer = "accepted",
): EndpointCase {
  return { name, expects, required: true, description, consequence, webhooks, ...details };
}

function genuineCase(
  name: string,
  description: string,
  sample: Partial<Sample>,
  details: CaseDetails,
): EndpointCase {
  const pays = details.books === "never" ? "nothing" : "all";
  const webhooks: EndpointCase["webhooks"] = (sender, source, order) => [
    payment(sender, source, order, sample, pays),
  ];
  return acceptedCase(name, description, LOST, webhooks, details);
}

/** A payment of the order, with what is different about it. */
const payment = (
  sender: WebhookOptions,
  source: SampleSource,
  order: SampleOrder,
  sample: Partial<Sample>,
  pays: CaseWebhook["pays"],
): CaseWebhook => ({
  request: signedWebhook(sampleBody({ ...approvedPayment(order), ...sample }, source), sender),
  sum: { amount: sample.amount ?? order.amount, currency: sample.currency ?? order.currency },
  pays,
});

const copies = (count: number, one: CaseWebhook): CaseWebhook[] => Array.from({ length: count }, () => one);

const partOf = ({ amount, currency }: SampleOrder): string =>
  halfOf(new JsonNumber(amount), currency).toString();

/** Of a payment that was made some minutes ago. */
const earlier = ({ newId, now }: SampleSource): SampleSource => ({
  newId,
  now: () => new Date(now().getTime() - 5 * UNITS.m),
});

/** Copies that arrive together, which an application books twice if it looks first and books then. */
const together = (name: string, number: string, count: number, rounds: number): EndpointCase =>
  acceptedCase(
    name,
    `the same webhook ${number} at the same time`,
    "The service may deliver a webhook again before the first delivery is answered.",
    (sender, source, order) => copies(count, payment(sender, source, order, {}, "all")),
    { ...PAYS_FRESH, atOnce: true, rounds },
  );

export const GENUINE_CASES: readonly EndpointCase[] = [
  genuineCase("approved", "an approved payment of a one-time link", {}, PAYS),
  genuineCase("declined", "a declined payment of a one-time link", { outcome: "declined" }, never("any")),
  genuineCase("cancelled", "a cancelled payment of a one-time link", { outcome: "cancelled" }, never("any")),
  acceptedCase(
    "partial",
    "a payment of which only a part was approved",
    LOST,
    (sender, source, order) => [
      payment(sender, source, order, { outcome: "partially-approved", amount: partOf(order) }, "a part"),
    ],
    never("alone"),
  ),
  genuineCase(
    "reusable",
    "an approved payment of a reusable link",
    { link: "reusable" },
    { order: "unknown", books: "once" },
  ),
  genuineCase(
    "reusable-declined",
    "a declined payment of a reusable link",
    { outcome: "declined", link: "reusable" },
    never("unknown"),
  ),
  genuineCase(
    "subscription",
    "the start of a subscription, with amount 0",
    { link: "subscription" },
    { order: "unknown", books: "perhaps", amount: "0" },
  ),
  acceptedCase("repeat", "the same webhook twice, byte for byte", DELIVERED_AGAIN, (sender, source, order) =>
    copies(2, payment(sender, source, order, {}, "all")),
  ),
  acceptedCase(
    "retry",
    "the same record twice, signed again the second time",
    DELIVERED_AGAIN,
    (sender, source, order) => {
      const body = sampleBody(approvedPayment(order), source);
      return [-1, 0].map((shift) => ({
        request: signedWebhook(body, { ...sender, created: sender.created + shift }),
        sum: order,
        pays: "all" as const,
      }));
    },
  ),
  // First the five: the two then have open connections, and arrive closer together.
  together("storm", "five times", 5, 5),
  together("concurrent", "twice", 2, 5),
  acceptedCase(
    "late",
    "a webhook, and then a copy with a signature that is an hour old",
    "The endpoint must not fail on the copy: after a 5xx, the service sends it again.",
    (sender, source, order) => {
      const body = sampleBody(approvedPayment(order), source);
      const old = { created: sender.created - HOUR, form: { ...sender.form, created: true } };
      return [
        { request: signedWebhook(body, sender), sum: order, pays: "all" },
        { request: signedWebhook(body, { ...sender, ...old }), sum: order, pays: "nothing" },
      ];
    },
    PAYS,
    "answered",
  ),
  acceptedCase(
    "declined-first",
    "a declined payment, and then an approved one of the same order",
    LOST,
    (sender, source, order) => [
      payment(sender, earlier(source), order, { outcome: "declined" }, "nothing"),
      payment(sender, source, order, {}, "all"),
    ],
    PAYS_FRESH,
  ),
  acceptedCase(
    "declined-late",
    "an approved payment, and then a declined one of the same order that was made before it",
    OUT_OF_ORDER,
    (sender, source, order) => [
      payment(sender, source, order, {}, "all"),
      payment(sender, earlier(source), order, { outcome: "declined" }, "nothing"),
    ],
    PAYS_FRESH,
  ),
  genuineCase(
    "terminal",
    "an approved payment at another terminal",
    { terminalId: "9876543210" },
    { order: "fresh", books: "perhaps" },
  ),
  acceptedCase(
    EXACT_BYTES,
    "a body that changes when it is parsed and serialised: 10.00, spaces, escapes and letters outside ASCII",
    "The digest is over the bytes. An endpoint that parses and serialises before it verifies refuses genuine payments.",
    (sender, source, order) => {
      const record = recordOfSample({ ...approvedPayment(order), amount: paddedSample(order) }, source);
      const text = stringifyJson({ ...record, merchantName: "Café / Zürich" }, 1)
        .replace("Café", String.raw`Caf\u00e9`)
        .replace(" / ", String.raw` \/ `);
      return [{ request: signedWebhook(new TextEncoder().encode(text), sender), sum: order, pays: "all" }];
    },
  ),
  acceptedCase(
    "unknown-field",
    "a record with a field that the specification does not list",
    "Services add fields over time; an endpoint that refuses them would stop working.",
    (sender, source, order) => {
      const record = { ...recordOfSample(approvedPayment(order), source), loyaltyProgramme: "gold" };
      const request = signedWebhook(new TextEncoder().encode(stringifyJson(record)), sender);
      return [{ request, sum: order, pays: "all" }];
    },
  ),
  acceptedCase(
    "second-signature",
    "a webhook with a second signature, as a relay may add",
    "The specification says to process sig1, whatever other signatures there are.",
    (sender, source, order) => {
      const input = `("@method");created=${sender.created};keyid="relay"`;
      const relayed = after(...addSignature("relay", input));
      const request = relayed(sampleBody(approvedPayment(order), source), sender);
      return [{ request, sum: order, pays: "all" }];
    },
  ),
];

/** A payment that is not the one that an order asks for: alone, and after the order is paid. */
function notTheOrder(
  name: string,
  what: string,
  different: (order: SampleOrder) => Partial<Sample>,
): EndpointCase[] {
  const webhooks: EndpointCase["webhooks"] = (sender, source, order) => [
    payment(sender, source, order, different(order), "nothing"),
  ];
  return [
    acceptedCase(name, `a payment ${what} than its order`, NOT_THE_ORDER, webhooks, never("alone")),
    acceptedCase(
      `${name}-late`,
      `a payment ${what} than its order, which is paid already`,
      NOT_THE_ORDER,
      webhooks,
      never("paid"),
    ),
  ];
}

/** What does not pay an order, for an application that knows what each order asks for. */
export const KNOWN_ORDER_CASES: readonly EndpointCase[] = [
  acceptedCase(
    "payments-at-once",
    "two approved payments of one order at the same time",
    NOT_THE_ORDER,
    (sender, source, order) => [1, 2].map(() => payment(sender, source, order, {}, "all")),
    { ...PAYS_FRESH, atOnce: true },
  ),
  acceptedCase(
    "second-payment",
    "two approved payments of one order, one after the other",
    NOT_THE_ORDER,
    (sender, source, order) => [1, 2].map(() => payment(sender, source, order, {}, "all")),
  ),
  ...notTheOrder("other-amount", "of another amount", ({ amount }) => ({
    amount: Number(amount) === 1 ? "2" : "1",
  })),
  ...notTheOrder("other-currency", "in another currency", ({ currency }) => ({
    currency: currency === "EUR" ? "GBP" : "EUR",
  })),
];
