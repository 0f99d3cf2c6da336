/** Signing of requests and responses: the two header lines of RFC 9421 4 for a message that is about to be sent. */

import { type BareItem, serializeKey } from "structured-headers";
import type { HeaderLine } from "../http/message.ts";
import { ALGORITHMS, type Algorithm } from "./algorithms.ts";
import { signatureBase, signatureParams } from "./base.ts";
import type { Component, MessageHead } from "./components.ts";
import type { SigningKey } from "./keys.ts";
import { DEFAULT_POLICY } from "./policy.ts";

export interface SignOptions {
  readonly key: SigningKey;
  readonly components: readonly Component[];
  /** In the order in which they are to stand, which no name can disturb: none looks like an array index. */
  readonly parameters: Readonly<Record<string, BareItem>>;
  readonly label?: string;
  readonly algorithm?: Algorithm;
}

/** Throws a Refusal where the message lacks something that is to be covered. */
export function sign(message: MessageHead, options: SignOptions): [input: HeaderLine, signature: HeaderLine] {
  const { key, components, parameters } = options;
  const label = serializeKey(options.label ?? DEFAULT_POLICY.label);
  const params = signatureParams(components, new Map(Object.entries(parameters)));
  const base = signatureBase(components, params, message);
  const signature = ALGORITHMS[options.algorithm ?? DEFAULT_POLICY.algorithm].sign(
    Buffer.from(base, "latin1"),
    key.key,
  );
  return [
    ["Signature-Input", `${label}=${params}`],
    ["Signature", `${label}=:${signature.toString("base64")}:`],
  ];
}
