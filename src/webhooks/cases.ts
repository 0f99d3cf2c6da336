/** What an endpoint is held to: genuine webhooks that it must take, and spoilt ones that it must refuse, each by name. */
import { stringifyJson } from "../domain/json.ts";
import type { HttpRequest } from "../http/message.ts";
import { recordOfSample, type Sample, type SampleSource } from "./sample.ts";
import { TAMPERINGS } from "./tamperings.ts";
import { signedWebhook, type Sender } from "./webhook.ts";

export interface EndpointCase {
  readonly name: string;
  readonly expects: "taken" | "refused";
  readonly sent: string;
  /** What it would mean if the endpoint did otherwise. */
  readonly matters: string;
  /** Sent one after the other; each is answered as expected, or the case fails. */
  readonly requests: (sender: Sender, source: SampleSource) => readonly HttpRequest[];
}

/** An amount that every serialiser writes alike, so that only the case about spelling is about spelling. */
const PLAIN: Sample = { outcome: "approved", link: "one-time", amount: "10.5" };

const bodyOf = (sample: Sample, source: SampleSource): Uint8Array =>
  new TextEncoder().encode(stringifyJson(recordOfSample(sample, source)));

const LOST = "The payment was made, and the shop would never know.";
const DELIVERED_AGAIN =
  "The service delivers at least once: an endpoint that refuses what it has is tried for ever.";

const GENUINE: readonly EndpointCase[] = [
  genuine("approved", "an approved payment of a one-time link", LOST, PLAIN),
  genuine("declined", "a declined payment of a one-time link", LOST, { ...PLAIN, outcome: "declined" }),
  genuine("cancelled", "a cancelled payment of a one-time link", LOST, { ...PLAIN, outcome: "cancelled" }),
  genuine("reusable", "an approved payment of a reusable link", LOST, { ...PLAIN, link: "reusable" }),
  genuine("reusable-declined", "a declined payment of a reusable link", LOST, {
    ...PLAIN,
    outcome: "declined",
    link: "reusable",
  }),
  genuine("subscription", "the start of a subscription, with amount 0", LOST, {
    ...PLAIN,
    link: "subscription",
    amount: "0",
  }),
  {
    name: "repeat",
    expects: "taken",
    sent: "the same webhook twice, byte for byte",
    matters: DELIVERED_AGAIN,
    requests: (sender, source) => {
      const request = signedWebhook(bodyOf(PLAIN, source), sender);
      return [request, request];
    },
  },
  {
    name: "retry",
    expects: "taken",
    sent: "the same record twice, signed afresh the second time",
    matters: DELIVERED_AGAIN,
    requests: (sender, source) => {
      const body = bodyOf(PLAIN, source);
      return [-1, 0].map((shift) => signedWebhook(body, sender, { created: sender.now + shift }));
    },
  },
  {
    name: "exact-bytes",
    expects: "taken",
    sent: "a body that no parser writes again as it is: 10.00, spaces, escapes and letters beyond ASCII",
    matters:
      "The digest is over the bytes. An endpoint that parses and serialises before it verifies refuses genuine payments.",
    requests: (sender, source) => {
      const record = {
        ...recordOfSample({ ...PLAIN, amount: "10.00" }, source),
        merchantName: "Café / Zürich",
      };
      const text = stringifyJson(record, 1)
        .replace("Café", String.raw`Caf\u00e9`)
        .replace(" / ", String.raw` \/ `);
      return [signedWebhook(new TextEncoder().encode(text), sender)];
    },
  },
  {
    name: "unknown-field",
    expects: "taken",
    sent: "a record with a field that the specification does not list",
    matters: "A service adds fields as it grows; an endpoint that refuses them stops working one day.",
    requests: (sender, source) => {
      const record = { ...recordOfSample(PLAIN, source), loyaltyProgramme: "gold" };
      return [signedWebhook(new TextEncoder().encode(stringifyJson(record)), sender)];
    },
  },
  {
    name: "second-signature",
    expects: "taken",
    sent: "a webhook with another signature beside sig1, as a relay may add",
    matters: "The specification has sig1 processed, whatever stands beside it.",
    requests: (sender, source) => {
      const request = signedWebhook(bodyOf(PLAIN, source), sender);
      const beside: Readonly<Record<string, string>> = {
        "Signature-Input": `relay=("@method");created=${sender.now};keyid="relay"`,
        Signature: "relay=:AAAA:",
      };
      return [
        {
          ...request,
          headers: request.headers.map(([name, value]) => [
            name,
            beside[name] === undefined ? value : `${value}, ${beside[name]}`,
          ]),
        },
      ];
    },
  },
];

function genuine(name: string, sent: string, matters: string, sample: Sample): EndpointCase {
  const requests: EndpointCase["requests"] = (sender, source) => [
    signedWebhook(bodyOf(sample, source), sender),
  ];
  return { name, expects: "taken", sent, matters, requests };
}

/** Limits are each endpoint's own, and what is authentic may be taken: neither is held against one. */
const SPOILT: readonly EndpointCase[] = TAMPERINGS.filter(({ kind }) => kind === "refused").map(
  ({ name, sent, matters, spoil }) => ({
    name,
    expects: "refused",
    sent,
    matters,
    requests: (sender, source) => [spoil(bodyOf(PLAIN, source), sender)],
  }),
);

export const ENDPOINT_CASES: readonly EndpointCase[] = [...GENUINE, ...SPOILT];
