/** `paylink verify`, in process: every form of a capture, its options and its output. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { NOW, signed, UNSIGNED } from "../signatures/signed.ts";
import { runCommand } from "../support/context.ts";
import { temporaryHome } from "../support/home.ts";
import { vectorFile, type WebhookCase } from "../support/vectors.ts";
import { formatRequest } from "../../src/http/capture.ts";
import { KEYS, OTHER_KEYS, privateKeyFile } from "../support/keys.ts";
import { record, webhook } from "../support/webhooks.ts";
import { DERIVED_COVER } from "../../src/signatures/cover.ts";

const positive = vectorFile<{ vectors: WebhookCase[] }>("webhook-positive").vectors;
const negative = vectorFile<{ cases: (WebhookCase & { raw_base64?: string })[] }>("webhook-negative").cases;
const [model] = positive;
if (model === undefined) throw new Error("there are no vectors");

const KEY = model.context.public_key_pem ?? "";
const AT = String(model.context.now);

/** Verifies what stands on standard input, as `--json`. */
async function verified(
  input: string | Uint8Array,
  ...args: string[]
): Promise<{ exit: number; document: Record<string, unknown>; stderr: string }> {
  const command = ["verify", "--at", AT, "--json", ...args];
  const env = { PAYLINK_WEBHOOK_KEY: KEY };
  const { exit, stdout, stderr } = await runCommand(command, { stdin: input, env });
  const document: Record<string, unknown> = stdout === "" ? {} : JSON.parse(stdout);
  return { exit, document, stderr };
}

it("uses the path of --public-url for a path that a proxy maps it to", async () => {
  const publicUrl = "https://shop.example/hooks/paylink?shop=1";
  const {
    headers: lines,
    body: bytes,
    method: sent,
  } = webhook(publicUrl, record(), { cover: DERIVED_COVER });
  const verifiedAt = async (path: string, ...flags: string[]) => {
    const capture = formatRequest({ method: sent, target: `${path}?shop=1`, headers: lines, body: bytes });
    const args = ["verify", "--json", "--public-url", publicUrl, ...flags];
    const env = { PAYLINK_WEBHOOK_KEY: KEYS.publicPem };
    const { stdout } = await runCommand(args, { stdin: capture, env });
    return JSON.parse(stdout).code;
  };
  expect(await verifiedAt("/")).toBe("ok");
  expect(await verifiedAt("/in")).toBe("signature_invalid");
  expect(await verifiedAt("/in", "--path", "/in")).toBe("ok");
  expect(await verifiedAt("/other", "--path", "/in")).toBe("signature_invalid");
});

const { method, target, headers } = model.request;
const body = Buffer.from(model.request.body_base64 ?? "", "base64");
const RAW = Buffer.from(formatRequest({ method, target, headers, body }));
const URL_OF_MODEL = model.context.public_url;
/** The same, with a line such as `POST https://merchant.example/webhooks HTTP/2.0`. */
const IN_HTTP2 = Buffer.from(
  RAW.toString("latin1").replace(/^POST (\S+) HTTP\/1\.1/, `POST ${new URL(URL_OF_MODEL).origin}$1 HTTP/2.0`),
  "latin1",
);

