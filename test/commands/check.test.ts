/** `paylink check`, in process: its options, reports and exit codes, and which cases catch which classic fault of an endpoint. */
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { endpointCases } from "../../src/check/cases.ts";
import type { CaseResult } from "../../src/check/endpoint.ts";
import { TAMPERINGS } from "../../src/sender/tamperings.ts";
import { SendTimeout } from "../../src/http/exchange.ts";
import { type CoveredComponents, DERIVED_COVER, SERVICE_COVER } from "../../src/signatures/cover.ts";
import { runCommand } from "../support/context.ts";
import { type Fault, FAULTS, startEndpoint } from "../support/endpoints.ts";
import { temporaryHome } from "../support/home.ts";
import { freePort, listenOnFreePort } from "../support/ports.ts";
import { workOnOrder } from "../support/slow-order.ts";
import { KEYS, privateKeyFile } from "../support/keys.ts";

const PUBLIC_PEM = KEYS.publicPem;

const casesOf = (cover: CoveredComponents | undefined, hasKeyid: boolean) =>
  endpointCases({ cover, hasKeyid, knowsOrders: false });

/** A key file has no id. */
const ENDPOINT_CASES = casesOf(undefined, false);

it("passes a correct endpoint, and writes a report", async () => {
  const home = temporaryHome();
  const url = await startEndpoint(PUBLIC_PEM);
  const junit = join(home, "report.xml");
  const args = ["check", url, "--sign-with", privateKeyFile(home), "--junit", junit];
  const { exit, stdout, stderr } = await runCommand(args, { home });
  expect(stdout).toBe(`✓ all ${ENDPOINT_CASES.length} cases passed\n`);
  expect(stderr.replace(/\s+/g, " ")).toMatch(
    /Not examined: what your application books, and whether twice \(--books <command>, which prints it\); whether .* \(--orders <file>, with --books\)\. $/,
  );
  expect(exit).toBe(0);
  expect(readFileSync(junit, "utf8")).toContain(`tests="${ENDPOINT_CASES.length}" failures="0"`);
});

it("names what failed, as JUnit XML and JSON, with a command that sends it again", async () => {
  const home = temporaryHome();
  const url = await startEndpoint(PUBLIC_PEM, "ignores coverage");
  const junit = join(home, "report.xml");
  const key = privateKeyFile(home);
  const shown = await runCommand(["check", url, "--sign-with", key, "--junit", junit], { home });
  expect(shown.exit).toBe(7);
  expect(shown.stdout).toContain(
    "The endpoint received a webhook whose signature does not cover Content-Digest, and so not the body, and answered 200. It must refuse it with 4xx.",
  );
  expect(shown.stderr).toContain(`2 of ${ENDPOINT_CASES.length} cases failed: coverage, coverage-empty.`);
  const [, words = ""] = /again: paylink (trigger .*)/.exec(shown.stderr.replace(/\s+/g, " ")) ?? [];
  const again = await runCommand(words.trim().split(" "), { home });
  expect(again.exit).toBe(7);
  expect(again.stderr).toContain("accepted a webhook whose signature does not cover Content-Digest");
  const xml = readFileSync(junit, "utf8");
  expect(xml).toContain('failures="2"');
  expect(xml).toContain(
    'name="coverage">\n      <failure message="The endpoint received a webhook whose signature',
  );
  const json = await runCommand(["check", url, "--sign-with", key, "--json"], { home });
  expect(json.exit).toBe(7);
  expect(JSON.parse(json.stdout)).toMatchObject({ url, failed: 2, passed: ENDPOINT_CASES.length - 2 });
  expect(JSON.parse(json.stderr)).toMatchObject({
    error: { code: "check_failed", details: { failed: ["coverage", "coverage-empty"] } },
  });
});

it("lists each case with --debug", async () => {
  const home = temporaryHome();
  const url = await startEndpoint(PUBLIC_PEM);
  const { stdout } = await runCommand(["check", url, "--sign-with", privateKeyFile(home), "--debug"], {
    home,
  });
  const lines = stdout.trim().split("\n");
  expect(lines).toHaveLength(ENDPOINT_CASES.length);
  expect(lines[0]).toMatch(/^✓ approved +accepted, 200$/);
});

it("names the one cause if no genuine webhook is accepted, in place of all cases", async () => {
  const home = temporaryHome();
  const url = await startEndpoint(PUBLIC_PEM);
  const { exit, stdout, stderr } = await runCommand(["check", url], { home });
  expect(exit).toBe(7);
  expect(stdout).toMatch(/^✗ none of \d+ genuine cases was accepted: 401 \(\d+ times\)\n$/);
  expect(stderr).toContain("refusals prove nothing");
  expect(stderr.replace(/\s+/g, " ")).toContain(
    "Does it verify with this key? paylink config get webhookKey -p sandbox To send a genuine webhook again: paylink trigger approved --to",
  );
});

