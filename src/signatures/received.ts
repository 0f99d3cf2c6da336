/** Reads the signature that a message carries from its two fields: steps 1 to 7 of the checklist of RFC 9421 3.2. */
import { isInnerList, type InnerList, type Parameters } from "structured-headers";
import { fieldLines, type HeaderLine } from "../http/message.ts";
import { signatureParams } from "./base.ts";
import { component, type Component } from "./components.ts";
import type { Policy } from "./policy.ts";
import type { Report } from "./report.ts";
import {
  byteSequence,
  countParameters,
  readDictionary,
  repeatedKey,
  type RawDictionary,
  type RawMember,
  withoutSpace,
} from "./structured.ts";
import { SignatureError } from "./verdict.ts";

/** Limits on the work for one message. */
const MAX_LABELS = 8;
const MAX_COMPONENTS = 64;

export interface ReceivedSignature extends SignatureParameters {
  readonly components: readonly Component[];
  /** The value of `@signature-params`: the canonical form, which is what was signed. */
  readonly params: string;
  readonly signature: Buffer;
}

export function readSignature(
  headers: readonly HeaderLine[],
  policy: Policy,
  report: Report,
): ReceivedSignature {
  report.begin("signature-fields", "unsigned");
  const inputLines = fieldLines(headers, "signature-input");
  const signatureLines = fieldLines(headers, "signature");
  requireBoth(inputLines, signatureLines);
  report.pass("Signature-Input and Signature are present");

  report.begin("signature-input", "signature_input_malformed");
  const inputs = readDictionary(inputLines);
  report.pass(countMembers(inputs));
  report.begin("signature", "signature_malformed");
  const signatures = readDictionary(signatureLines);
  report.pass(countMembers(signatures));

  report.begin("labels", "label_mismatch");
  const [input, value] = pickLabel(inputs, signatures, policy);
  if (inputs.members.length > 1) report.warn("multiple_signatures");
  report.pass(`${policy.label} is in both fields`);

  report.begin("components", "signature_input_malformed");
  const list = innerList(inputs, policy.label);
  const components = readComponents(list);
  const params = canonicalParams(input, list, components, report);
  report.components = components;
  report.begin("signature-bytes", "signature_malformed");
  const signature = signatureBytes(signatures, value, report);
  report.pass(`${signature.length} bytes`);

  report.begin("parameters", "signature_param_invalid");
  const { created, expires, keyid, alg } = readParameters(list[1], report);
  report.pass([...list[1].keys()].join(", ") || "none");
  return { components, params, signature, created, expires, keyid, alg };
}

const countMembers = ({ members }: RawDictionary): string =>
  `a dictionary with ${members.length} ${members.length === 1 ? "member" : "members"}`;

function requireBoth(inputLines: readonly string[], signatureLines: readonly string[]): void {
  if (inputLines.length === 0 && signatureLines.length === 0) {
    throw new SignatureError("unsigned", "the message has no Signature-Input and no Signature");
  }
  if (signatureLines.length === 0)
    throw new SignatureError("signature_missing", "the message has Signature-Input but no Signature");
  if (inputLines.length === 0) {
    throw new SignatureError("signature_input_missing", "the message has Signature but no Signature-Input");
  }
}

/** Labels must be unique in each field and the same in both (RFC 9421 4); only the policy's label is read further. */
function pickLabel(inputs: RawDictionary, signatures: RawDictionary, policy: Policy): [RawMember, RawMember] {
  requireDistinct(inputs);
  requireDistinct(signatures);
  requireLabels(inputs, signatures, "Signature");
  requireLabels(signatures, inputs, "Signature-Input");
  const input = inputs.members.find(({ key }) => key === policy.label);
  const value = signatures.members.find(({ key }) => key === policy.label);
  if (input !== undefined && value !== undefined) return [input, value];
  const labels = inputs.members.map(({ key }) => key).join(", ");
  throw new SignatureError(
    "label_not_found",
    `there is no signature ${policy.label}; the labels are: ${labels || "none"}`,
  );
}

