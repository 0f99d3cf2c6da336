/** `listen --expect … --json` as scripts use it: in a pipeline, its lines read as JSON and its exit code looked at. */
import { describe, expect, it } from "vitest";
import { temporaryHome } from "../support/home.ts";
import { startPaylink } from "../support/paylink.ts";
import { keyFile } from "../support/keys.ts";
import { forged, post, record, webhook } from "../support/webhooks.ts";

/** What a script does with each line: prints it in a few words. */
const READER = `
  const says = {
    ready: ({ url }) => url,
    event: ({ record, repeated }) => (repeated ? "again " : "") + (record.transApproved ? "approved " : "declined ") + record.reference,
    rejected: ({ code }) => code,
    summary: ({ received, verified, rejected }) => [received, verified, rejected].join(" "),
    ended: ({ code }) => code,
  };
  require("node:readline").createInterface(process.stdin).on("line", (line) => {
    const value = JSON.parse(line);
    console.log(value.type, says[value.type](value));
  });`;

/** The listener's exit code is a line like its others: the shell's own would be the reader's. */
const PIPELINE = `{ "$@"; printf '{"type":"ended","code":%d}\\n' $?; } | "$1" -e '${READER}'`;

interface Script {
  readonly url: string;
  readonly send: (changes?: Readonly<Record<string, unknown>>) => Promise<number>;
  readonly sendForged: () => Promise<number>;
  /** What the reader printed after the ready line, and the lines of stderr. */
  readonly ended: Promise<{ readonly said: string[]; readonly stderr: string[] }>;
}

async function script(...flags: string[]): Promise<Script> {
  const home = temporaryHome();
  const args = ["listen", "--port", "0", "--json", "--key", keyFile(home), ...flags];
  const running = startPaylink(args, { home, through: ["sh", "-c", PIPELINE, "sh"] });
  const [, url = ""] = await running.until(/^ready (\S+)\n/);
  return {
    url,
    send: (changes) => post(url, webhook(url, record(changes))),
    sendForged: () => post(url, forged(webhook(url, record()))),
    ended: running.ended.then(({ stdout, stderr }) => ({
      said: stdout.trim().split("\n").slice(1),
      stderr: stderr.trim().split("\n"),
    })),
  };
}

const EXPECTED = ["--expect", "approved:2", "--expect", "declined:1"];

const errorOf = (stderr: readonly string[]): unknown => JSON.parse(stderr.at(-1) ?? "");

describe("a script that waits for payments", () => {
  it("ends with 0 as soon as all of them have arrived, in any order", async () => {
    const { send, ended } = await script(...EXPECTED, "--timeout", "30s");
    await send({ reference: "A" });
    await send({ reference: "B", transApproved: false });
    await send({ reference: "C", transApproved: false });
    await send({ reference: "D" });
    const { said, stderr } = await ended;
    expect(said).toEqual([
      "event approved A",
      "event declined B",
      "event declined C",
      "event approved D",
      "summary 4 4 0",
      "ended 0",
    ]);
    expect(stderr.join()).not.toContain("error");
  });

  it("ends with 8 if some did not arrive in time", async () => {
    const { send, ended } = await script(...EXPECTED, "--expect", "cancelled:1", "--timeout", "5s");
    await send({ reference: "A" });
    await send({ reference: "B", transApproved: false });
    const { said, stderr } = await ended;
    expect(said).toEqual(["event approved A", "event declined B", "summary 2 2 0", "ended 8"]);
    expect(errorOf(stderr)).toMatchObject({
      error: {
        code: "timed_out",
        message: "Timed out. Still missing: 1 of 2 approved, 1 of 1 cancelled.",
        details: { missing: ["1 of 2 approved", "1 of 1 cancelled"] },
      },
    });
  });

  it("ends with 7 if one was rejected, and says which", async () => {
    const { send, sendForged, ended } = await script(...EXPECTED, "--timeout", "30s");
    await send({ reference: "A" });
    expect(await sendForged()).toBe(401);
    const { said, stderr } = await ended;
    expect(said).toEqual([
      "event approved A",
      "rejected content_digest_mismatch",
      "summary 2 1 1",
      "ended 7",
    ]);
    expect(errorOf(stderr)).toMatchObject({
      error: { code: "signature_rejected", details: { code: "content_digest_mismatch" } },
    });
  });

  it("goes on after health checks, scanners and other methods", async () => {
    const { url, send, ended } = await script("--expect", "1", "--timeout", "30s");
    for (const [path, method] of [
      ["/", "GET"],
      ["/.env", "POST"],
      ["/", "PUT"],
    ] as const)
      await fetch(new URL(path, url), { method });
    await send({ reference: "A" });
    const { said } = await ended;
    expect(said).toEqual([
      "rejected method_not_allowed",
      "rejected not_found",
      "rejected method_not_allowed",
      "event approved A",
      "summary 4 1 3",
      "ended 0",
    ]);
  });

  it("ends with 0 after the time if it expects nothing", async () => {
    const { send, ended } = await script("--timeout", "4s");
    await send({ reference: "A" });
    expect((await ended).said).toEqual(["event approved A", "summary 1 1 0", "ended 0"]);
  });
});
