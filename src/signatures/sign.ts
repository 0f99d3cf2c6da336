/** Signs requests: makes the two header lines of RFC 9421 4. */

import { sign as cryptoSign } from "node:crypto";
import { type BareItem, serializeKey } from "structured-headers";
import type { HeaderLine, RequestHead } from "../http/message.ts";
import { signatureBase, signatureParams } from "./base.ts";
import type { Component } from "./components.ts";
import type { SigningKey } from "./keys.ts";
import { LABEL } from "./policy.ts";

export interface SignOptions {
  readonly key: SigningKey;
  readonly components: readonly Component[];
  /** In the order of the record, which JavaScript keeps: no parameter name looks like an array index. */
  readonly parameters: Readonly<Record<string, BareItem>>;
  readonly label?: string | undefined;
  /** Makes other bytes than those of `rsa-v1_5-sha256`, for tampered webhooks. */
  readonly signBase?: ((base: Uint8Array) => Uint8Array) | undefined;
}

/** Signature-Input and Signature. Throws a SignatureError where the request lacks a covered component. */
export function sign(request: RequestHead, options: SignOptions): readonly [HeaderLine, HeaderLine] {
  const { key, components, parameters, label = LABEL } = options;
  const { signBase = (text: Uint8Array) => cryptoSign("sha256", text, key.key) } = options;
  const params = signatureParams(components, new Map(Object.entries(parameters)));
  const base = signatureBase(components, params, request);
  const signature = Buffer.from(signBase(Buffer.from(base, "latin1")));
  return [
    ["Signature-Input", `${serializeKey(label)}=${params}`],
    ["Signature", `${serializeKey(label)}=:${signature.toString("base64")}:`],
  ];
}
