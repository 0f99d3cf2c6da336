/** The parameters of a received signature (RFC 9421 2.3): their types, and the ones that a policy looks at. */

import type { Parameters } from "structured-headers";
import type { Report } from "./report.ts";
import { SignatureError } from "./verdict.ts";

export interface SignatureParameters {
  /** Unix seconds, as `expires`. */
  readonly created: number | null;
  readonly expires: number | null;
  readonly keyid: string | null;
  readonly alg: string | null;
}

const KNOWN_PARAMETERS: ReadonlySet<string> = new Set(["created", "expires", "nonce", "alg", "keyid", "tag"]);

export function readParameters(parameters: Parameters, report: Report): SignatureParameters {
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
