/** `check` against real apps: a proper one passes, and each with a classic fault is caught by the names of its cases. */
import { createServer } from "node:http";
import { describe, expect, it, onTestFinished } from "vitest";
import { createSender } from "../../src/http/send.ts";
import { type CaseResult, runChecks } from "../../src/check/endpoint.ts";
import { endpointCases } from "../../src/check/cases.ts";
import { type CoveredComponents, DERIVED_COVER, SERVICE_COVER } from "../../src/signatures/cover.ts";
import { type Fault, FAULTS, startEndpoint } from "../support/endpoints.ts";
import { KEYS } from "../support/keys.ts";
import { listenOnFreePort } from "../support/ports.ts";

const { privateKey, publicPem: PUBLIC_PEM } = KEYS;

async function results(url: string, cover?: CoveredComponents): Promise<CaseResult[]> {
  const sender = createSender({
    httpsProxy: undefined,
    noProxy: undefined,
    userAgent: "paylink/0.0.0",
  });
  onTestFinished(() => sender.close());
  const found: CaseResult[] = [];
  const parts = {
    url: new URL(url),
    key: { keyid: "k", key: privateKey },
    cover,
    send: sender.send,
    now: () => new Date(),
    newId: () => crypto.randomUUID(),
    signal: new AbortController().signal,
  };
  for await (const result of runChecks(parts)) {
    if ("unreachable" in result) throw new Error(result.unreachable.reason);
    found.push(result);
  }
  return found;
}

/** The names of the cases that were not answered as expected, warnings in brackets. */
async function failures(url: string, cover?: CoveredComponents): Promise<string[]> {
  const wrong = (await results(url, cover)).filter(({ ok }) => !ok);
  return wrong.map(({ name, required }) => (required ? name : `(${name})`));
}

/** The cases that send genuine webhooks under header-only cover. */
const HEADER_ONLY = endpointCases(undefined, true).filter(
  ({ expects, required }) => expects === "accepted" && required,
);
const DERIVED = ["derived", "derived-no-created", "derived-no-keyid", "derived-bare"];

const CAUGHT: Readonly<Record<Fault, readonly string[]>> = {
  "parses before verifying": ["exact-bytes"],
  "ignores the digest": ["body", "digest", "digest-malformed", "digest-algorithm", "digest-second", "replay"],
  "ignores coverage": ["coverage", "coverage-empty"],
  "no age check": ["created", "created-future", "expired"],
  "trusts the message's algorithm": ["algorithm"],
  "takes the first of two headers": ["digest-duplicate", "label-duplicate", "content-type-duplicate"],
  "insists on derived components": HEADER_ONLY.map(({ name }) => name),
  "insists on created": ["headers-no-created", "headers-bare", "(derived-no-created)", "(derived-bare)"],
  "insists on a keyid": ["headers-no-keyid", "headers-bare", "(derived-no-keyid)", "(derived-bare)"],
  "knows header fields only": DERIVED.map((name) => `(${name})`),
};

describe("an endpoint", () => {
  it("that is proper passes every case", async () => {
    expect(await failures(await startEndpoint(PUBLIC_PEM))).toEqual([]);
  });

  it.each(FAULTS)("that %s is caught", async (fault) => {
    expect(await failures(await startEndpoint(PUBLIC_PEM, fault))).toEqual(CAUGHT[fault]);
  });

  it("that crashes has refused nothing", async () => {
    const server = createServer((_, outgoing) => outgoing.writeHead(500).end());
    const failed = await failures(`http://127.0.0.1:${await listenOnFreePort(server)}/`);
    expect(failed).toEqual(
      endpointCases(undefined, true)
        // To a PUT, which the service never sends, an error is enough.
        .filter(({ name }) => name !== "method")
        .map(({ name, required }) => (required ? name : `(${name})`)),
    );
  });
});

describe("one cover", () => {
  const names = (cover: CoveredComponents): string[] => endpointCases(cover, true).map(({ name }) => name);

  it("is all that an endpoint is held to", async () => {
    const insisting = await startEndpoint(PUBLIC_PEM, "insists on derived components");
    expect(await failures(insisting, DERIVED_COVER)).toEqual([]);
    const headersOnly = await startEndpoint(PUBLIC_PEM, "knows header fields only");
    expect(await failures(headersOnly, SERVICE_COVER)).toEqual([]);
    expect(await failures(headersOnly, DERIVED_COVER)).toContain("approved");
    expect(await failures(headersOnly, DERIVED_COVER)).toContain("cover-bare");
  });

  it("leaves out what cannot be detected under it", () => {
    const undetected = ["target", "method", "content-type", "content-type-duplicate"];
    expect(names(["content-digest"]).filter((name) => undetected.includes(name))).toEqual([]);
    expect(names(["content-digest", "@path"])).toContain("target");
    expect(names(["content-digest", "@path"])).not.toContain("method");
    expect(names(DERIVED_COVER)).toEqual(expect.arrayContaining(undetected));
    expect(names(SERVICE_COVER)).not.toContain("target");
  });

  it("of a key without an id is sent with and without created alone", () => {
    const sent = endpointCases(["content-digest"], false).map(({ name }) => name);
    expect(sent.filter((name) => /^cover($|-)/.test(name))).toEqual(["cover", "cover-no-created"]);
  });
});
