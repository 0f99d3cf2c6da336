/** Reads the signature that a message carries from its two fields: steps 1 to 7 of the checklist of RFC 9421 3.2. */
import { isInnerList, type InnerList, type Parameters } from "structured-headers";
import { fieldLines, type HeaderLine } from "../http/message.ts";
import { signatureParams } from "./base.ts";
import { component, type Component } from "./components.ts";
import { LABEL } from "./policy.ts";
import type { VerificationProgress } from "./progress.ts";
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

/** What the two fields say of the signature. */
export interface ReceivedSignature {
  readonly components: readonly Component[];
  /** The value of `@signature-params`: the canonical form, which is what was signed. */
  readonly params: string;
  /** The names of the signature's parameters, as written. */
  readonly parameters: readonly string[];
  /** Unix seconds, as `expires`. */
  readonly created: number | null;
  readonly expires: number | null;
  readonly keyid: string | null;
  readonly alg: string | null;
  readonly signature: Buffer;
}

export function readSignature(
  headers: readonly HeaderLine[],
  progress: VerificationProgress,
): ReceivedSignature {
  const inputLines = fieldLines(headers, "signature-input");
  const signatureLines = fieldLines(headers, "signature");
  requireBoth(inputLines, signatureLines);
  progress.check = "signature-input";
  const inputs = readDictionary(inputLines);
  progress.check = "signature";
  const signatures = readDictionary(signatureLines);

  progress.check = "labels";
  const [input, value] = pickLabel(inputs, signatures);
  if (inputs.members.length > 1) progress.warn("multiple_signatures");

  progress.check = "components";
  const list = innerList(inputs);
  const components = readComponents(list);
  const params = canonicalParams(input, list, components, progress);
  progress.components = components;
  progress.check = "signature-bytes";
  const signature = signatureBytes(signatures, value, progress);

  progress.check = "parameters";
  const parameters = [...list[1].keys()];
  return { components, params, parameters, signature, ...readParameters(list[1], progress) };
}

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

/** Labels must be unique in each field and the same in both (RFC 9421 4); only ours is read further. */
function pickLabel(inputs: RawDictionary, signatures: RawDictionary): [RawMember, RawMember] {
  requireDistinctLabels(inputs);
  requireDistinctLabels(signatures);
  requireLabels(inputs, signatures, "Signature");
  requireLabels(signatures, inputs, "Signature-Input");
  const input = inputs.members.find(({ key }) => key === LABEL);
  const value = signatures.members.find(({ key }) => key === LABEL);
  if (input !== undefined && value !== undefined) return [input, value];
  const labels = inputs.members.map(({ key }) => key).join(", ");
  throw new SignatureError(
    "label_not_found",
    `there is no signature ${LABEL}; the labels are: ${labels || "none"}`,
  );
}

function requireDistinctLabels(dictionary: RawDictionary): void {
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

function innerList({ parsed }: RawDictionary): InnerList {
  const member = parsed.get(LABEL);
  if (member !== undefined && isInnerList(member)) return member;
  throw new SignatureError(
    "signature_input_malformed",
    `${LABEL} is not a list of components in parentheses`,
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
  progress: VerificationProgress,
): string {
  if (parameters !== countParameters(list))
    throw new SignatureError("duplicate_param", "a parameter is repeated");
  const canonical = signatureParams(components, list[1]);
  if (text === canonical) return canonical;
  if (withoutSpace(text) !== withoutSpace(canonical))
    throw new SignatureError("signature_input_malformed", `${text} is not in canonical form: ${canonical}`);
  progress.warn("non_canonical_signature_input");
  return canonical;
}

function signatureBytes(
  signatures: RawDictionary,
  member: RawMember,
  progress: VerificationProgress,
): Buffer {
  const read = byteSequence(signatures, member);
  if (read === undefined) {
    throw new SignatureError("signature_malformed", "the signature is not base64 between colons");
  }
  if (!read.canonical) progress.warn("non_canonical_base64");
  if (member.parameters > 0) progress.warn("signature_has_parameters");
  return read.bytes;
}

const KNOWN_PARAMETERS: ReadonlySet<string> = new Set(["created", "expires", "nonce", "alg", "keyid", "tag"]);

function readParameters(parameters: Parameters, progress: VerificationProgress) {
  for (const key of parameters.keys())
    if (!KNOWN_PARAMETERS.has(key)) progress.warn("unknown_signature_param");
  const keyid = textParameter(parameters, "keyid");
  progress.keyid = keyid;
  const created = timeParameter(parameters, "created");
  progress.created = created;
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
