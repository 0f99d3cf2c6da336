/** Signs what is forwarded with the merchant's own key, so that a retry or a replay is as fresh as the first attempt. */
import { fieldLines, type HttpRequest, type RequestHead } from "../http/message.ts";
import { componentValue } from "../signatures/base.ts";
import { parseComponent, type Component } from "../signatures/components.ts";
import type { SigningKey } from "../signatures/keys.ts";
import { DEFAULT_POLICY } from "../signatures/policy.ts";
import { sign } from "../signatures/sign.ts";
import type { Verdict } from "../signatures/verdict.ts";

interface SignAgainOptions {
  readonly key: SigningKey;
  /** The time that the signature states. */
  readonly at: Date;
}

/**
 * Covers what the service's signature covers, as far as the forwarded request has it: a header of one connection, or a
 * parameter of the query, may not reach the application. Throws for a webhook that is not authentic.
 */
export function signAgain(
  request: HttpRequest,
  { verdict, covered }: Verdict,
  { key, at }: SignAgainOptions,
): HttpRequest {
  if (verdict !== "valid") throw new Error("the webhook is not authentic, so it is not signed");
  // The application takes its own address from Host.
  const [authority = request.authority] = fieldLines(request.headers, "host");
  const message = { ...request, authority };
  const components = covered.flatMap((text) => {
    const parsed = parseComponent(text);
    return parsed.ok && hasValue(parsed.component, message) ? [parsed.component] : [];
  });
  const parameters = {
    created: Math.floor(at.getTime() / 1000),
    ...(key.keyid === null ? {} : { keyid: key.keyid }),
    alg: DEFAULT_POLICY.algorithm,
  };
  const { fields } = sign(message, { key, components, parameters });
  return { ...request, headers: [...request.headers, ...fields] };
}

function hasValue(component: Component, request: RequestHead): boolean {
  try {
    componentValue(component, request);
    return true;
  } catch {
    return false;
  }
}
