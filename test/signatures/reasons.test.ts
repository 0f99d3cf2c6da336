/** Every reason code, and the cases beside those of the vectors: what fails, and in which order. */

import { generateKeyPairSync } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { HeaderLine, HttpRequest } from "../../src/http/message.ts";
import { DEFAULT_POLICY, type Policy } from "../../src/signatures/policy.ts";
import { verify } from "../../src/signatures/verify.ts";
import { baseOf, checksOf } from "../../src/signatures/explain/verdict-words.ts";
import type { Verdict } from "../../src/signatures/verdict.ts";
import { componentOf, keysOf } from "../support/vectors.ts";
import { COVERED, NOW, OPTIONS, signed, UNSIGNED, withFields } from "./signed.ts";
import { KEYS, OTHER_KEYS } from "../support/keys.ts";

const LIST = '("content-digest")';

function judged(request: HttpRequest, policy: Partial<Policy> = {}): Verdict {
  return verify(request, { ...OPTIONS, policy: { ...DEFAULT_POLICY, ...policy } });
}

function plus(...lines: HeaderLine[]): HttpRequest {
  return { ...UNSIGNED, headers: [...UNSIGNED.headers, ...lines] };
}

describe("the two fields", () => {
  it.each<[string, string | null, string | null, string]>([
    ["neither", null, null, "unsigned"],
    ["Signature alone", null, "sig1=:AAAA:", "signature_input_missing"],
    ["Signature-Input alone", `sig1=${LIST}`, null, "signature_missing"],
    ["an empty Signature-Input", "", "sig1=:AAAA:", "label_mismatch"],
    ["both empty", "", "", "label_not_found"],
    ["a trailing comma", `sig1=${LIST},`, "sig1=:AAAA:", "signature_input_malformed"],
    ["a member that is a String", 'sig1="content-digest"', "sig1=:AAAA:", "signature_input_malformed"],
    [
      "a member that is an item with parameters",
      "sig1=a;created=1",
      "sig1=:AAAA:",
      "signature_input_malformed",
    ],
    ["a bare label with parameters", "sig1;created=1", "sig1=:AAAA:", "signature_input_malformed"],
    ["a component that is a Token", "sig1=(content-digest)", "sig1=:AAAA:", "signature_input_malformed"],
    ["a tab in the list", 'sig1=("content-digest"\t"date")', "sig1=:AAAA:", "signature_input_malformed"],
    ["a nested list", 'sig1=(("content-digest"))', "sig1=:AAAA:", "signature_input_malformed"],
    ["leading zeros", `sig1=${LIST};created=01700000000`, "sig1=:AAAA:", "signature_input_malformed"],
    ["16 digits", `sig1=${LIST};created=1700000000000000`, "sig1=:AAAA:", "signature_input_malformed"],
    ["a flag written ?1", 'sig1=("content-digest";sf=?1)', "sig1=:AAAA:", "signature_input_malformed"],
    ["a capital in a parameter", `sig1=${LIST};Created=1`, "sig1=:AAAA:", "signature_input_malformed"],
    ["an unclosed string", `sig1=${LIST};keyid="k`, "sig1=:AAAA:", "signature_input_malformed"],
    ["a Token for a signature", `sig1=${LIST}`, "sig1=AAAA", "signature_malformed"],
    ["a flag for a signature", `sig1=${LIST}`, "sig1", "signature_malformed"],
    ["a list for a signature", `sig1=${LIST}`, "sig1=(:AAAA:)", "signature_malformed"],
    ["a newline in base64", `sig1=${LIST}`, "sig1=:AA\nAA:", "signature_malformed"],
    ["a space in base64", `sig1=${LIST}`, "sig1=:AA AA:", "signature_malformed"],
    ["one digit too many", `sig1=${LIST}`, "sig1=:AAAAA:", "signature_malformed"],
    ["half of the padding", `sig1=${LIST}`, "sig1=:AA=:", "signature_malformed"],
    ["padding where none is due", `sig1=${LIST}`, "sig1=:AAAA=:", "signature_malformed"],
    ["a label twice in one line", `sig1=${LIST}, sig1=${LIST}`, "sig1=:AAAA:", "duplicate_label"],
    ["a label twice in Signature", `sig1=${LIST}`, "sig1=:AAAA:, sig1=:AAAA:", "duplicate_label"],
    ["another label twice", `a=${LIST}, sig1=${LIST}, a=${LIST}`, "sig1=:AAAA:, a=:AAAA:", "duplicate_label"],
    ["a label in Signature alone", `sig1=${LIST}`, "sig1=:AAAA:, sig2=:AAAA:", "label_mismatch"],
    ["only another label", `sig2=${LIST}`, "sig2=:AAAA:", "label_not_found"],
    ["a label hidden in a string", `sig2=${LIST};nonce=",sig1="`, "sig2=:AAAA:", "label_not_found"],
  ])("%s", (_, input, signature, code) => {
    expect(judged(withFields(input, signature)).code).toBe(code);
  });

  it("accepts 64 components and refuses 65", () => {
    const names = (count: number) => Array.from({ length: count }, (_, at) => `"x-${at}"`).join(" ");
    expect(judged(withFields(`sig1=(${names(64)})`)).code).toBe("coverage_missing");
    expect(judged(withFields(`sig1=(${names(65)})`)).code).toBe("limit_exceeded");
  });
});

