/** The work on bytes that nobody has signed: at most some steps for each of them, whatever they are. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { HeaderLine, HttpRequest } from "../../src/http/message.ts";
import { contentDigest } from "../../src/signatures/digest.ts";
import { refuseHead } from "../../src/receiver/admit.ts";
import { MAX_CALLBACK } from "../../src/receiver/judge.ts";
import { DEFAULT_POLICY } from "../../src/signatures/policy.ts";
import { NOW, OPTIONS, UNSIGNED } from "../signatures/signed.ts";
import { useCounted } from "../support/steps.ts";

const { modules, stepsOf } = useCounted(async () => ({
  ...(await import("../../src/values/parse-json.ts")),
  ...(await import("../../src/domain/transaction.ts")),
  ...(await import("../../src/receiver/judge.ts")),
  ...(await import("../../src/signatures/explain/causes.ts")),
}));

/** Steps for each byte, and for each message besides. */
const BYTE = 10;
const MESSAGE = 5_000;

const requestOf = (headers: readonly HeaderLine[], body = "{}", target = "/"): HttpRequest => ({
  ...UNSIGNED,
  target,
  headers,
  body: Buffer.from(body),
});

const lengthOf = ({ target, headers, body }: HttpRequest): number =>
  target.length + headers.flat().join().length + body.length;

const judged = (request: HttpRequest) =>
  modules().judge(request, { keys: OPTIONS.keys, policy: DEFAULT_POLICY, now: new Date(NOW * 1000) });

function expectLinear(length: number, run: () => unknown): void {
  expect(stepsOf(run)).toBeLessThan(BYTE * length + MESSAGE);
}

describe("a body without a signature", () => {
  const times = (text: string, count: number): string => text.repeat(Math.floor(count));
  const nested = (inner: string, open = "[", close = "]"): string =>
    `${open.repeat(120)}${inner}${close.repeat(120)}`;
  const length = MAX_CALLBACK - 1000;

  it.each([
    ["one member over and over, deep inside", nested(`{${times('"":1,', length / 5)}"":1}`)],
    [
      "many members twice, deep inside",
      nested(Array.from({ length: length / 30 }, (_, at) => `{"n${at}":1,"n${at}":1}`).join(",")),
    ],
    ["repeats with long paths", nested(`{${times('"":1,', 500)}"":1}`, `{"${"x".repeat(80)}":`, "}")],
    ["integers as names", `{${Array.from({ length: length / 13 }, (_, at) => `"${at * 65_537}":1`).join()}}`],
    ["nothing but escapes", `"${times("\\u0041", length / 6)}`],
    ["a number without an end", times("9", length)],
    ["a form of many fields", times("id=&amount=&%41=&", length / 18)],
    ["brackets that never close", times("[", length)],
  ])("%s", (_name, body) => {
    const request = requestOf([], body);
    expect(request.body.length).toBeLessThanOrEqual(MAX_CALLBACK);
    expectLinear(lengthOf(request), () => judged(request));
    expectLinear(body.length, () => modules().readRecord(request.body));
  });

  it("costs little, however deep, long or repetitive its JSON is", () => {
    const name = fc.constantFrom("", "a", "\\u0041", "__proto__", "x".repeat(50));
    const level = fc.record({ name: fc.option(name), around: fc.integer({ min: 0, max: 6 }) });
    fc.assert(
      fc.property(
        fc.array(level, { maxLength: 120 }),
        fc.array(name, { minLength: 1, maxLength: 4 }),
        fc.integer({ min: 1, max: 400 }),
        (levels, names, count) => {
          const members = Array.from({ length: count }, (_, at) => `"${names[at % names.length]}":1`);
          const text = levels.reduce((inner, { name: outer, around }) => {
            const before = outer === null ? "1,".repeat(around) : `"${outer}":1,`.repeat(around);
            return outer === null ? `[${before}${inner}]` : `{${before}"${outer}":${inner}}`;
          }, `{${members.join()}}`);
          expect(modules().parseJson(text).ok).toBe(true);
          expectLinear(text.length, () => modules().parseJson(text));
        },
      ),
      { numRuns: 50 },
    );
  });
});

describe("a head with a malformed signature", () => {
  const sixty = Array.from({ length: 60 }, (_, at) => `b${at}`);
  const signedBy = (components: readonly string[], digest: string, target = "/"): HttpRequest =>
    requestOf(
      [
        ["Host", "merchant.example"],
        ["Content-Type", "application/json"],
        ["Content-Digest", digest],
        ["Signature-Input", `sig1=(${['"content-digest"', ...components].join(" ")});created=${NOW}`],
        ["Signature", `sig1=:${Buffer.alloc(256, 7).toString("base64")}:`],
      ],
      "{}",
      target,
    );
  const digest = contentDigest(Buffer.from("{}"));
  const forged: readonly [name: string, request: HttpRequest][] = [
    [
      "covers many parameters of a long query",
      signedBy(
        sixty.map((name) => `"@query-param";name="${name}"`),
        digest,
        `/?${sixty.map((name) => `${name}=1`).join("&")}&${"a=&".repeat(2000)}`,
      ),
    ],
    [
      "covers many members of a long Content-Digest",
      signedBy(
        sixty.map((name) => `"content-digest";key="${name}"`),
        `${sixty.map((name) => `${name}=:AA==:`).join()},${"c=:AA==:,".repeat(700)}c`,
      ),
    ],
    [
      "has parameters without an end",
      requestOf([
        ["Signature-Input", `sig1=("content-digest")${';a="\\""'.repeat(1000)}`],
        ["Signature", "sig1=:AAAA:"],
      ]),
    ],
    [
      "has labels without an end",
      requestOf([
        ["Signature-Input", Array.from({ length: 900 }, (_, at) => `s${at}=()`).join()],
        ["Signature", Array.from({ length: 900 }, (_, at) => `s${at}=:A:`).join()],
      ]),
    ],
  ];

  it.each(forged)("%s", (_name, request) => {
    expect(judged(request).verdict.verdict).toBe("invalid");
    expectLinear(lengthOf(request), () => judged(request));
  });

  it("is refused by its head alone where a field is longer than any that a service sends", () => {
    const long = "a".repeat(9000);
    for (const name of ["Signature-Input", "Signature", "Content-Digest"])
      expect(refuseHead(requestOf([[name, long]]), ["/"])?.code).toBe("limit_exceeded");
  });

  /** People ask for it, one request at a time. */
  it.each(forged)("%s, and is explained in a bounded number of tries", (_name, request) => {
    const named = Array.from({ length: 200 }, (_, at): HeaderLine => ["X-Forwarded-Host", `h${at}.example`]);
    const suspicious = { ...request, headers: [...request.headers, ...named] };
    const options = { keys: OPTIONS.keys, policy: DEFAULT_POLICY, now: NOW };
    const { verdict } = judged(suspicious);
    const TRIES = 400;
    expect(stepsOf(() => modules().failureCauses(suspicious, options, verdict))).toBeLessThan(
      TRIES * (BYTE * lengthOf(suspicious) + MESSAGE),
    );
  });
});
