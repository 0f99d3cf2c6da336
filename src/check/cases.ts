/** All cases of `check`: genuine webhooks, webhooks with other signatures, and tampered ones, which an endpoint must refuse. */
import { type EndpointCase, UNDATED } from "./endpoint-case.ts";
import { GENUINE_CASES, KNOWN_ORDER_CASES } from "./genuine-cases.ts";
import { sampleBody, approvedPayment } from "../sender/samples.ts";
import { type CoveredComponents, DERIVED_COVER, SERVICE_COVER } from "../signatures/cover.ts";
import { signedWebhook } from "../sender/signed-webhook.ts";
import { coverToTamper, TAMPERINGS } from "../sender/tamperings.ts";

/** One cover, with and without the parameters that a service may leave out. */
interface SignedCover {
  readonly name: string;
  readonly cover: CoveredComponents;
  readonly required: boolean;
  readonly described: string;
  /** Of refusing it. */
  readonly consequence: string;
}

const SIGNS_HEADERS: SignedCover = {
  name: "headers",
  cover: SERVICE_COVER,
  required: true,
  described: "header fields only",
  consequence:
    "The real service signs header fields only: an endpoint that requires @method or @target-uri refuses every payment.",
};

const SIGNS_DERIVED: SignedCover = {
  name: "derived",
  cover: DERIVED_COVER,
  required: false,
  described: "@method and @target-uri too",
  consequence:
    "The real service does not sign this way, so refusing it loses no payment. Another service may sign this way.",
};

const signsChosen = (cover: CoveredComponents): SignedCover => ({
  name: "cover",
  cover,
  required: true,
  described: cover.join(" "),
  consequence:
    "The service that you check for signs this way: an endpoint that refuses it refuses every payment.",
});

const UNPROMISED =
  "The real service does not document whether it sends created and keyid: an endpoint that requires them may refuse every payment.";

function signedCases(signed: SignedCover, hasKeyid: boolean): EndpointCase[] {
  const { name, required } = signed;
  const [noCreated, bare] = UNDATED;
  const shapes = [
    { suffix: "", created: true, keyid: true, without: "" },
    { suffix: noCreated, created: false, keyid: true, without: ", without created" },
    { suffix: "-no-keyid", created: true, keyid: false, without: ", without keyid" },
    { suffix: bare, created: false, keyid: false, without: ", without created and keyid" },
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
      order: "any",
      books: "once",
      webhooks: (sender, source, order) => {
        const form = { cover: signed.cover, created };
        const key = keyid ? sender.key : { ...sender.key, keyid: null };
        const request = signedWebhook(sampleBody(approvedPayment(order), source), { ...sender, key, form });
        return [{ request, sum: order, pays: "all" }];
      },
    }));
}

const tampered = (cover: CoveredComponents | undefined): EndpointCase[] =>
  TAMPERINGS.flatMap((tampering): EndpointCase[] => {
    const { name, description, consequence, refusedBy5xx = false, tamper } = tampering;
    const detecting = coverToTamper(tampering, cover);
    if (detecting === undefined) return [];
    const webhooks: EndpointCase["webhooks"] = (sender, source, order) => {
      const form = { ...sender.form, cover: detecting };
      const request = tamper(sampleBody(approvedPayment(order), source), { ...sender, form });
      return [{ request, sum: order, pays: "nothing" }];
    };
    return [
      {
        name,
        expects: "refused",
        refusedBy5xx,
        required: true,
        description,
        consequence,
        order: "any",
        books: "never",
        webhooks,
      },
    ];
  });

export interface CaseOptions {
  /** Without a cover, that of the real service, and derived components for comparison. */
  readonly cover: CoveredComponents | undefined;
  readonly hasKeyid: boolean;
  /** The application knows the orders, so that it can also tell what does not pay them. */
  readonly knowsOrders: boolean;
}

export function endpointCases({ cover, hasKeyid, knowsOrders }: CaseOptions): readonly EndpointCase[] {
  const covers = cover === undefined ? [SIGNS_HEADERS, SIGNS_DERIVED] : [signsChosen(cover)];
  const cases = [
    ...GENUINE_CASES,
    ...(knowsOrders ? KNOWN_ORDER_CASES : []),
    ...covers.flatMap((signed) => signedCases(signed, hasKeyid)),
    ...tampered(cover),
  ];
  return knowsOrders ? cases.toSorted((one, other) => turnOf(one) - turnOf(other)) : cases;
}

/**
 * There may be fewer orders than cases, so what pays nothing comes first, while all are unpaid, and then what needs an unpaid one.
 */
function turnOf({ expects, order, books }: EndpointCase): number {
  if (expects === "accepted" && (order === "any" || order === "alone") && books === "never") return 0;
  return order === "fresh" ? 1 : 2;
}