describe("the forms of a capture", () => {
  const event = {
    type: "event",
    id: "1",
    method,
    url: URL_OF_MODEL,
    headers,
    bodyBase64: body.toString("base64"),
  };

  it.each<[string, string | Uint8Array, string[]]>([
    ["raw", RAW, ["--public-url", URL_OF_MODEL]],
    ["raw, with the URL that a tool writes for HTTP/2", IN_HTTP2, ["--public-url", URL_OF_MODEL]],
    ["a line of listen --json", `${JSON.stringify(event)}\n`, []],
    [
      "all lines of a run that received one",
      `{"type":"ready"}\n${JSON.stringify(event)}\n{"type":"summary"}\n`,
      [],
    ],
    ["what PowerShell has written", Buffer.from(`\uFEFF${JSON.stringify(event)}\r\n`, "utf16le"), []],
    [
      "the same with the other byte order",
      Buffer.from(`\uFEFF${JSON.stringify(event)}`, "utf16le").swap16(),
      [],
    ],
  ])("%s", async (_, input, args) => {
    const { exit, document } = await verified(input, ...args);
    expect(document).toMatchObject({ code: "ok", verdict: "valid", record: { transApproved: true } });
    expect(exit).toBe(0);
  });

  it("judges a line of listen --json as of its receipt", async () => {
    const receivedAt = new Date(model.context.now * 1000);
    const env = { PAYLINK_WEBHOOK_KEY: KEY };
    const stdin = JSON.stringify({ ...event, receivedAt });
    expect(await runCommand(["verify"], { stdin, env })).toMatchObject({ exit: 0 });
  });

  it("requires what the flags require of the signature", async () => {
    const codeOf = async (input: string | Uint8Array, ...flags: string[]) =>
      (await verified(input, "--public-url", URL_OF_MODEL, ...flags)).document["code"];
    expect(await codeOf(RAW, "--require", "@method", "--require-created")).toBe("ok");
    expect(await codeOf(RAW, "--require", "@query")).toBe("coverage_missing");
    const signing = ["--sign-with", privateKeyFile(temporaryHome())];
    const { stdout } = await runCommand(["trigger", "approved", "--dry-run", "--no-created", ...signing]);
    expect(await codeOf(stdout)).toBe("ok");
    expect(await codeOf(stdout, "--require-created")).toBe("created_missing");
  });

  it("reads scheme and host from Host if nothing else gives them", async () => {
    const { document } = await verified(RAW);
    expect(document).toMatchObject({
      code: "signature_invalid",
      hints: [{ variant: "scheme=https" }],
    });
    expect(document["signatureBase"]).toContain('"@target-uri": http://merchant.example/webhooks/paylink');
  });

  it.each(
    negative.flatMap(({ id, title, raw_base64, expected }) =>
      raw_base64 === undefined || title.includes("bare LF") ? [] : [{ id, title, raw_base64, expected }],
    ),
  )("$id: $title is accepted by no listener", async ({ raw_base64, expected }) => {
    const { exit, document } = await verified(Buffer.from(raw_base64, "base64"));
    expect(document).toMatchObject({ verdict: "invalid", code: expected.code });
    expect(exit).toBe(7);
  });

  it("explains an incomplete body", async () => {
    const newline = Buffer.concat([body, Buffer.from("\n")]);
    const lines = headers.map(([name, value]): [string, string] => [
      name,
      name === "Content-Length" ? String(newline.length) : value,
    ]);
    const { document } = await verified(formatRequest({ method, target, headers: lines, body }));
    expect(document).toMatchObject({
      code: "body_incomplete",
      checks: [{ check: "http", ok: false }],
      signatureBase: null,
    });
  });
});

describe("the JSON document", () => {
  it("has the members of the contract, in their order", async () => {
    const { document } = await verified(RAW, "--public-url", URL_OF_MODEL);
    expect(Object.keys(document)).toEqual([
      "verdict",
      "code",
      "outcome",
      "amount",
      "currency",
      "reference",
      "uti",
      "violations",
      "label",
      "keyid",
      "alg",
      "created",
      "covered",
      "checks",
      "warnings",
      "hints",
      "signatureBase",
      "record",
    ]);
    expect(document).toMatchObject({
      label: "sig1",
      keyid: "test-key-rsa",
      alg: "rsa-v1_5-sha256",
      created: 1700000000,
      covered: ["@method", "@target-uri", "content-digest", "content-type"],
      warnings: [],
      hints: [],
      signatureBase: model.signature_base,
      violations: [],
    });
  });

  it("is printed on stdout for a rejected webhook, and the failure on stderr", async () => {
    const { exit, stderr } = await verified(RAW, "--public-url", "https://other.example/");
    expect(exit).toBe(7);
    expect(JSON.parse(stderr)).toMatchObject({ error: { code: "signature_rejected" } });
  });
});

