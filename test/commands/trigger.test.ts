/** `paylink trigger`, in process: its options, what it sends, and how `listen` and `verify` judge it. */
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { stringifyJson } from "../../src/values/json.ts";
import { readRecord } from "../../src/domain/transaction.ts";
import { parseRequest } from "../../src/http/capture.ts";
import { startListenCommand, startSandboxCommand } from "../support/background-command.ts";
import { runCommand } from "../support/context.ts";
import { temporaryHome } from "../support/home.ts";
import { keyFile, KEYS, privateKeyFile } from "../support/keys.ts";
import { listenOnFreePort } from "../support/ports.ts";

describe("paylink trigger", () => {
  it("is accepted by listen, rejected if tampered with, and verify explains both as stored", async () => {
    const home = temporaryHome();
    await startSandboxCommand(home);
    const listen = await startListenCommand(home);
    const to = listen.url;
    const good = await runCommand(["trigger", "declined", "--to", to, "--count", "2", "--json"], { home });
    expect(good.exit).toBe(0);
    const lines = good.stdout.trim().split("\n");
    expect(lines.map((line): unknown => JSON.parse(line))).toMatchObject([{ status: 200 }, { status: 200 }]);
    const bad = await runCommand(["trigger", "approved", "--to", to, "--tamper", "key"], { home });
    expect(bad.exit).toBe(0);
    expect(bad.stdout).toMatch(/^401 \d+ ms /);
    // A refusal is what must happen: it needs no advice.
    expect(bad.stdout).not.toContain("Does it verify with this key");
    const [, rejected = ""] = await listen.until(/"type":"rejected","id":"([^"]+)".*signature_invalid/);
    const [, uti = ""] = await listen.until(/"uti":"([^"]+)"/);
    await listen.stop();
    const verified = await runCommand(["verify", "--event", uti.slice(0, 12), "--json"], { home });
    expect(verified.exit).toBe(0);
    expect(JSON.parse(verified.stdout)).toMatchObject({ code: "ok", record: { uti } });
    const refused = await runCommand(["verify", "--event", rejected, "--json"], { home });
    expect(refused.exit).toBe(7);
    expect(JSON.parse(refused.stdout)).toMatchObject({ code: "signature_invalid" });
    const nothing = await runCommand(["verify", "--event", "no-such-event"], { home });
    expect(nothing.stderr).toContain("No event has the uti, id or order number no-such-event.");
  });

  it("prints the exact bytes, which verify accepts", async () => {
    const home = temporaryHome();
    const dry = ["trigger", "approved", "--sign-with", privateKeyFile(home), "--dry-run"];
    const payment = "--link reusable --amount 12.50 --currency gbp --reference ORDER".split(" ");
    const set = ["cardScheme=AMEX", "merchantStoreId=42", "cvmPinVerified=true"];
    const fields = [...payment, ...set.flatMap((field) => ["--set", field])];
    const { stdout } = await runCommand([...dry, ...fields], { home });
    const request = await parseRequest(Buffer.from(stdout));
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
      const capture = await runCommand([...dry, ...json], { home });
      const verified = await runCommand(["verify", "--key", keyFile(home)], {
        home,
        stdin: capture.stdout,
      });
      expect(verified.exit).toBe(0);
    }
  });

  const signatureInput = async (...flags: string[]): Promise<string> => {
    const { exit, stdout, stderr } = await runCommand(["trigger", "approved", "--dry-run", ...flags]);
    expect({ exit, stderr }).toEqual({ exit: 0, stderr: "" });
    return /^Signature-Input: (.*)\r$/m.exec(stdout)?.[1] ?? "";
  };

  it("signs what the real service signs, or what --cover and --no-created say", async () => {
    expect(await signatureInput()).toMatch(
      /^sig1=\("content-digest" "content-length" "content-type"\);created=\d+;/,
    );
    const flags = ["--cover", '"@Method", content-digest', "--no-created"];
    expect(await signatureInput(...flags)).toMatch(/^sig1=\("@method" "content-digest"\);keyid=/);
  });

  it("covers derived components if only they reveal the tampering", async () => {
    expect(await signatureInput("--tamper", "target")).toContain('"@target-uri"');
    expect(await signatureInput("--tamper", "body")).not.toContain('"@target-uri"');
    expect(await signatureInput("--tamper", "target", "--cover", "content-digest @path")).toContain(
      '("content-digest" "@path")',
    );
    const blind = ["--tamper", "target", "--cover", "content-digest"];
    const { exit, stderr } = await runCommand(["trigger", "approved", "--dry-run", ...blind]);
    expect(exit).toBe(2);
    expect(stderr.replace(/\s+/g, " ")).toContain("--tamper target cannot be detected");
  });

  it("warns of a field that breaks the specification, and sends it anyway", async () => {
    const args = ["trigger", "approved", "--dry-run", "--set", "status=Pending"];
    const { exit, stdout, stderr } = await runCommand(args);
    expect(exit).toBe(0);
    expect(stdout).toContain('"status":"Pending"');
    expect(stderr).toContain('status must be "Complete"');
  });

  it("posts to the profile's callback only if that is on this machine", async () => {
    const env = { PAYLINK_CALLBACK_URL: "https://shop.example/hook" };
    const remote = await runCommand(["trigger", "approved", "--dry-run", "--json"], { env });
    expect(JSON.parse(remote.stdout)).toMatchObject({ url: "http://127.0.0.1:4000/" });
    const local = { PAYLINK_CALLBACK_URL: "http://127.0.0.1:3000/hook" };
    const { stdout } = await runCommand(["trigger", "approved", "--dry-run", "--json"], { env: local });
    expect(JSON.parse(stdout)).toMatchObject({ url: "http://127.0.0.1:3000/hook" });
  });

  it.each([
    [
      "a page, a line below the other",
      "text/html",
      "<title>Error</title><pre>Error: no stock<br> &nbsp; at shop.mjs:41</pre>",
      /^500 \d+ ms .*\n {2}Error: no stock\n {2}at shop\.mjs:41\n/,
    ],
    [
      "long JSON, wherever its message stands",
      "application/json",
      JSON.stringify({ trace: "x".repeat(600), message: "no stock" }),
      /^500 \d+ ms .*\n {2}no stock\n/,
    ],
  ])("shows what %s, says", async (_, type, body, shown) => {
    const home = temporaryHome();
    const key = privateKeyFile(home);
    const port = await listenOnFreePort(
      createServer((_, response) => {
        response.writeHead(500, { "Content-Type": type }).end(body);
      }),
    );
    const { exit, stdout } = await runCommand(
      ["trigger", "approved", "--sign-with", key, "--to", `${port}/hook`],
      { home },
    );
    expect(exit).toBe(4);
    expect(stdout).toMatch(shown);
  });

  it("reports an endpoint that does not answer, and refuses a key that cannot sign", async () => {
    const home = temporaryHome();
    const nobody = await runCommand(["trigger", "approved", "--to", "http://127.0.0.1:1/"], { home });
    expect(nobody.exit).toBe(5);
    expect(nobody.stderr).toContain("Nothing answers at http://127.0.0.1:1/: connection refused.\n");
    expect(nobody.stderr).toContain("Nothing was sent.");
    writeFileSync(join(home, "public.pem"), KEYS.publicPem);
    const key = await runCommand(["trigger", "approved", "--sign-with", join(home, "public.pem")], { home });
    expect(key.exit).toBe(2);
    expect(key.stderr).toContain("cannot be used to sign: ");
  });
});