function requireDistinct(dictionary: RawDictionary): void {
  const count = dictionary.members.length;
  if (count > MAX_LABELS)
    throw new SignatureError("limit_exceeded", `${count} labels; the limit is ${MAX_LABELS}`);
  const repeated = repeatedKey(dictionary);
  if (repeated !== undefined)
    throw new SignatureError("duplicate_label", `the label ${repeated} is repeated`);
}

function requireLabels({ members }: RawDictionary, theirs: RawDictionary, field: string): void {
  const lone = members.find(({ key }) => !theirs.parsed.has(key));
  if (lone !== undefined) throw new SignatureError("label_mismatch", `${field} has no label ${lone.key}`);
}

function innerList({ parsed }: RawDictionary, label: string): InnerList {
  const member = parsed.get(label);
  if (member !== undefined && isInnerList(member)) return member;
  throw new SignatureError(
    "signature_input_malformed",
    `${label} is not a list of components in parentheses`,
  );
}

function readComponents([items]: InnerList): Component[] {
  if (items.length > MAX_COMPONENTS)
    throw new SignatureError("limit_exceeded", `${items.length} components; the limit is ${MAX_COMPONENTS}`);
  return items.map(([name, parameters]) => {
    if (typeof name === "string") return component(name, parameters);
    throw new SignatureError("signature_input_malformed", "a component is not a String");
  });
}

/**
 * The canonical form is what was signed, so the raw text may differ from it in white space alone. Any other difference
 * was lost in the parse: a repeated parameter, `1.0` or `0001` for 1, `?1` for a flag.
 */
function canonicalParams(
  { text, parameters }: RawMember,
  list: InnerList,
  components: readonly Component[],
  report: Report,
): string {
  if (parameters !== countParameters(list))
    throw new SignatureError("duplicate_param", "a parameter is repeated");
  const canonical = signatureParams(components, list[1]);
  if (text === canonical) report.pass(`${components.length} covered`);
  else if (withoutSpace(text) === withoutSpace(canonical)) {
    report.warn("non_canonical_signature_input");
    report.pass(`${components.length} covered; white space differs from the canonical form`);
  } else {
    throw new SignatureError("signature_input_malformed", `${text} is not in canonical form: ${canonical}`);
  }
  return canonical;
}

function signatureBytes(signatures: RawDictionary, member: RawMember, report: Report): Buffer {
  const read = byteSequence(signatures, member);
  if (read === undefined) {
    throw new SignatureError("signature_malformed", "the signature is not base64 between colons");
  }
  if (!read.canonical) report.warn("non_canonical_base64");
  if (member.parameters > 0) report.warn("signature_has_parameters");
  return read.bytes;
}

interface SignatureParameters {
  /** Unix seconds, as `expires`. */
  readonly created: number | null;
  readonly expires: number | null;
  readonly keyid: string | null;
  readonly alg: string | null;
}

const KNOWN_PARAMETERS: ReadonlySet<string> = new Set(["created", "expires", "nonce", "alg", "keyid", "tag"]);

function readParameters(parameters: Parameters, report: Report): SignatureParameters {
  for (const key of parameters.keys()) if (!KNOWN_PARAMETERS.has(key)) report.warn("unknown_signature_param");
  const keyid = textParameter(parameters, "keyid");
  report.keyid = keyid;
  const created = timeParameter(parameters, "created");
  report.created = created;
  const expires = timeParameter(parameters, "expires");
  const alg = textParameter(parameters, "alg");
  for (const name of ["nonce", "tag"]) textParameter(parameters, name);
  if (created !== null && expires !== null && expires < created) {
    throw new SignatureError("signature_param_invalid", `expires ${expires} is before created ${created}`);
  }
  return { created, expires, keyid, alg };
}

function textParameter(parameters: Parameters, name: string): string | null {
  const value = parameters.get(name);
  if (value === undefined) return null;
  if (typeof value === "string") return value;
  throw new SignatureError("signature_param_invalid", `${name} is not a String`);
}

function timeParameter(parameters: Parameters, name: string): number | null {
  const value = parameters.get(name);
  if (value === undefined) return null;
  if (typeof value === "number" && Number.isInteger(value) && value >= 0) return value;
  throw new SignatureError(
    "signature_param_invalid",
    `${name} is not a number of seconds (an Integer, 0 or more)`,
  );
}
