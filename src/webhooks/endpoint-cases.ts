/** The cases of `check`: genuine webhooks that an endpoint must accept, and tampered ones that it must refuse. */
import { stringifyJson } from "../domain/json.ts";
import type { HttpRequest } from "../http/message.ts";
import { recordOfSample, type Sample, type SampleSource } from "./sample-record.ts";
import { TAMPERINGS } from "./tamperings.ts";
import { signedWebhook, type WebhookOptions } from "./sample-webhook.ts";

export interface EndpointCase {
  readonly name: string;
  readonly expects: "taken" | "refused";
  readonly sent: string;
  /** The consequence if the endpoint does otherwise. */
  readonly matters: string;
  /** Sent one after the other; the case fails unless each is answered as expected. */
  readonly requests: (sender: WebhookOptions, source: SampleSource) => readonly HttpRequest[];
}

/** An amount that every serialiser writes alike, so that only `exact-bytes` tests the spelling. */
const PLAIN: Sample = { outcome: "approved", link: "one-time", amount: "10.5" };

const bodyOf = (sample: Sample, source: SampleSource): Uint8Array =>
  new TextEncoder().encode(stringifyJson(recordOfSample(sample, source)));

const LOST = "The payment was made, but the shop would never know.";
const DELIVERED_AGAIN =
  "The service delivers at least once: an endpoint that refuses a repeated webhook gets it again and again.";

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
      return [-1, 0].map((shift) => signedWebhook(body, { ...sender, created: sender.created + shift }));
    },
  },
  {
    name: "exact-bytes",
    expects: "taken",
    sent: "a body that changes when it is parsed and serialised: 10.00, spaces, escapes and letters outside ASCII",
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
    matters: "Services add fields over time; an endpoint that refuses them stops working then.",
    requests: (sender, source) => {
      const record = { ...recordOfSample(PLAIN, source), loyaltyProgramme: "gold" };
      return [signedWebhook(new TextEncoder().encode(stringifyJson(record)), sender)];
    },
  },
  {
    name: "second-signature",
    expects: "taken",
    sent: "a webhook with a second signature, as a relay may add",
    matters: "The specification says to process sig1, whatever other signatures there are.",
    requests: (sender, source) => {
      const request = signedWebhook(bodyOf(PLAIN, source), sender);
      const relay: Readonly<Record<string, string>> = {
        "Signature-Input": `relay=("@method");created=${sender.created};keyid="relay"`,
        Signature: "relay=:AAAA:",
      };
      return [
        {
          ...request,
          headers: request.headers.map(([name, value]) => [
            name,
            relay[name] === undefined ? value : `${value}, ${relay[name]}`,
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

/** Without limits and invalid records: an endpoint may set its own limits, and may accept what is authentic. */
const TAMPERED: readonly EndpointCase[] = TAMPERINGS.filter(({ kind }) => kind === "refused").map(
  ({ name, sent, matters, tamper }) => ({
    name,
    expects: "refused",
    sent,
    matters,
    requests: (sender, source) => [tamper(bodyOf(PLAIN, source), sender)],
  }),
);

export const ENDPOINT_CASES: readonly EndpointCase[] = [...GENUINE, ...TAMPERED];
