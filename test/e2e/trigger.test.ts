/** `trigger` with the real binary: what it sends is what the service would send, or tampered with in the way it says. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parseRequest } from "../../src/http/raw-request.ts";
import { TAMPERINGS } from "../../src/webhooks/tamperings.ts";
import { sampleRecord, LINK_KINDS, OUTCOMES } from "../../src/webhooks/sample-record.ts";
import { signedWebhook } from "../../src/webhooks/sample-webhook.ts";
import { breachesOf, readRecord } from "../../src/domain/transaction.ts";
import { stringifyJson } from "../../src/domain/json.ts";
import { examine } from "../../src/receiver/captured.ts";
import { DEFAULT_POLICY } from "../../src/signatures/policy.ts";
import { OPTIONS, PAIR } from "../signatures/signed.ts";
import { temporaryHome } from "../support/home.ts";
import { readyUrl, runPaylink, startPaylink } from "../support/paylink.ts";
import { CODES } from "../support/tampering-codes.ts";

const source = { newId: () => crypto.randomUUID(), now: () => new Date() };

describe("a sample", () => {
  it.each(OUTCOMES.flatMap((outcome) => LINK_KINDS.map((link) => [outcome, link] as const)))(
    "%s, %s: breaks no rule of the specification",
    (outcome, link) => {
      expect(breachesOf(sampleRecord({ outcome, link }, source))).toEqual([]);
    },
  );

  it("has the decimals of its currency, and the reference of its link", () => {
    const record = (currency: string) =>
      sampleRecord({ outcome: "approved", link: "reusable", currency }, source);
    expect(record("JPY").amountTrans.toString()).toBe("10");
    expect(record("KWD").amountTrans.toString()).toBe("10.000");
    expect(record("EUR").reference).toMatch(/^INV-1001-[A-Z0-9]{9}$/);
  });
});

describe("each tampering", () => {
  const now = new Date();
  const sender = {
    url: new URL("http://127.0.0.1:4000/hook?a=b"),
    key: { keyid: "k", key: PAIR.privateKey },
    created: Math.floor(now.getTime() / 1000),
  };
  const body = Buffer.from(stringifyJson(sampleRecord({ outcome: "approved", link: "one-time" }, source)));
  const judged = (request: Parameters<typeof examine>[0]) =>
    examine(request, { keys: OPTIONS.keys, policy: DEFAULT_POLICY, now, maxBody: 1024 * 1024 });

  it("leaves an untouched webhook valid", () => {
    expect(judged(signedWebhook(body, sender)).verdict.code).toBe("ok");
  });

  it.each(
    TAMPERINGS.filter(({ kind }) => kind !== "authentic").map(({ name, tamper }) => [name, tamper] as const),
  )("%s is refused for what it is", (name, tamper) => {
    expect(judged(tamper(body, sender)).verdict.code).toBe(CODES[name]);
  });

  it.each(
    TAMPERINGS.filter(({ kind }) => kind === "authentic").map(({ name, tamper }) => [name, tamper] as const),
  )("%s is authentic, and breaks the specification", (_, tamper) => {
    const { verdict, breaches } = judged(tamper(body, sender));
    expect(verdict.code).toBe("ok");
    expect(breaches).not.toEqual([]);
  });
});

describe("paylink trigger", () => {
  it("is taken by listen, a tampered one is rejected, and verify explains both as they were kept", async () => {
    const home = temporaryHome();
    const sandbox = startPaylink(["sandbox", "--port", "0", "--json"], { home });
    await readyUrl(sandbox);
    const listen = startPaylink(["listen", "--port", "0", "--json"], { home });
    const to = await readyUrl(listen);
    const good = await runPaylink(["trigger", "declined", "--to", to, "--times", "2", "--json"], { home });
    expect(good.code).toBe(0);
    const lines = good.stdout.trim().split("\n");
    expect(lines.map((line): unknown => JSON.parse(line))).toMatchObject([{ status: 200 }, { status: 200 }]);
    await listen.until(/"repeated":true/);
    const bad = await runPaylink(["trigger", "approved", "--to", to, "--tamper", "key"], { home });
    expect(bad.code).toBe(0);
    expect(bad.stdout).toMatch(/^401 /);
    const [, rejected = ""] = await listen.until(/"type":"rejected","id":"([^"]+)".*signature_invalid/);
    const [, uti = ""] = await listen.until(/"uti":"([^"]+)"/);
    await listen.stop();
    const verified = await runPaylink(["verify", "--event", uti.slice(0, 12), "--json"], { home });
    expect(verified.code).toBe(0);
    expect(JSON.parse(verified.stdout)).toMatchObject({ code: "ok", record: { uti } });
    const refused = await runPaylink(["verify", "--event", rejected, "--json"], { home });
    expect(refused.code).toBe(7);
    expect(JSON.parse(refused.stdout)).toMatchObject({ code: "signature_invalid" });
    const nothing = await runPaylink(["verify", "--event", "no-such-event"], { home });
    expect(nothing.stderr).toContain("No event begins with no-such-event.");
  });

  it("prints the very bytes, which verify takes", async () => {
    const home = temporaryHome();
    writeFileSync(join(home, "private.pem"), PAIR.privateKey.export({ type: "pkcs8", format: "pem" }));
    writeFileSync(join(home, "public.pem"), PAIR.publicKey.export({ type: "spki", format: "pem" }));
    const dry = [
      "trigger",
      "approved",
      "--key",
      join(home, "private.pem"),
      "--dry-run",
      "--link",
      "reusable",
    ];
    const fields = [
      "--amount",
      "12.50",
      "--currency",
      "gbp",
      "--reference",
      "ORDER",
      "--set",
      "cardScheme=AMEX",
      "--set",
      "merchantStoreId=42",
      "--set",
      "cvmPinVerified=true",
    ];
    const { stdout } = await runPaylink([...dry, ...fields], { home });
    const request = parseRequest(Buffer.from(stdout));
    expect(request?.headers.map(([name]) => name)).toEqual([
      "Host",
      "Accept",
      "Content-Type",
      "Content-Digest",
      "Content-Length",
      "Signature-Input",
      "Signature",
    ]);
    expect(Buffer.from(stdout).subarray(-(request?.body.length ?? 0))).toEqual(request?.body);
    const { record } = readRecord(request?.body ?? new Uint8Array());
    expect(stringifyJson(record)).toContain('"amountTrans":12.50');
    expect(record).toMatchObject({ transCurrencyCode: "GBP", cardScheme: "AMEX", cvmPinVerified: true });
    expect(stringifyJson(record)).toContain('"merchantStoreId":42');
    expect(record?.["reference"]).toMatch(/^ORDER-[A-Z0-9]{9}$/);
    for (const json of [[], ["--json"]]) {
      const capture = await runPaylink([...dry, ...json], { home });
      const verified = await runPaylink(["verify", "--key", join(home, "public.pem")], {
        home,
        input: capture.stdout,
      });
      expect(verified.code).toBe(0);
    }
  });

  it("makes another payment for each of --count", async () => {
    const { stdout } = await runPaylink(["trigger", "cancelled", "--dry-run", "--json", "--count", "3"], {
      home: temporaryHome(),
    });
    const bodies = stdout
      .trim()
      .split("\n")
      .map((line) => {
        const { bodyBase64 }: { bodyBase64: string } = JSON.parse(line);
        return readRecord(Buffer.from(bodyBase64, "base64")).record?.["uti"];
      });
    expect(new Set(bodies).size).toBe(3);
  });

  it("warns of a field that breaks the specification, and sends it all the same", async () => {
    const { code, stdout, stderr } = await runPaylink(
      ["trigger", "approved", "--dry-run", "--set", "status=Pending"],
      { home: temporaryHome() },
    );
    expect(code).toBe(0);
    expect(stdout).toContain('"status":"Pending"');
    expect(stderr).toContain('status must be "Complete"');
  });

  it.each<[string[], string]>([
    [["--set", "cardShceme=X"], "did you mean cardScheme?"],
    [["--set", "transApproved=yes"], "must be true or false"],
    [["--set", "amountTrans=ten"], "must be a number"],
    [["--set", "cardScheme"], "must be a field and its value"],
    [["--tamper", "signatre"], "did you mean signature?"],
    [["--to", "https://shop.example/hook"], "is not on this machine; add --allow-remote"],
    [["--to", "localhost"], "must be an absolute http or https URL"],
    [["--amount", "1,50"], "must be a plain decimal"],
    [["--amount", "1.50", "--currency", "JPY"], "must have no decimals in JPY"],
    [["--currency", "EURO"], "must be a three-letter currency code"],
    [["--count", "0"], "must be a whole number from 1"],
    [["--rate", "fast"], "must be a number a second"],
  ])("refuses %j", async (args, words) => {
    const { code, stdout, stderr } = await runPaylink(["trigger", "approved", ...args], {
      home: temporaryHome(),
    });
    expect(stderr).toContain(words);
    expect(stderr).toMatch(/Try: paylink trigger approved\n$/);
    expect(stdout).toBe("");
    expect(code).toBe(2);
  });

  it("says where nothing answers, and refuses a key that cannot sign", async () => {
    const home = temporaryHome();
    const nobody = await runPaylink(["trigger", "approved", "--to", "http://127.0.0.1:1/"], { home });
    expect(nobody.code).toBe(5);
    expect(nobody.stderr).toContain("Nothing was sent.");
    writeFileSync(join(home, "public.pem"), PAIR.publicKey.export({ type: "spki", format: "pem" }));
    const key = await runPaylink(["trigger", "approved", "--key", join(home, "public.pem")], { home });
    expect(key.code).toBe(2);
    expect(key.stderr).toContain("No private key can be read");
  });
});