describe("for people", () => {
  it("shows each step, both digests, the base with its origins, the cause and the advice", async () => {
    const home = temporaryHome();
    writeFileSync(join(home, "key.pem"), KEY);
    const parsed: unknown = JSON.parse(body.toString("utf8"));
    const input = formatRequest({
      method,
      target,
      headers: headers.filter(([name]) => name !== "Content-Length"),
      body: Buffer.from(JSON.stringify(parsed, null, 2)),
    });
    const args = ["verify", "--key", join(home, "key.pem"), "--public-url", URL_OF_MODEL, "--at", AT];
    const { exit, stdout, stderr } = await runCommand(args, { home, stdin: input });
    expect(exit).toBe(7);
    expect(stdout).toContain(`INVALID  content_digest_mismatch  POST ${URL_OF_MODEL}`);
    expect(stdout).toContain("✓ signature-value");
    expect(stdout).toContain("✗ content-digest");
    expect(stdout).toContain("the field has sha-256=:WKLvPmxUpnhVIUyz0pQC/EFkZsS0pox3rFSyra1nCYw=:");
    expect(stdout).toMatch(/the body has sha-256=:\S+:\n/);
    for (const line of model.signature_base.split("\n")) expect(stdout).toContain(`  ${line}\n`);
    expect(stdout).toContain("(address from --public-url)");
    expect(stdout).toContain("body re-serialised");
    expect(stdout).toContain("Express: express.raw(");
    expect(stderr).toBe("✗ The webhook does not verify: content_digest_mismatch.\n");
  });

  it("escapes the message before it reaches the terminal", async () => {
    const input = JSON.stringify({
      method: "POST",
      url: "/\u001b]0;x\u0007",
      headers: [["Host", "\u202eh"]],
      bodyBase64: "",
    });
    const env = { PAYLINK_WEBHOOK_KEY: KEY };
    const { stdout, stderr } = await runCommand(["verify"], { stdin: input, env });
    for (const unsafe of ["\u001b", "\u0007", "\u202e"]) expect(stdout + stderr).not.toContain(unsafe);
    expect(stdout).toContain("unsigned");
  });
});

const WHOLE = JSON.stringify({ method: "POST", url: "/", headers: [], bodyBase64: "" });

describe("wrong use", () => {
  it.each<[string, string[], string, string]>([
    ["nothing", [], "", "stdin is empty"],
    ["neither HTTP nor JSON", [], "hello", "is neither a raw HTTP/1.1 request nor JSON"],
    ["several lines", [], '{"a":1}\n{"a":2}\n', "is not one line of JSON"],
    ["two webhooks", [], `${WHOLE}\n${WHOLE}\n`, "has 2 webhooks, and one is verified at a time"],
    ["a rejection", [], '{"type":"rejected","id":"1"}', "has no body"],
    ["no body", [], '{"method":"POST","url":"/","headers":[]}', "has no body"],
    ["milliseconds", ["--at", "1700000000000"], "x", "--at  must be in seconds"],
  ])("%s", async (_, args, input, words) => {
    const env = { PAYLINK_WEBHOOK_KEY: KEY };
    const { exit, stderr } = await runCommand(["verify", ...args], { stdin: input, env });
    expect(stderr).toContain(words);
    expect(exit).toBe(2);
  });

  it("without a key says how to give one", async () => {
    const { exit, stderr } = await runCommand(["verify"], { stdin: "x" });
    expect(exit).toBe(2);
    expect(stderr).toContain("--key");
  });

  it("with a file that is not there", async () => {
    const env = { PAYLINK_WEBHOOK_KEY: KEY };
    const { exit } = await runCommand(["verify", "nowhere.http"], { env });
    expect(exit).toBe(2);
  });
});

describe("several keys", () => {
  it("without ids are all tried", async () => {
    const home = temporaryHome();
    const mine = join(home, "mine.pem");
    writeFileSync(mine, KEYS.publicPem);
    writeFileSync(join(home, "key.pem"), OTHER_KEYS.publicPem);
    const input = formatRequest(signed(UNSIGNED));
    const address = ["--public-url", "https://merchant.example", "--at", String(NOW), "--json"];
    const both = ["verify", "--key", join(home, "key.pem"), "--key", mine, ...address];
    const { exit, stdout } = await runCommand(both, { home, stdin: input });
    const { code, checks } = JSON.parse(stdout);
    expect({ exit, code }).toEqual({ exit: 0, code: "ok" });
    expect(JSON.stringify(checks)).toContain("verifies with configured key 2, which has no id");
  });
});
