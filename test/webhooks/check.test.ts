/** `check` against real apps: a proper one passes, and each with a classic fault is caught by the names of its cases. */
import { createPublicKey, generateKeyPairSync } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { createSender } from "../../src/http/send.ts";
import { checkEndpoint } from "../../src/webhooks/endpoint-check.ts";
import { ENDPOINT_CASES } from "../../src/webhooks/endpoint-cases.ts";
import { FAULTS, startEndpoint, type Fault } from "../support/endpoints.ts";

const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
const PUBLIC_PEM = createPublicKey(privateKey).export({ type: "spki", format: "pem" }).toString();

async function failures(url: string): Promise<string[]> {
  const sender = createSender({
    httpsProxy: undefined,
    noProxy: undefined,
    nodeVersion: process.versions.node,
    userAgent: "paylink/0.0.0",
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
