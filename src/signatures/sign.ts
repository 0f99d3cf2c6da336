/** Signs requests: makes the two header lines of RFC 9421 4. */

import { type BareItem, serializeKey } from "structured-headers";
import type { HeaderLine, RequestHead } from "../http/message.ts";
import { ALGORITHMS, type Algorithm } from "./algorithms.ts";
import { signatureBase, signatureParams } from "./base.ts";
import type { Component } from "./components.ts";
import type { SigningKey } from "./keys.ts";
import { DEFAULT_POLICY } from "./policy.ts";

export interface SignOptions {
  readonly key: SigningKey;
  readonly components: readonly Component[];
  /** In the order of the record, which JavaScript keeps: no parameter name looks like an array index. */
  readonly parameters: Readonly<Record<string, BareItem>>;
  readonly label?: string;
  readonly algorithm?: Algorithm;
}

interface Signed {
  readonly fields: readonly [input: HeaderLine, signature: HeaderLine];
  /** The text that was signed. */
  readonly base: string;
}

/** Throws a SignatureError where the request lacks a covered component. */
export function sign(request: RequestHead, options: SignOptions): Signed {
  const { key, components, parameters } = options;
  const label = serializeKey(options.label ?? DEFAULT_POLICY.label);
  const params = signatureParams(components, new Map(Object.entries(parameters)));
  const base = signatureBase(components, params, request);
  const signature = ALGORITHMS[options.algorithm ?? DEFAULT_POLICY.algorithm].sign(
    Buffer.from(base, "latin1"),
    key.key,
  );
  return {
    base,
    fields: [
      ["Signature-Input", `${label}=${params}`],
      ["Signature", `${label}=:${signature.toString("base64")}:`],
    ],
  };
}