describe("parameters and freshness", () => {
  it.each<[string, string]>([
    ['created="1700000000"', "signature_param_invalid"],
    ["created=1.5", "signature_param_invalid"],
    ["created", "signature_param_invalid"],
    ["created=1700000000;expires=never", "signature_param_invalid"],
    ['created=1700000000;expires="1800000000"', "signature_param_invalid"],
    ["expires=-1", "signature_param_invalid"],
    ["alg=rsa-v1_5-sha256", "signature_param_invalid"],
    ["tag=1", "signature_param_invalid"],
    ["keyid=:YQ==:", "signature_param_invalid"],
    ["nonce=?0", "signature_param_invalid"],
    ["created=1700000000;created=1700000000", "duplicate_param"],
    ['keyid="a";keyid=";keyid="', "duplicate_param"],
    ["created=1700000060", "signature_invalid"],
    ["created=1700000061", "created_in_future"],
    ["created=1700000000000", "created_in_future"],
    ["created=1699999640", "signature_invalid"],
    ["created=1699999639", "signature_too_old"],
    ["created=1700000000;expires=1700000000", "signature_invalid"],
    ["created=1699999990;expires=1699999999", "signature_expired"],
    ["expires=1699999999", "signature_expired"],
    ['alg="rsa-pss-sha512"', "alg_not_allowed"],
    ['alg="RSA-V1_5-SHA256"', "alg_not_allowed"],
    ['alg="RS256"', "alg_not_allowed"],
    ['alg="rsa-v1_5-sha256"', "signature_invalid"],
  ])("%s: %s", (parameters, code) => {
    expect(judged(withFields(`sig1=${LIST};${parameters}`)).code).toBe(code);
  });

  it("accepts a signature without created, with a warning, unless it is required", () => {
    const request = signed(UNSIGNED, COVERED, { keyid: "k" });
    expect(judged(request)).toMatchObject({ code: "ok", created: null, warnings: ["created_missing"] });
    expect(judged(request, { requireCreated: true }).code).toBe("created_missing");
  });
});

describe("coverage", () => {
  const digest = (parameters: string) => withFields(`sig1=("content-digest"${parameters})`);

  it.each([";tr", ";foo", ";req", ';key="md5"', ';key="sha-256";sf', ";bs;sf", ';name="a"', ";sf=1"])(
    "content-digest%s alone does not cover the body",
    (parameters) => expect(judged(digest(parameters)).code).toBe("coverage_missing"),
  );

  it("does not accept a capital letter in the name", () => {
    expect(judged(withFields('sig1=("Content-Digest")')).code).toBe("coverage_missing");
  });

  it("is of the body with the member of a secure digest", () => {
    const cover = ["@method", "@target-uri", 'content-digest;key="sha-256"', "content-type"];
    expect(judged(signed(UNSIGNED, cover)).code).toBe("ok");
  });

  it.each([";sf", ";bs"])("refuses content-digest%s, which the service never signs", (parameters) =>
    expect(judged(digest(parameters))).toMatchObject({
      code: "component_param_unknown",
      failure: { check: "signature-base" },
    }),
  );

  it("asks for required components with their parameters", () => {
    const request = signed(UNSIGNED, [...COVERED, '"@query-param";name="src"']);
    const required = (text: string) => judged(request, { required: [componentOf(text)] }).code;
    expect(required('@query-param;name="src"')).toBe("ok");
    expect(required('@query-param;name="x"')).toBe("coverage_missing");
    expect(required("@authority")).toBe("coverage_missing");
    expect(required('content-digest;key="sha-256"')).toBe("coverage_missing");
  });

  it.each<[readonly string[], readonly string[]]>([
    [["content-digest"], ["method_not_covered", "target_not_covered", "content_type_not_covered"]],
    [["@method", "@request-target", "content-digest", "content-type"], []],
    [["@method", "@path", "@query", "content-digest", "content-type"], []],
    [["@method", "@path", "content-digest", "content-type"], ["target_not_covered"]],
  ])("of %j leaves %j", (covered, warnings) => {
    expect(judged(signed(UNSIGNED, covered))).toMatchObject({ code: "ok", warnings });
  });
});