it("says that an endpoint believes everything", async () => {
  const { exit, stderr } = await runCommand([
    "check",
    await startDying(...Array.from({ length: 200 }, () => 200)),
  ]);
  expect(exit).toBe(7);
  expect(stderr.replace(/\s+/g, " ")).toContain("It accepts forged webhooks too: it does not verify");
  const page = createServer((incoming, outgoing) => {
    incoming.resume();
    outgoing.end("<!DOCTYPE html><html><title>Log in</title></html>");
  });
  const shown = await runCommand(["check", `http://127.0.0.1:${await listenOnFreePort(page)}/`]);
  expect(shown.stderr.replace(/\s+/g, " ")).toContain(
    "It answers every webhook with a page, such as a login",
  );
});

it("tells whether an endpoint fails before it verifies, or afterwards", async () => {
  const causeAt = async (genuine: number, forged: number): Promise<string> => {
    const home = temporaryHome();
    const url = await startEndpoint(PUBLIC_PEM, undefined, { 200: genuine, 401: forged });
    const { stderr } = await runCommand(["check", url, "--sign-with", privateKeyFile(home)], { home });
    return stderr.replace(/\s+/g, " ");
  };
  expect(await causeAt(500, 500)).toContain(
    "before it has verified. The commonest reasons: the body is parsed",
  );
  expect(await causeAt(500, 401)).toContain("so after it has verified, such as where it books");
  expect(await causeAt(409, 409)).toContain("so before it verifies them: its log says why");
  expect(await causeAt(409, 401)).toContain("so after it has verified them: its log says why");
});

it("writes a report that XML allows, whatever the endpoint answers", async () => {
  const home = temporaryHome();
  const junit = join(home, "report.xml");
  const server = createServer((incoming, outgoing) => {
    incoming.resume();
    outgoing.writeHead(500).end("a\u0000b\uffffc\ufffed\u001b<&>");
  });
  const url = `http://127.0.0.1:${await listenOnFreePort(server)}/`;
  await runCommand(["check", url, "--junit", junit], { home });
  const xml = readFileSync(junit, "utf8");
  expect(xml).toContain("&lt;&amp;&gt;");
  expect(xml).toMatch(/^[\t\n\r -\ud7ff\ue000-\ufffd]*$/);
});

