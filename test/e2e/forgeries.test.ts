/** `listen` against a signer that shares no code with it: the genuine webhook is accepted, its forged copies are not. */
import { describe, expect, it } from "vitest";
import { MEANINGS, type Reason } from "../../src/domain/reasons.ts";
import { temporaryHome } from "../support/home.ts";
import { jsonLines } from "../support/json-lines.ts";
import { readyUrl, startPaylink, type Running } from "../support/paylink.ts";
import { post } from "../support/post.ts";
import { approvedRecord, signedWebhook, type SignedWebhook } from "../support/signed-webhook.ts";
import { keyFile, otherKeys } from "../support/keys.ts";

async function startListener(): Promise<{ listen: Running; url: string }> {
  const home = temporaryHome();
  const listen = startPaylink(["listen", "--port", "0", "--json", "--key", keyFile(home)], {
    home,
  });
  return { listen, url: await readyUrl(listen) };
}

/** What the real service signs, and what others sign. */
const COVERS = [
  ["content-digest", "content-length", "content-type"],
  ["@method", "@target-uri", "content-digest", "content-type"],
];
const ADDRESS = ["@target-uri", "content-digest"];

describe("a webhook signed by an independent implementation", () => {
  it.each(COVERS.map((fields) => [fields]))("is accepted, and again as a repeat: %j", async (fields) => {
    const { listen, url } = await startListener();
    const { headers, body } = await signedWebhook({ url, fields });
    expect(await post(url, headers, body)).toEqual({ status: 200, body: "" });
    expect(await post(url, headers, body)).toEqual({ status: 200, body: "" });
    const [lines] = await listen.until(/(?:\{"type":"event".*\n){2}/);
    const [first, second] = lines
      .trim()
      .split("\n")
      .map((line): unknown => JSON.parse(line));
    expect(first).toMatchObject({
      repeated: false,
      verdict: { verdict: "valid", keyid: "service-key" },
      violations: [],
    });
    expect(second).toMatchObject({
      repeated: true,
      verdict: { warnings: expect.arrayContaining(["duplicate_delivery"]) },
    });
  });

  const forged = (
    change: Partial<SignedWebhook["headers"]>,
    { headers, body }: SignedWebhook,
  ): SignedWebhook => ({
    headers: { ...headers, ...change } as SignedWebhook["headers"],
    body,
  });

  const forgeries: [
    string,
    Reason,
    (
      genuine: SignedWebhook,
      url: string,
      fields: readonly string[],
    ) => SignedWebhook | Promise<SignedWebhook>,
  ][] = [
    [
      "another amount",
      "content_digest_mismatch",
      ({ headers, body }) => ({
        headers,
        body: Buffer.from(body.toString().replace('"amountTrans":10,', '"amountTrans":99,')),
      }),
    ],
    [
      "another content type",
      "signature_invalid",
      (genuine) => forged({ "Content-Type": "application/json" }, genuine),
    ],
    [
      "no signature at all",
      "unsigned",
      ({ headers, body }) => {
        const { Signature: _signature, "Signature-Input": _input, ...rest } = headers;
        return { headers: rest, body };
      },
    ],
    [
      "another key",
      "signature_invalid",
      (_, url, fields) => signedWebhook({ url, keys: otherKeys(), fields }),
    ],
    [
      "an old signature",
      "signature_too_old",
      (_, url, fields) => signedWebhook({ url, fields, created: new Date(Date.now() - 3_600_000) }),
    ],
    [
      "a signature from the future",
      "created_in_future",
      (_, url, fields) => signedWebhook({ url, fields, created: new Date(Date.now() + 600_000) }),
    ],
    [
      "a digest that is not covered",
      "coverage_missing",
      (_, url) => signedWebhook({ url, fields: ["@method", "content-type"] }),
    ],
    [
      "another address",
      "signature_invalid",
      () =>
        signedWebhook({ url: "https://merchant.example/hook", fields: ADDRESS }).then(({ headers, body }) => {
          const { Host: _host, ...rest } = headers;
          return { headers: rest, body };
        }),
    ],
  ];

  it.each(forgeries)("is refused with %s: %s", async (_, code, forge) => {
    const { listen, url } = await startListener();
    for (const fields of COVERS) {
      const { headers, body } = await forge(await signedWebhook({ url, fields }), url, fields);
      expect(await post(url, { ...headers, "Content-Length": String(body.length) }, body)).toEqual({
        status: 401,
        body: JSON.stringify({ status: 401, code, detail: MEANINGS[code] }),
      });
    }
    const { stdout } = await listen.stop();
    const rejected = jsonLines(stdout).filter(({ type }) => type === "rejected");
    expect(rejected.map((line) => line["code"])).toEqual(COVERS.map(() => code));
  });

  it("is accepted, with every violation shown, if its record breaks the specification", async () => {
    const { listen, url } = await startListener();
    const { status: _status, ...record } = approvedRecord();
    const { headers, body } = await signedWebhook({ url, record });
    expect((await post(url, headers, body)).status).toBe(200);
    const [line] = await listen.until(/\{"type":"event".*\n/);
    const event: unknown = JSON.parse(line);
    expect(event).toMatchObject({ violations: [{ code: "body_schema", path: "status" }] });
  });
});
