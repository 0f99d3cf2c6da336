/** `check` against real apps: a proper one passes, and each with a classic fault is caught by the names of its cases. */
import { createPublicKey, generateKeyPairSync } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { createSender } from "../../src/http/send.ts";
import { checkEndpoint } from "../../src/webhooks/endpoint-check.ts";
import { ENDPOINT_CASES } from "../../src/webhooks/endpoint-cases.ts";
import { FAULTS, startEndpoint, type Fault } from "../support/endpoints.ts";
import { temporaryHome } from "../support/home.ts";
import { runPaylink } from "../support/paylink.ts";

const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
const PUBLIC_PEM = createPublicKey(privateKey).export({ type: "spki", format: "pem" }).toString();

async function failures(url: string): Promise<string[]> {
  const sender = createSender({
    httpsProxy: undefined,
    noProxy: undefined,
    nodeVersion: process.versions.node,
  });
  onTestFinished(() => sender.close());
  const failed: string[] = [];
  const parts = {
    url: new URL(url),
    key: { keyid: "k", key: privateKey },
    send: sender.send,
    now: () => new Date(),
    newId: () => crypto.randomUUID(),
    signal: new AbortController().signal,
  };
  for await (const result of checkEndpoint(parts)) {
    if ("unreachable" in result) throw new Error(result.unreachable);
    if (!result.ok) failed.push(result.name);
  }
  return failed;
}

const CAUGHT: Readonly<Record<Fault, readonly string[]>> = {
  "parses before verifying": ["exact-bytes"],
  "ignores the digest": ["body", "digest", "digest-malformed", "digest-algorithm", "digest-second", "replay"],
  "ignores coverage": ["coverage", "coverage-empty"],
  "no age check": ["created", "created-future", "expired"],
  "trusts the message's algorithm": ["algorithm"],
  "takes the first of two headers": ["digest-duplicate", "label-duplicate", "content-type-duplicate"],
};

describe("an endpoint", () => {
  it("that is proper passes every case", async () => {
    expect(await failures(await startEndpoint(PUBLIC_PEM))).toEqual([]);
  });

  it.each(FAULTS)("that %s is caught", async (fault) => {
    expect(await failures(await startEndpoint(PUBLIC_PEM, fault))).toEqual(CAUGHT[fault]);
  });

  it("that falls over refuses nothing", async () => {
    const server = createServer((_, outgoing) => outgoing.writeHead(500).end());
    onTestFinished(() => void server.close());
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const failed = await failures(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    expect(failed).toEqual(ENDPOINT_CASES.map(({ name }) => name));
  });
});

describe("paylink check", () => {
  function keyFile(home: string): string {
    const path = join(home, "key.pem");
    writeFileSync(path, privateKey.export({ type: "pkcs8", format: "pem" }));
    return path;
  }

  it("passes a proper endpoint, and writes both reports", async () => {
    const home = temporaryHome();
    const url = await startEndpoint(PUBLIC_PEM);
    const junit = join(home, "report.xml");
    const args = ["check", url, "--key", keyFile(home), "--tap", "--junit", junit];
    const { code, stdout, stderr } = await runPaylink(args, { home });
    expect(stderr).toContain(`${ENDPOINT_CASES.length} cases, all as they must be.`);
    expect(code).toBe(0);
    const lines = stdout.trim().split("\n");
    expect(lines.slice(0, 3)).toEqual(["TAP version 14", `1..${ENDPOINT_CASES.length}`, "ok 1 - approved"]);
    expect(readFileSync(junit, "utf8")).toContain(`tests="${ENDPOINT_CASES.length}" failures="0"`);
  });

  it("names what failed, as TAP, JUnit XML and JSON", async () => {
    const home = temporaryHome();
    const url = await startEndpoint(PUBLIC_PEM, "ignores coverage");
    const junit = join(home, "report.xml");
    const key = keyFile(home);
    const tap = await runPaylink(["check", url, "--key", key, "--tap", "--junit", junit], { home });
    expect(tap.code).toBe(7);
    expect(tap.stdout).toMatch(
      /not ok \d+ - coverage\n {2}---\n {2}sent: ".*"\n {2}answered: "200"\n {2}expected: "refused \(4xx\)"\n {2}why: ".*"\n {2}\.\.\.\n/,
    );
    expect(tap.stderr).toContain(`2 of ${ENDPOINT_CASES.length} cases failed: coverage, coverage-empty.`);
    const xml = readFileSync(junit, "utf8");
    expect(xml).toContain('failures="2"');
    expect(xml).toContain('name="coverage">\n      <failure message="answered 200, where 4xx is due">');
    const json = await runPaylink(["check", url, "--key", key, "--json"], { home });
    expect(json.code).toBe(7);
    expect(JSON.parse(json.stdout)).toMatchObject({ url, failed: 2, passed: ENDPOINT_CASES.length - 2 });
    expect(JSON.parse(json.stderr)).toMatchObject({
      error: { code: "check_failed", details: { failed: ["coverage", "coverage-empty"] } },
    });
  });

  it("says that refusals prove nothing where nothing genuine is taken", async () => {
    const home = temporaryHome();
    const url = await startEndpoint(PUBLIC_PEM);
    const { code, stdout, stderr } = await runPaylink(["check", url], { home });
    expect(code).toBe(7);
    expect(stdout).toContain("answered  401, where 2xx is due: it must be taken");
    expect(stderr).toContain("refusals prove nothing");
  });

  it.each([
    ["http://shop.example/hook", 2, "not on this machine"],
    ["shop.example", 2, "absolute http or https URL"],
    ["http://127.0.0.1:1/", 5, "Nothing was checked"],
  ])("does not check %s", async (url, exit, words) => {
    const { code, stderr } = await runPaylink(["check", url], { home: temporaryHome() });
    expect(code).toBe(exit);
    expect(stderr).toContain(words);
  });
});