describe("components", () => {
  it.each<[string, string]>([
    ['"x-a";tr;bs "x-a";bs;tr', "duplicate_component"],
    ['"x-absent"', "component_missing"],
    ['"Accept"', "component_missing"],
    ['"@nonsense"', "component_unknown"],
    ['"@status"', "component_not_applicable"],
    ['"@method";tr', "component_param_unknown"],
    ['"@path";sf', "component_param_unknown"],
    ['"@method";name="a"', "component_param_unknown"],
    ['"@query-param"', "component_param_unknown"],
    ['"@query-param";name=a', "component_param_unknown"],
    ['"accept";sf=1', "component_param_unknown"],
    ['"content-digest";key=sha-256', "component_param_unknown"],
    ['"accept";bs;sf', "component_param_incompatible"],
    ['"accept";sf', "component_sf_type_unknown"],
    ['"accept";key="a"', "component_sf_type_unknown"],
    ['"client-cert-chain";key="a"', "component_sf_type_unknown"],
    ['"priority";sf', "component_sf_type_unknown"],
    ['"priority";key="u"', "component_sf_type_unknown"],
    ['"accept";tr', "component_missing"],
    ['"accept";bs', "component_param_unknown"],
    ['"accept";req', "req_on_request"],
    ['"@query-param";name="src"', "signature_invalid"],
    ['"@query-param";name="dup"', "query_param_ambiguous"],
    ['"x-bytes"', "component_value_invalid"],
    ['"x-bytes";bs', "component_param_unknown"],
    ['"host"', "duplicate_header"],
  ])("%s: %s", (components, code) => {
    const request = {
      ...plus(
        ["X-A", "a=1"],
        ["Client-Cert-Chain", ":YQ==:"],
        ["Priority", "u="],
        ["X-Bytes", "caf\u00e9"],
        ["host", "other.example"],
        ["Signature-Input", `sig1=("content-digest" ${components})`],
        ["Signature", "sig1=:AAAA:"],
      ),
      target: "/hook?src=pl&dup=1&d%75p=2",
    };
    const verdict = judged(request);
    expect(verdict.code).toBe(code);
    expect(baseOf({ verdict, request }) === null).toBe(code !== "signature_invalid");
  });

  it.each([
    "/hook#part",
    "/h\u00e9",
    "/a b",
    "",
    "hook",
    "https://evil.example/hook",
    "http://merchant.example/",
  ])("derives nothing from the target %j", (target) => {
    const code = judged({ ...withFields('sig1=("content-digest" "@target-uri")'), target }).code;
    expect(code).toBe("component_value_invalid");
  });

  it("derives nothing from a host that is not known", () => {
    const request = { ...withFields('sig1=("content-digest" "@authority")'), authority: "" };
    expect(judged(request).code).toBe("component_value_invalid");
  });

  it("compares components whatever the order of their parameters", () => {
    const list =
      '("content-digest";key="sha-256" "content-digest";sf;key="sha-256" "content-digest";key="sha-256";sf)';
    expect(judged(withFields(`sig1=${list}`)).code).toBe("duplicate_component");
  });
});

