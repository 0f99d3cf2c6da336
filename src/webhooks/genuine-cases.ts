/** The cases of `check` with genuine webhooks, as the real service signs them: an endpoint must accept each. */
import { stringifyJson } from "../domain/json.ts";
import type { HttpRequest } from "../http/message.ts";
import { bodyOf, PLAIN, recordOfSample, type Sample, type SampleSource } from "./samples.ts";
import { signedWebhook, type WebhookOptions } from "./signed-webhook.ts";

export interface EndpointCase {
  readonly name: string;
  readonly expects: "accepted" | "refused";
  /** Whether the endpoint fails the check if it does otherwise; if not, it gets a warning. */
  readonly required: boolean;
  readonly sent: string;
  /** The consequence if the endpoint does otherwise. */
  readonly matters: string;
  /** Sent one after the other; the case fails unless each is answered as expected. */
  readonly requests: (sender: WebhookOptions, source: SampleSource) => readonly HttpRequest[];
}

const LOST = "The payment was made, but the shop would never know.";
const DELIVERED_AGAIN =
  "The service delivers at least once: an endpoint that refuses a repeated webhook gets it again and again.";

export const GENUINE_CASES: readonly EndpointCase[] = [
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
    expects: "accepted",
    required: true,
    sent: "the same webhook twice, byte for byte",
    matters: DELIVERED_AGAIN,
    requests: (sender, source) => {
      const request = signedWebhook(bodyOf(PLAIN, source), sender);
      return [request, request];
    },
  },
  {
    name: "retry",
    expects: "accepted",
    required: true,
    sent: "the same record twice, signed again the second time",
    matters: DELIVERED_AGAIN,
    requests: (sender, source) => {
      const body = bodyOf(PLAIN, source);
      return [-1, 0].map((shift) => signedWebhook(body, { ...sender, created: sender.created + shift }));
    },
  },
  {
    name: "exact-bytes",
    expects: "accepted",
    required: true,
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
    expects: "accepted",
    required: true,
    sent: "a record with a field that the specification does not list",
    matters: "Services add fields over time; an endpoint that refuses them would stop working.",
    requests: (sender, source) => {
      const record = { ...recordOfSample(PLAIN, source), loyaltyProgramme: "gold" };
      return [signedWebhook(new TextEncoder().encode(stringifyJson(record)), sender)];
    },
  },
  {
    name: "second-signature",
    expects: "accepted",
    required: true,
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
  return { name, expects: "accepted", required: true, sent, matters, requests };
}
