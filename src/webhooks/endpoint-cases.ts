/** All cases of `check`: genuine webhooks, webhooks with other signatures, and tampered ones, which an endpoint must refuse. */
import { GENUINE_CASES, type EndpointCase } from "./genuine-cases.ts";
import { bodyOf, PLAIN } from "./samples.ts";
import { DERIVED_COVER, SERVICE_COVER, type CoveredComponents } from "./signature-form.ts";
import { signedWebhook } from "./signed-webhook.ts";
import { TAMPERINGS } from "./tamperings.ts";
import { coverToTamper } from "./tamperings/tampering.ts";

/** One cover, with and without the parameters that a service may leave out. */
interface SignedCover {
  readonly name: string;
  readonly cover: CoveredComponents;
  readonly required: boolean;
  readonly described: string;
  /** The consequence of refusing it. */
  readonly matters: string;
}

const HEADERS: SignedCover = {
  name: "headers",
  cover: SERVICE_COVER,
  required: true,
  described: "header fields only",
  matters:
    "The real service signs nothing but header fields: an endpoint that insists on @method or @target-uri refuses every payment.",
};

const DERIVED: SignedCover = {
  name: "derived",
  cover: DERIVED_COVER,
  required: false,
  described: "@method and @target-uri too",
  matters: "The real service does not sign this way, so it loses no payment. Another service may.",
};

const chosen = (cover: CoveredComponents): SignedCover => ({
  name: "cover",
  cover,
  required: true,
  described: cover.join(" "),
  matters: "The service that this check is for signs this way.",
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
      sent: `a webhook whose signature covers ${signed.described}${without}`,
      matters: without === "" || !required ? signed.matters : UNPROMISED,
      requests: (sender, source) => [
        signedWebhook(bodyOf(PLAIN, source), {
          ...sender,
          key: keyid ? sender.key : { ...sender.key, keyid: null },
          form: { cover: signed.cover, created },
        }),
      ],
    }));
}

/** Without limits and invalid records: an endpoint may set its own limits, and may accept what is authentic. */
const tampered = (cover: CoveredComponents | undefined): EndpointCase[] =>
  TAMPERINGS.filter(({ kind }) => kind === "refused").flatMap((tampering): EndpointCase[] => {
    const { name, sent, matters, tamper } = tampering;
    const detecting = coverToTamper(tampering, cover);
    if (detecting === undefined) return [];
    const requests: EndpointCase["requests"] = (sender, source) => [
      tamper(bodyOf(PLAIN, source), { ...sender, form: { ...sender.form, cover: detecting } }),
    ];
    return [{ name, expects: "refused", required: true, sent, matters, requests }];
  });

/** Without a cover, that of the real service, and derived components for comparison. */
export function endpointCases(
  cover: CoveredComponents | undefined,
  hasKeyid: boolean,
): readonly EndpointCase[] {
  const covers = cover === undefined ? [HEADERS, DERIVED] : [chosen(cover)];
  return [...GENUINE_CASES, ...covers.flatMap((signed) => signedCases(signed, hasKeyid)), ...tampered(cover)];
}