describe("warnings of a signature that is valid", () => {
  const request = signed();
  const rewritten = (name: string, rewrite: (value: string) => string): HttpRequest => ({
    ...request,
    headers: request.headers.map(([key, value]) => [key, key === name ? rewrite(value) : value]),
  });

  it.each<[string, HttpRequest, string]>([
    [
      "base64 without padding",
      rewritten("Signature", (text) => text.replace("==:", ":")),
      "non_canonical_base64",
    ],
    [
      "parameters on Signature",
      rewritten("Signature", (text) => `${text};a=":"`),
      "signature_has_parameters",
    ],
    [
      "spaces",
      rewritten("Signature-Input", (text) => text.replace(" ", "   ")),
      "non_canonical_signature_input",
    ],
    [
      "an unknown parameter",
      signed(UNSIGNED, COVERED, { created: NOW, "x-trace": "a  b" }),
      "unknown_signature_param",
    ],
  ])("%s", (_, changed, warning) => {
    expect(judged(changed)).toMatchObject({ code: "ok", warnings: [warning] });
  });

  it("do not appear for space around members, or for members on lines of their own", () => {
    const [head, input, signature] = [request.headers.slice(0, 5), ...request.headers.slice(5)];
    const lines: HeaderLine[] = [
      ["signature-input", `  other=("@method")\t,\t${input?.[1]}  `],
      ["SIGNATURE", "other=:AAAA:"],
      ["signature", signature?.[1] ?? ""],
    ];
    expect(judged({ ...request, headers: [...head, ...lines] })).toMatchObject({
      code: "ok",
      warnings: ["multiple_signatures"],
    });
  });
});

