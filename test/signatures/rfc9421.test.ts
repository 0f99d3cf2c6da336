/** The examples of RFC 9421 itself: every component line, every signature base, and what is refused of them. */

import { isInnerList, parseItem } from "structured-headers";
import { describe, expect, it } from "vitest";
import type { HeaderLine, HttpRequest } from "../../src/http/message.ts";
import { componentValue, signatureBase, signatureParams } from "../../src/signatures/base.ts";
import { component } from "../../src/signatures/components.ts";
import { SignatureError } from "../../src/signatures/verdict.ts";
import { DEFAULT_POLICY } from "../../src/signatures/policy.ts";
import { verify } from "../../src/signatures/verify.ts";
import { readDictionary } from "../../src/signatures/structured.ts";
import { vectorFile } from "../support/vectors.ts";

interface Message {
  readonly kind: "request" | "response";
  readonly method?: string;
  readonly target?: string;
  readonly scheme?: HttpRequest["scheme"];
  readonly headers: readonly HeaderLine[];
  readonly body?: string;
}

interface SignatureVector {
  readonly id: string;
  readonly label: string;
  readonly keyid: string;
  readonly message: Message;
  readonly signature_input: string;
  readonly signature: string;
  readonly signature_base: string;
  readonly signature_base64: string;
  readonly expect: "valid" | "invalid";
}

interface ComponentVector {
  readonly section: string;
  readonly component: string;
  readonly headers?: readonly HeaderLine[];
  readonly request?: { method: string; target: string; host: string; scheme: HttpRequest["scheme"] };
  readonly expected_line: string | null;
  readonly expect_error?: string;
}

const { vectors: signatures } = vectorFile<{ vectors: SignatureVector[] }>("rfc9421-signatures");
const { vectors: components } = vectorFile<{ vectors: ComponentVector[] }>("rfc9421-components");

function requestOf({ method = "", target = "", scheme = "https", headers, body = "" }: Message): HttpRequest {
  const host = headers.find(([name]) => name.toLowerCase() === "host")?.[1] ?? "";
  return { method, target, scheme, authority: host, headers, body: Buffer.from(body) };
}

function inputOf(vector: SignatureVector) {
  const list = readDictionary([vector.signature_input]).parsed.get(vector.label);
  if (list === undefined || !isInnerList(list)) throw new Error("the vector cannot be read");
  const covered = list[0].map(([name, parameters]) => component(String(name), parameters));
  return { covered, parameters: list[1] };
}

describe("signatures of RFC 9421", () => {
  const requests = signatures.filter(({ message }) => message.kind === "request");
  const valid = requests.filter(({ expect: expected }) => expected === "valid");

  it.each(valid)("$id: the signature base, byte for byte", (vector) => {
    const { covered, parameters } = inputOf(vector);
    const base = signatureBase(covered, signatureParams(covered, parameters), requestOf(vector.message));
    expect(base).toBe(vector.signature_base);
  });

  /** None has the label and the algorithm of the service. */
  it.each(requests)("$id is refused", ({ message, signature_input, signature }) => {
    const ours: HeaderLine[] = [
      ["Signature-Input", signature_input],
      ["Signature", signature],
    ];
    const carried = message.headers.filter(([name]) => !name.toLowerCase().startsWith("signature"));
    const request = { ...requestOf(message), headers: [...carried, ...ours] };
    const options = { keys: [], now: 1618884473, policy: DEFAULT_POLICY };
    expect(verify(request, options)).toMatchObject({ verdict: "invalid", key: null });
  });
});

/** Responses: paylink verifies requests, and refuses what only a response can cover. */
const RESPONSES = [
  ["B.2.4", "component_not_applicable"],
  ["2.4-reqres-1", "component_not_applicable"],
  ["2.4-reqres-2", "component_not_applicable"],
] as const;

describe("signatures of responses in RFC 9421", () => {
  it("are these", () => {
    const ids = signatures.filter(({ message }) => message.kind === "response").map(({ id }) => id);
    expect(ids).toEqual(RESPONSES.map(([id]) => id));
  });

  it.each(RESPONSES)("%s is refused: %s", (id, reason) => {
    const vector = signatures.find((one) => one.id === id);
    if (vector === undefined) throw new Error(`no vector ${id}`);
    const { covered, parameters } = inputOf(vector);
    const base = () =>
      signatureBase(covered, signatureParams(covered, parameters), requestOf(vector.message));
    expect(base).toThrow(expect.objectContaining({ reason }));
  });
});

/** The vectors' words for what the page of reason codes calls otherwise. */
const OUR_WORDS: Record<string, string> = {
  missing_component: "component_missing",
  incompatible_component_params: "component_param_incompatible",
  unknown_component_param: "component_param_unknown",
  ambiguous_query_param: "query_param_ambiguous",
  not_applicable_component: "component_not_applicable",
  unknown_derived_component: "component_unknown",
  signature_params_covered: "component_not_applicable",
  req_on_request: "req_on_request",
};

function lineOf(vector: ComponentVector): string {
  const [name, parameters] = parseItem(vector.component);
  const { host = "", ...head } = vector.request ?? { method: "GET", target: "/", scheme: "https" };
  const request = {
    ...head,
    authority: host,
    headers: vector.headers ?? [],
  };
  const covered = component(String(name), parameters);
  try {
    return `${covered.identifier}: ${componentValue(covered, request)}`;
  } catch (error) {
    if (error instanceof SignatureError) return error.reason;
    throw error;
  }
}

/** What the service never signs: it is recognised, to be refused for its own reason. */
const REFUSED: Record<string, string> = {
  '"example-dict";sf': "component_sf_type_unknown",
  '"example-dict";key="a"': "component_sf_type_unknown",
  '"example-dict";key="b"': "component_sf_type_unknown",
  '"example-dict";key="c"': "component_sf_type_unknown",
  '"example-dict";key="d"': "component_sf_type_unknown",
  '"example-dict";key="z"': "component_sf_type_unknown",
  '"example-header";bs': "component_param_unknown",
  '"expires";tr': "component_missing",
};

/** A listener refuses both before it looks at a signature: a folded line, and a target that is not a path. */
const isReceived = ({ headers = [], request }: ComponentVector): boolean =>
  !headers.some(([, value]) => value.includes("\r\n")) && (request?.target.startsWith("/") ?? true);

describe("components of RFC 9421", () => {
  it.each(components.filter(isReceived))("$section $component -> $expected_line$expect_error", (vector) => {
    const { component: text, expected_line, expect_error = "" } = vector;
    expect(lineOf(vector)).toBe(REFUSED[text] ?? expected_line ?? OUR_WORDS[expect_error]);
  });
});
