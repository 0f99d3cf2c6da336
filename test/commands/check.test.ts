/** `paylink check`, in process: its options, its reports and its exit codes. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { endpointCases } from "../../src/check/cases.ts";
import { runCommand } from "../support/context.ts";
import { startEndpoint } from "../support/endpoints.ts";
import { temporaryHome } from "../support/home.ts";
import { freePort } from "../support/ports.ts";
import { KEYS } from "../support/keys.ts";

const PUBLIC_PEM = KEYS.publicPem;

/** A key file has no id. */
const ENDPOINT_CASES = endpointCases(undefined, false);

function keyFile(home: string): string {
  const path = join(home, "key.pem");
  writeFileSync(path, KEYS.privatePem);
  return path;
}

it("passes a proper endpoint, and writes both reports", async () => {
  const home = temporaryHome();
  const url = await startEndpoint(PUBLIC_PEM);
  const junit = join(home, "report.xml");
  const args = ["check", url, "--sign-with", keyFile(home), "--tap", "--junit", junit];
  const { exit, stdout, stderr } = await runCommand(args, { home });
  expect(stderr).toContain(`All ${ENDPOINT_CASES.length} cases passed.`);
  expect(exit).toBe(0);
  const lines = stdout.trim().split("\n");
  expect(lines.slice(0, 3)).toEqual(["TAP version 14", `1..${ENDPOINT_CASES.length}`, "ok 1 - approved"]);
  expect(readFileSync(junit, "utf8")).toContain(`tests="${ENDPOINT_CASES.length}" failures="0"`);
});

it("names what failed, as TAP, JUnit XML and JSON", async () => {
  const home = temporaryHome();
  const url = await startEndpoint(PUBLIC_PEM, "ignores coverage");
  const junit = join(home, "report.xml");
  const key = keyFile(home);
  const tap = await runCommand(["check", url, "--sign-with", key, "--tap", "--junit", junit], { home });
  expect(tap.exit).toBe(7);
  expect(tap.stdout).toMatch(
    /not ok \d+ - coverage\n {2}---\n {2}message: "The endpoint received a webhook whose signature does not cover Content-Digest, and so not the body, and answered 200\. It must refuse it with 4xx\."\n {2}why: ".*"\n {2}\.\.\.\n/,
  );
  expect(tap.stderr).toContain(`2 of ${ENDPOINT_CASES.length} cases failed: coverage, coverage-empty.`);
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

it("says that refusals prove nothing if no genuine webhook is accepted", async () => {
  const home = temporaryHome();
  const url = await startEndpoint(PUBLIC_PEM);
  const { exit, stdout, stderr } = await runCommand(["check", url], { home });
  expect(exit).toBe(7);
  expect(stdout).toContain("and answered 401. It must accept it with 2xx.");
  expect(stderr).toContain("refusals prove nothing");
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
  const args = ["check", url, "--sign-with", keyFile(home), "--junit", junit, "--json"];
  const { exit, stderr } = await runCommand(args, { home });
  expect(exit).toBe(2);
  expect(JSON.parse(stderr)).toMatchObject({
    error: { code: "file_unwritable", message: expect.stringContaining(junit) },
  });
});

it("fails an endpoint that insists on derived components, and says what the real service signs", async () => {
  const home = temporaryHome();
  const url = await startEndpoint(PUBLIC_PEM, "insists on derived components");
  const args = ["check", url, "--sign-with", keyFile(home)];
  const { exit, stdout, stderr } = await runCommand(args, { home });
  expect(exit).toBe(7);
  expect(stdout).toContain(
    "The endpoint received a webhook whose signature covers header fields only, and answered 401. It must accept it with 2xx.",
  );
  expect(stdout).toContain("The real service signs nothing but header fields");
  expect(stderr).toContain("accepts only signatures that cover @method and @target-uri");
  const derived = await runCommand([...args, "--cover", '("@target-uri" "content-digest")'], { home });
  expect(derived.exit).toBe(0);
});

it("warns of an endpoint that refuses derived components, and passes it", async () => {
  const home = temporaryHome();
  const url = await startEndpoint(PUBLIC_PEM, "knows header fields only");
  const junit = join(home, "report.xml");
  const args = ["check", url, "--sign-with", keyFile(home)];
  const { exit, stdout, stderr } = await runCommand([...args, "--junit", junit], { home });
  expect(exit).toBe(0);
  expect(stdout).toMatch(/^! derived +not accepted, 401$/m);
  expect(stdout).toContain("It should accept it with 2xx.");
  expect(stderr).toContain(
    `All ${ENDPOINT_CASES.length - 2} required cases passed. Warnings: derived, derived-no-created.`,
  );
  expect(readFileSync(junit, "utf8")).toContain('failures="0" errors="0" skipped="2"');
  const tap = await runCommand([...args, "--tap"], { home });
  expect(tap.stdout).toMatch(/^not ok \d+ - derived # TODO not required$/m);
  const json = await runCommand([...args, "--json"], { home });
  expect(JSON.parse(json.stdout)).toMatchObject({
    failed: 0,
    warnings: 2,
    cases: expect.arrayContaining([expect.objectContaining({ name: "derived", ok: false, required: false })]),
  });
});

it.each([
  ["@metod content-digest", "did you mean @method"],
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

it("takes an address in every form of --forward-to, and exits 5 where nothing answers", async () => {
  const home = temporaryHome();
  const port = await freePort();
  for (const address of [port, `${port}/hook`, `localhost:${port}/hook`]) {
    const { exit, stderr } = await runCommand(["check", address, "--sign-with", keyFile(home)], { home });
    expect(exit).toBe(5);
    expect(stderr).toContain(`Nothing answers at http://localhost:${port}/`);
  }
});
