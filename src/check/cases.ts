/** All cases of `check`: genuine webhooks, webhooks with other signatures, and tampered ones, which an endpoint must refuse. */
import { stringifyJson } from "../domain/json.ts";
import type { HttpRequest } from "../http/message.ts";
import { bodyOf, PLAIN, recordOfSample, type Sample, type SampleSource } from "./samples.ts";
import { type CoveredComponents, DERIVED_COVER, SERVICE_COVER } from "../signatures/cover.ts";
import { signedWebhook, type WebhookOptions } from "./signed-webhook.ts";
import { addSignature, after, coverToTamper, TAMPERINGS } from "./tamperings.ts";

export interface EndpointCase {
  readonly name: string;
  readonly expects: "accepted" | "refused";
  /** Whether the endpoint fails the check if it does otherwise; if not, it gets a warning. */
  readonly required: boolean;
  /** What is sent: `a webhook without a signature`. */
  readonly description: string;
  /** If the endpoint does otherwise. */
  readonly consequence: string;
  /** Sent one after the other; the case fails unless each is answered as expected. */
  readonly requests: (sender: WebhookOptions, source: SampleSource) => readonly HttpRequest[];
}

const LOST = "The payment was made, but the shop would never know.";
const DELIVERED_AGAIN =
  "The service delivers at least once: an endpoint that refuses a repeated webhook gets it again and again.";

const GENUINE_CASES: readonly EndpointCase[] = [
  genuine("approved", "an approved payment of a one-time link", {}),
  genuine("declined", "a declined payment of a one-time link", { outcome: "declined" }),
  genuine("cancelled", "a cancelled payment of a one-time link", { outcome: "cancelled" }),
  genuine("reusable", "an approved payment of a reusable link", { link: "reusable" }),
  genuine("reusable-declined", "a declined payment of a reusable link", {
    outcome: "declined",
    link: "reusable",
  }),
  genuine("subscription", "the start of a subscription, with amount 0", {
    link: "subscription",
    amount: "0",
  }),
  accepted("repeat", "the same webhook twice, byte for byte", DELIVERED_AGAIN, (sender, source) => {
    const request = signedWebhook(bodyOf(PLAIN, source), sender);
    return [request, request];
  }),
  accepted(
    "retry",
    "the same record twice, signed again the second time",
    DELIVERED_AGAIN,
    (sender, source) => {
      const body = bodyOf(PLAIN, source);
      return [-1, 0].map((shift) => signedWebhook(body, { ...sender, created: sender.created + shift }));
    },
  ),
  accepted(
    "exact-bytes",
    "a body that changes when it is parsed and serialised: 10.00, spaces, escapes and letters outside ASCII",
    "The digest is over the bytes. An endpoint that parses and serialises before it verifies refuses genuine payments.",
    (sender, source) => {
      const record = recordOfSample({ ...PLAIN, amount: "10.00" }, source);
      const text = stringifyJson({ ...record, merchantName: "Café / Zürich" }, 1)
        .replace("Café", String.raw`Caf\u00e9`)
        .replace(" / ", String.raw` \/ `);
      return [signedWebhook(new TextEncoder().encode(text), sender)];
    },
  ),
  accepted(
    "unknown-field",
    "a record with a field that the specification does not list",
    "Services add fields over time; an endpoint that refuses them would stop working.",
    (sender, source) => {
      const record = { ...recordOfSample(PLAIN, source), loyaltyProgramme: "gold" };
      return [signedWebhook(new TextEncoder().encode(stringifyJson(record)), sender)];
    },
  ),
  accepted(
    "second-signature",
    "a webhook with a second signature, as a relay may add",
    "The specification says to process sig1, whatever other signatures there are.",
    (sender, source) => {
      const input = `("@method");created=${sender.created};keyid="relay"`;
      return [after(...addSignature("relay", input))(bodyOf(PLAIN, source), sender)];
    },
  ),
];

function accepted(
  name: string,
  description: string,
  consequence: string,
  requests: EndpointCase["requests"],
): EndpointCase {
  return { name, expects: "accepted", required: true, description, consequence, requests };
}

function genuine(name: string, description: string, sample: Partial<Sample>): EndpointCase {
  return accepted(name, description, LOST, (sender, source) => [
    signedWebhook(bodyOf({ ...PLAIN, ...sample }, source), sender),
  ]);
}

/** One cover, with and without the parameters that a service may leave out. */
interface SignedCover {
  readonly name: string;
  readonly cover: CoveredComponents;
  readonly required: boolean;
  readonly described: string;
  /** Of refusing it. */
  readonly consequence: string;
}

const HEADERS: SignedCover = {
  name: "headers",
  cover: SERVICE_COVER,
  required: true,
  described: "header fields only",
  consequence:
    "The real service signs nothing but header fields: an endpoint that insists on @method or @target-uri refuses every payment.",
};

const DERIVED: SignedCover = {
  name: "derived",
  cover: DERIVED_COVER,
  required: false,
  described: "@method and @target-uri too",
  consequence: "The real service does not sign this way, so it loses no payment. Another service may.",
};

const chosen = (cover: CoveredComponents): SignedCover => ({
  name: "cover",
  cover,
  required: true,
  described: cover.join(" "),
  consequence: "The service that this check is for signs this way.",
});

const UNPROMISED =
  "The real service does not document whether it sends created and keyid: an endpoint that insists on them may refuse every payment.";

function signedCases(signed: SignedCover, hasKeyid: boolean): EndpointCase[] {
  const { name, required } = signed;
  const shapes = [
    { suffix: "", created: true, keyid: true, without: "" },
    { suffix: "-no-created", created: false, keyid: true, without: ", without created" },
    { suffix: "-no-keyid", created: true, keyid: false, without: ", without keyid" },
    { suffix: "-bare", created: false, keyid: false, without: ", without created and keyid" },
  ];
  // The webhooks of a key without an id never have a keyid.
  return shapes
    .filter(({ keyid }) => keyid || hasKeyid)
    .map(({ suffix, created, keyid, without }) => ({
      name: `${name}${suffix}`,
      expects: "accepted",
      required,
      description: `a webhook whose signature covers ${signed.described}${without}`,
      consequence: without === "" || !required ? signed.consequence : UNPROMISED,
      requests: (sender, source) => [
        signedWebhook(bodyOf(PLAIN, source), {
          ...sender,
          key: keyid ? sender.key : { ...sender.key, keyid: null },
          form: { cover: signed.cover, created },
        }),
      ],
    }));
}

const tampered = (cover: CoveredComponents | undefined): EndpointCase[] =>
  TAMPERINGS.flatMap((tampering): EndpointCase[] => {
    const { name, description, consequence, tamper } = tampering;
    const detecting = coverToTamper(tampering, cover);
    if (detecting === undefined) return [];
    const requests: EndpointCase["requests"] = (sender, source) => [
      tamper(bodyOf(PLAIN, source), { ...sender, form: { ...sender.form, cover: detecting } }),
    ];
    return [{ name, expects: "refused", required: true, description, consequence, requests }];
  });

/** Without a cover, that of the real service, and derived components for comparison. */
export function endpointCases(
  cover: CoveredComponents | undefined,
  hasKeyid: boolean,
): readonly EndpointCase[] {
  const covers = cover === undefined ? [HEADERS, DERIVED] : [chosen(cover)];
  return [...GENUINE_CASES, ...covers.flatMap((signed) => signedCases(signed, hasKeyid)), ...tampered(cover)];
}