describe("keys", () => {
  const jwk = { ...KEYS.publicKey.export({ format: "jwk" }), kid: "k" };
  const other = {
    ...OTHER_KEYS.publicKey.export({ format: "jwk" }),
  };
  const set = (...keys: object[]) => JSON.stringify({ keys });
  const elliptic = generateKeyPairSync("ec", { namedCurve: "P-256" }).publicKey.export({ format: "jwk" });
  const repeats = (count: number) => Array.from({ length: count }, (_, at) => ({ ...other, kid: `o${at}` }));
  /** Another exponent makes another key. */
  const others = (count: number, kid?: string) =>
    repeats(count).map((key, at) => ({
      ...key,
      e: Buffer.from([2 * at + 3]).toString("base64url"),
      ...(kid === undefined ? {} : { kid }),
    }));

  it.each<[string, string, string]>([
    ["a set that has the key", set({ ...other, kid: "o" }, jwk), "ok"],
    ["a set that does not", set({ ...jwk, kid: "a" }, { ...jwk, kid: "b" }), "key_not_found"],
    ["one key of another id", JSON.stringify({ ...jwk, kid: "other" }), "key_not_found"],
    ["two keys of the id, of which the first signed", set(jwk, { ...other, kid: "k" }), "ok"],
    ["two keys of the id, of which the second signed", set({ ...other, kid: "k" }, jwk), "ok"],
    ["two keys of the id, of which neither signed", set(...others(2, "k")), "signature_invalid"],
    ["the same key twice", set(jwk, { ...jwk, use: "sig" }), "ok"],
    ["a key for encryption", set({ ...jwk, use: "enc" }), "key_unusable"],
    ["a key that may only sign", set({ ...jwk, key_ops: ["sign"] }), "key_unusable"],
    ["a key that may verify", set({ ...jwk, use: "sig", key_ops: ["verify"], alg: "RS256" }), "ok"],
    ["a key for RS512", set({ ...jwk, alg: "RS512" }), "alg_key_mismatch"],
    ["an elliptic key", set({ ...elliptic, kid: "k" }), "key_type_mismatch"],
    ["an elliptic key beside it", set({ ...elliptic, kid: "e" }, jwk), "ok"],
    [
      "an entry that cannot be read beside it",
      set({ kty: "XYZ", kid: "x" }, { kty: "oct", k: "YQ" }, jwk),
      "ok",
    ],
    ["another key under the id", set({ ...other, kid: "k" }), "signature_invalid"],
    ["an even exponent", set({ ...jwk, e: "AAAC" }), "weak_key"],
    ["an exponent of 1", set({ ...jwk, e: "AQ" }), "weak_key"],
    ["an exponent of 65 bits", set({ ...jwk, e: "AQAAAAAAAAAB" }), "weak_key"],
  ])("%s", (_, text, code) => {
    expect(verify(signed(), { ...OPTIONS, keys: keysOf(text) }).code).toBe(code);
  });

  it("finds nothing where no key is configured", () => {
    expect(verify(signed(), { ...OPTIONS, keys: [] }).code).toBe("key_not_found");
  });

  const weak = generateKeyPairSync("rsa", { modulusLength: 1024 }).publicKey.export({ format: "jwk" });
  it.each<[string, string, string]>([
    ["one key with an id", JSON.stringify(jwk), "ok"],
    ["the last of eight", set(...others(7), jwk), "ok"],
    ["the ninth", set(...others(8), jwk), "signature_invalid"],
    ["the last of ten, of which nine are one key", set(...repeats(9), jwk), "ok"],
    [
      "the last of eight that are usable",
      set({ ...other, use: "enc" }, elliptic, weak, ...others(7), jwk),
      "ok",
    ],
    ["none of two", set(...others(2)), "signature_invalid"],
    ["no usable key", set({ ...other, use: "enc" }, elliptic), "key_type_mismatch"],
    ["keys for encryption alone", set({ ...jwk, use: "enc" }, { ...other, use: "enc" }), "key_unusable"],
    ["weak keys alone", set(weak, weak), "weak_key"],
  ])("without a keyid, signed by %s", (_, text, code) => {
    const request = signed(UNSIGNED, COVERED, { created: NOW });
    expect(verify(request, { ...OPTIONS, keys: keysOf(text) }).code).toBe(code);
  });

  it.each<[string, string, string]>([
    ["without ids are all tried", set(other, { ...jwk, kid: undefined }), "ok"],
    ["of the id that cannot be meant are left aside", set({ ...elliptic, kid: "k" }, jwk), "ok"],
    ["of the id for encryption are left aside", set({ ...other, kid: "k", use: "enc" }, jwk), "ok"],
    ["of other ids are never tried", set({ ...jwk, kid: "a" }, { ...other, kid: "k" }), "signature_invalid"],
    [
      "without ids are not tried beside one with an id",
      set({ ...jwk, kid: undefined }, ...others(1)),
      "key_not_found",
    ],
  ])("with a keyid, keys %s", (_, text, code) => {
    expect(verify(signed(), { ...OPTIONS, keys: keysOf(text) }).code).toBe(code);
  });

  it("says which key verified", () => {
    const request = signed(UNSIGNED, COVERED, { created: NOW });
    const thumbprint = OPTIONS.keys[0]?.thumbprint;
    const found = (text: string) => {
      const verdict = verify(request, { ...OPTIONS, keys: keysOf(text) });
      const checks = checksOf({ verdict, request, now: NOW });
      return [verdict.key, checks.find(({ check }) => check === "signature-value")?.detail];
    };
    expect(found(set({ ...other, kid: "o" }, jwk))).toEqual([
      { keyid: "k", number: 2, bits: 2048, thumbprint },
      "rsa-v1_5-sha256 verifies with key k",
    ]);
    expect(found(set(other, { ...jwk, kid: undefined }))).toEqual([
      { keyid: null, number: 2, bits: 2048, thumbprint },
      "rsa-v1_5-sha256 verifies with configured key 2, which has no id",
    ]);
  });

  it("warns of the dates of a certificate", () => {
    const [key] = OPTIONS.keys.map((plain) => ({ ...plain, validity: { from: NOW - 10, to: NOW + 10 } }));
    const at = (now: number) => verify(signed(), { ...OPTIONS, now, keys: key ? [key] : [] });
    const expired = { code: "ok", warnings: ["certificate_expired"] };
    const current = { code: "ok", warnings: [] };
    const verdicts = [NOW - 11, NOW - 10, NOW + 10, NOW + 11].map(at);
    expect(verdicts).toMatchObject([expired, current, current, expired]);
  });

  it("warns of an exponent of 3", () => {
    const pair = generateKeyPairSync("rsa", { modulusLength: 2048, publicExponent: 3 });
    const keys = keysOf(pair.publicKey.export({ type: "pkcs1", format: "pem" }));
    const verdict = verify(signed(), { ...OPTIONS, keys });
    expect(verdict).toMatchObject({ code: "signature_invalid", warnings: ["weak_exponent"] });
  });
});