/** Answers each request with the next status; without one, it dies. */
async function startDying(...statuses: readonly number[]): Promise<string> {
  const left = [...statuses];
  const server = createServer((incoming, outgoing) => {
    incoming.resume();
    const status = left.shift();
    if (status !== undefined) return outgoing.writeHead(status).end();
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${await listenOnFreePort(server)}/`;
}

it("fails the case in which an endpoint crashes, with a report", async () => {
  const home = temporaryHome();
  const junit = join(home, "report.xml");
  const url = await startDying(200, 200, 200);
  const { exit, stdout, stderr } = await runCommand(["check", url, "--junit", junit], { home });
  expect(exit).toBe(7);
  expect(stdout).toMatch(/✗ partial +not accepted, no answer: /);
  expect(stderr.replace(/\s+/g, " ")).toMatch(
    /cases failed: partial, reusable\. Then the endpoint stopped answering \(connection refused\), and \d+ cases were not tried\./,
  );
  expect(readFileSync(junit, "utf8")).toContain('tests="5" failures="2"');
});

it("stops after a few webhooks without an answer in time, and says what was not checked", async () => {
  let posted = 0;
  const { exit, stdout, stderr } = await runCommand(["check", "http://127.0.0.1:1/hangs"], {
    send: () => {
      posted += 1;
      return Promise.reject(new SendTimeout("no answer within 10 s", true));
    },
  });
  expect(exit).toBe(7);
  expect(posted).toBeLessThan(8);
  expect(stdout).toContain("no answer");
  // Only genuine webhooks were posted.
  expect(stdout + stderr).not.toContain("tampered");
  expect(stderr).toContain("The endpoint accepts no genuine webhook");
  expect(stderr.replace(/\s+/g, " ")).toMatch(
    /The endpoint does not answer \(.+\), and \d+ cases were not tried\. .* The sandbox waits 10 seconds; how long the service waits is not documented\. Without an answer, it sends the webhook again/,
  );
});

it("tries every case at an endpoint that is late with single webhooks", async () => {
  let posted = 0;
  const { exit, stderr } = await runCommand(["check", "http://127.0.0.1:1/slow"], {
    send: () => {
      posted += 1;
      return posted % 3 === 0
        ? Promise.reject(new SendTimeout("no answer within 10 s", true))
        : Promise.resolve({ status: 200, headers: [], body: new Uint8Array() });
    },
  });
  expect(exit).toBe(7);
  expect(stderr).not.toContain("not tried");
});

it("says once that nothing is at the path", async () => {
  const url = await startDying(...Array.from({ length: 200 }, () => 404));
  const { exit, stdout, stderr } = await runCommand(["check", url]);
  expect(exit).toBe(7);
  expect(stdout).toMatch(/^✗ none of \d+ genuine cases was accepted: 404 \(\d+ times\)\n$/);
  expect(stderr).toContain("It serves nothing at this path");
});

it("explains one case of each kind, and names the others", async () => {
  const url = await startDying(404, 404, ...Array.from({ length: 200 }, () => 200));
  const { stdout } = await runCommand(["check", url]);
  expect(stdout.trim().split("\n")[0]).toMatch(/^✗ approved +not accepted, 404$/);
  expect(stdout).toMatch(/^ {4}likewise: declined$/m);
  expect(stdout).toMatch(/^ {4}likewise: body-and-digest, .* and \d+ more \(--debug lists them\)$/m);
  expect(stdout).toMatch(/^✓ \d+ of \d+ cases passed$/m);
});

/** Accepts the first copy of a webhook, and refuses those that come before it is done with that. */
async function startBusy(): Promise<string> {
  const working = new Set<string>();
  const server = createServer((incoming, outgoing) => {
    const chunks: Buffer[] = [];
    incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
    incoming.on("end", () => {
      const body = Buffer.concat(chunks).toString();
      if (working.has(body)) return outgoing.writeHead(409).end();
      working.add(body);
      void workOnOrder().then(() => {
        working.delete(body);
        outgoing.writeHead(200).end();
      });
    });
  });
  return `http://127.0.0.1:${await listenOnFreePort(server)}/`;
}

it("only warns if one of several simultaneous copies is accepted", async () => {
  const { stdout } = await runCommand(["check", await startBusy(), "--json"]);
  const { cases } = JSON.parse(stdout) as { readonly cases: readonly CaseResult[] };
  expect(cases.filter(({ name }) => name === "concurrent" || name === "storm")).toMatchObject([
    { ok: false, required: false, answered: "200 (5 times), 409 (20 times)" },
    { ok: false, required: false, answered: "200 (5 times), 409 (5 times)" },
  ]);
});

it("does not claim that a failing endpoint has accepted a forged webhook", async () => {
  const url = await startDying(...Array.from({ length: 200 }, (_, at) => (at < 20 ? 200 : 500)));
  const { stdout } = await runCommand(["check", url, "--debug"]);
  expect(stdout).toContain("✗ unsigned");
  expect(stdout).not.toContain("Anyone could invent a payment.");
});

it.each([
  ["http://shop.example/hook", 2, "not on this machine"],
  ["ftp://shop.example", 2, "must be a port, a path"],
  ["http://127.0.0.1:1/", 5, "Nothing was checked"],
])("does not check %s", async (url, code, words) => {
  const { exit, stderr } = await runCommand(["check", url]);
  expect(exit).toBe(code);
  expect(stderr).toContain(words);
});

it("names the report that cannot be written", async () => {
  const home = temporaryHome();
  const url = await startEndpoint(PUBLIC_PEM);
  const junit = join(home, "missing", "report.xml");
  const args = ["check", url, "--sign-with", privateKeyFile(home), "--junit", junit, "--json"];
  const { exit, stderr } = await runCommand(args, { home });
  expect(exit).toBe(2);
  expect(JSON.parse(stderr)).toMatchObject({
    error: { code: "file_unwritable", message: expect.stringContaining(junit) },
  });
});

it("fails an endpoint that insists on derived components, and says what the real service signs", async () => {
  const home = temporaryHome();
  const url = await startEndpoint(PUBLIC_PEM, "insists on derived components");
  const args = ["check", url, "--sign-with", privateKeyFile(home)];
  const { exit, stdout, stderr } = await runCommand(args, { home });
  expect(exit).toBe(7);
  expect(stdout).toMatch(/^✗ none of \d+ genuine cases was accepted/);
  expect(stderr.replace(/\s+/g, " ")).toContain(
    "It accepts a webhook whose signature covers @method and @target-uri too, and no other: the real service signs header fields only",
  );
  const derived = await runCommand([...args, "--cover", '("@target-uri" "content-digest")'], { home });
  expect(derived.exit).toBe(0);
});

it("warns of an endpoint that refuses derived components, and passes it", async () => {
  const home = temporaryHome();
  const url = await startEndpoint(PUBLIC_PEM, "knows header fields only");
  const junit = join(home, "report.xml");
  const args = ["check", url, "--sign-with", privateKeyFile(home)];
  const { exit, stdout } = await runCommand([...args, "--junit", junit], { home });
  expect(exit).toBe(0);
  expect(stdout).toMatch(/^! derived +not accepted, 401$/m);
  expect(stdout).toContain("It should accept it with 2xx.");
  expect(stdout).toContain("    likewise: derived-no-created\n");
  expect(stdout).toContain(`${ENDPOINT_CASES.length - 2} of ${ENDPOINT_CASES.length} cases passed`);
  expect(readFileSync(junit, "utf8")).toContain('failures="0" errors="0" skipped="2"');
  const json = await runCommand([...args, "--json"], { home });
  expect(JSON.parse(json.stdout)).toMatchObject({
    failed: 0,
    warnings: 2,
    cases: expect.arrayContaining([expect.objectContaining({ name: "derived", ok: false, required: false })]),
  });
});

it.each([
  ["@metod content-digest", "did you mean @method content-digest?"],
  ["content-digest x-request-id", "names x-request-id, which webhooks do not have"],
  ["content-digest;req", "content-digest;req has one"],
  ["content-digest;bs", "must be names without parameters"],
  ["content-digest;sf", "must be names without parameters"],
  ["@method", "must include content-digest"],
  ["content-digest Content-Digest", "names content-digest twice"],
  ["content-digest @status", "names @status"],
])("refuses the cover %s", async (cover, words) => {
  const { exit, stderr } = await runCommand(["check", "http://127.0.0.1:1/", "--cover", cover]);
  expect(exit).toBe(2);
  expect(stderr.replace(/\s+/g, " ")).toContain(words);
});

it("takes an address in every form of --forward-to, and exits 5 if nothing answers", async () => {
  const home = temporaryHome();
  const port = await freePort();
  for (const address of [port, `${port}/hook`, `localhost:${port}/hook`]) {
    const { exit, stderr } = await runCommand(["check", address, "--sign-with", privateKeyFile(home)], {
      home,
    });
    expect(exit).toBe(5);
    expect(stderr).toContain(`Nothing answers at http://localhost:${port}/`);
  }
});

/** The names of the cases that were not answered as expected, warnings in brackets; the key has an id. */
async function failures(url: string, cover?: CoveredComponents): Promise<string[]> {
  const home = temporaryHome();
  const key = join(home, "key.json");
  writeFileSync(key, JSON.stringify({ ...KEYS.privateKey.export({ format: "jwk" }), kid: "k" }));
  const flags = cover === undefined ? [] : ["--cover", cover.join(" ")];
  const { stdout } = await runCommand(["check", url, "--sign-with", key, "--json", ...flags], { home });
  const { cases } = JSON.parse(stdout) as { readonly cases: readonly CaseResult[] };
  return cases.filter(({ ok }) => !ok).map(({ name, required }) => (required ? name : `(${name})`));
}

/** The cases that send genuine webhooks under header-only cover. */
const HEADER_ONLY = casesOf(undefined, true).filter(
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
  it.each(FAULTS)("that %s is caught", async (fault) => {
    expect(await failures(await startEndpoint(PUBLIC_PEM, fault))).toEqual(CAUGHT[fault]);
  });

  it("that crashes does not count as one that refuses", async () => {
    const failed = await failures(await startDying(...Array.from({ length: 100 }, () => 500)));
    expect(failed).toEqual(
      casesOf(undefined, true)
        // To a PUT, which the service never sends, an error is enough.
        .filter(({ name }) => name !== "method")
        .map(({ name, required }) => (required ? name : `(${name})`)),
    );
  });
});

describe("one cover", () => {
  it("is the only one that an endpoint must accept", async () => {
    const insisting = await startEndpoint(PUBLIC_PEM, "insists on derived components");
    expect(await failures(insisting, DERIVED_COVER)).toEqual([]);
    const headersOnly = await startEndpoint(PUBLIC_PEM, "knows header fields only");
    expect(await failures(headersOnly, SERVICE_COVER)).toEqual([]);
    expect(await failures(headersOnly, DERIVED_COVER)).toContain("approved");
    expect(await failures(headersOnly, DERIVED_COVER)).toContain("cover-bare");
  });

  it.each<[CoveredComponents, string[]]>([
    [["content-digest"], ["target", "method", "content-type", "content-type-duplicate"]],
    [
      ["content-digest", "@path"],
      ["method", "content-type", "content-type-duplicate"],
    ],
    [SERVICE_COVER, ["target", "method"]],
    [DERIVED_COVER, []],
  ])("leaves out what cannot be detected under %j", (cover, undetected) => {
    const sent = new Set(casesOf(cover, true).map(({ name }) => name));
    expect(TAMPERINGS.map(({ name }) => name).filter((name) => !sent.has(name))).toEqual(undetected);
  });

  it("for a key without an id is sent with and without created, and never without keyid", () => {
    const sent = casesOf(["content-digest"], false).map(({ name }) => name);
    expect(sent.filter((name) => /^cover($|-)/.test(name))).toEqual(["cover", "cover-no-created"]);
  });
});
