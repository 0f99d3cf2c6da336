/** `paylink create --wait`, in process: how often it asks for the link, what it goes on after, and how it ends. */
import { describe, expect, it } from "vitest";
import { SYSTEM_TIMERS } from "../../src/values/timers.ts";
import { SendError, type Send } from "../../src/http/exchange.ts";
import { ACCOUNT, CREATE } from "../support/account.ts";
import { interrupted, runCommand } from "../support/context.ts";
import { type JsonLine, jsonLines } from "../support/json-lines.ts";
import { ANSWER } from "../support/link-request.ts";

const CREDENTIALS = {
  ...ACCOUNT,
  PAYLINK_TOKEN: "",
  PAYLINK_CLIENT_ID: "shop",
  PAYLINK_CLIENT_SECRET: "s",
  PAYLINK_TOKEN_URL: "http://127.0.0.1:1/token",
};

/** What the service answers to one question: the link with this status, another HTTP status, or nothing. */
type Answer =
  | string
  | number
  | Error
  | { readonly status: number; readonly wait: string }
  /** A 200 with this body, or with the link and these members. */
  | { readonly body: object | string }
  | { readonly members: object };

const json = (status: number, body: object | string, headers: [string, string][] = []) => ({
  status,
  headers: [["Content-Type", "application/json"] as const, ...headers],
  body: new TextEncoder().encode(typeof body === "string" ? body : JSON.stringify(body)),
});

interface Waiting {
  readonly flags?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly id?: string | undefined;
  readonly signal?: AbortSignal;
  readonly onPause?: () => void;
  /** By how many milliseconds a pause is longer than it should be: the process is suspended. */
  readonly suspended?: (pause: number) => number;
}

/** Creates a link at a service with these answers, the last of them again and again, by a clock that only pauses move. */
async function waitWith(
  answers: readonly Answer[],
  { flags = [], env = ACCOUNT, id = "L1", onPause, suspended = () => 0, ...options }: Waiting = {},
) {
  let time = Date.parse("2026-11-23T12:00:00Z");
  const started = time;
  const asked: number[] = [];
  const tokens: (string | undefined)[] = [];
  const left = [...answers];
  const { id: _id, url: _url, ...rest } = JSON.parse(ANSWER) as JsonLine;
  const names = id === "" ? {} : { id };
  const url = `https://pay.example/pay${id === "" ? "" : `?r=${id}`}`;
  const link = (status: string) => ({ ...rest, ...names, url, status });
  let obtained = 0;
  let pauses = 0;
  const send: Send = async ({ method, target, headers }) => {
    if (target === "/token") return json(200, { access_token: `t${++obtained}`, token_type: "Bearer" });
    if (method === "POST") return json(200, link("active"));
    expect(target).toBe(`/v1/payment-links/${id}`);
    asked.push((time - started) / 1000);
    tokens.push(headers.find(([name]) => name === "Authorization")?.[1]);
    const answer = left.length > 1 ? left.shift() : left[0];
    if (typeof answer === "string") return json(200, link(answer));
    if (typeof answer === "number") return json(answer, {});
    if (answer instanceof Error || answer === undefined) throw answer ?? new Error("no answer is left");
    if ("members" in answer) return json(200, { ...link("active"), ...answer.members });
    if ("body" in answer) return json(200, answer.body);
    return json(answer.status, {}, [["Retry-After", answer.wait]]);
  };
  const run = await runCommand([...CREATE, "--wait", ...flags], {
    env,
    send,
    now: () => new Date(time),
    timers: { ...SYSTEM_TIMERS, elapsed: () => time },
    pause: async (milliseconds) => {
      time += milliseconds + suspended(++pauses);
      onPause?.();
      options.signal?.throwIfAborted();
    },
    ...options,
  });
  return { ...run, asked, tokens, obtained };
}

describe("create --wait", () => {
  it("asks every two seconds until the link is paid, and shows each status and the link", async () => {
    const run = await waitWith(["active", "viewed", "viewed", "attempted", "paid"]);
    expect(run.exit).toBe(0);
    expect(run.asked).toEqual([2, 4, 6, 8, 10]);
    expect(run.stderr.match(/^20\S+ [\d:]{8} [+-]\d\d:\d\d \w+$/gm)?.map((line) => line.slice(27))).toEqual([
      "viewed",
      "attempted",
      "paid",
    ]);
    expect(run.stdout).toMatch(/status +active[^]*kind +one-time[^]*status +paid/);
  });

  it("prints the link as the service has it at each change with --json, and nothing else", async () => {
    const run = await waitWith(["active", "viewed", "PAID"], { flags: ["--json"] });
    expect(run).toMatchObject({ exit: 0, stderr: "" });
    expect(jsonLines(run.stdout).map(({ status }) => status)).toEqual(["active", "viewed", "PAID"]);
  });

  it("prints the URL alone with --quiet", async () => {
    const run = await waitWith(["paid"], { flags: ["-q"] });
    expect(run).toMatchObject({ exit: 0, stdout: "https://pay.example/pay?r=L1\n" });
  });

  it.each([
    ["cancelled", "The link was cancelled before it was paid."],
    ["expired", "The link expired before it was paid."],
  ])("ends with 9 when the link is %s", async (status, words) => {
    const run = await waitWith(["active", status], { flags: ["--json"] });
    expect(run.exit).toBe(9);
    expect(jsonLines(run.stdout).at(-1)).toMatchObject({ status });
    expect(JSON.parse(run.stderr)).toMatchObject({
      error: { code: "payment_failed", message: words, details: { link: "L1", linkStatus: status } },
    });
  });

  it.each([
    [[], 898, "15m"],
    [["--timeout", "5s"], 4, "5s"],
  ])("ends with 8 when the time has passed: %j", async (flags, seconds, words) => {
    const run = await waitWith(["attempted"], { flags });
    expect(run.exit).toBe(8);
    expect(run.asked.at(-1)).toBe(seconds);
    expect(run.stderr).toContain(
      `Timed out after ${words}: the link was not paid when the service last answered, at 2026-11-23`,
    );
    expect(run.stderr).toContain(
      'Its last known status is "attempted".\n  Do not create it again. To check whether it was paid: paylink links show L1',
    );
  });

  it.each<[string, Answer]>([
    ["no answer", new SendError("it closed the connection", true)],
    ["no connection", new SendError("connection refused", false)],
    ["500", 500],
    ["a gateway's 502", 502],
    ["503", 503],
    ["429", 429],
  ])("asks again after %s, and says so once", async (_, failure) => {
    const run = await waitWith([failure, failure, "active", failure, "paid"]);
    expect(run.exit).toBe(0);
    expect(run.asked).toHaveLength(5);
    expect(run.stderr.match(/^! .*$/gm)).toEqual([
      expect.stringContaining("paylink keeps asking until the time is up."),
    ]);
  });

  it("asks more and more slowly while the service answers 429, or when the service says", async () => {
    const slowed = await waitWith([429, 429, 429, "active", "paid"]);
    expect(slowed.asked).toEqual([2, 6, 14, 30, 32]);
    const told = await waitWith([{ status: 429, wait: "100" }, "paid"]);
    expect(told.asked).toEqual([2, 102]);
  });

  it.each([
    [404, 4, [2, 4, 6, 8]],
    [403, 3, [2]],
  ])("ends at %d, and says that the link exists", async (status, exit, asked) => {
    const run = await waitWith([status]);
    expect(run).toMatchObject({ exit, asked });
    expect(run.stdout).toContain("https://pay.example/pay?r=L1");
    expect(run.stderr).toContain(
      "The link was created. It is not known whether it has been paid since.\n  Do not create it again. To check whether it was paid: paylink links show L1\n",
    );
  });

  it.each<[string, Answer]>([
    ["404", 404],
    ["400", 400],
    ["408", 408],
    ["425", 425],
    ["a redirect", 302],
    ["an error in a 200", { body: { error: "maintenance" } }],
    ["success:false in a 200", { body: { success: false, message: "busy" } }],
    ["a page in a 200", { body: "<html></html>" }],
    ["nothing in a 200", { body: "" }],
    [
      "another link that is paid",
      { body: { id: "OTHER", url: "https://pay.example/pay?r=OTHER", status: "paid" } },
    ],
  ])("asks again after %s that passes", async (_, failure) => {
    const run = await waitWith([failure, failure, failure, "active", failure, "paid"]);
    expect(run.exit).toBe(0);
    expect(run.asked).toHaveLength(6);
  });

  it("counts only missing links in a row", async () => {
    expect(await waitWith([404, 404, 404, 408, 404, "paid"])).toMatchObject({ exit: 0 });
  });

  it("never takes another link's payment for its own, and says why at the end", async () => {
    const body = { id: "OTHER", url: "https://pay.example/pay?r=OTHER", status: "paid" };
    const run = await waitWith([{ body }], { flags: ["--timeout", "20s"] });
    expect(run.exit).toBe(8);
    expect(run.stderr).toContain("is not known");
    expect(run.stderr).toContain("about link OTHER, not about L1");
    expect(run.stderr).not.toContain("can still be paid");
  });

  it.each<[string, object, number]>([
    ["completed, with a paidDate", { status: "completed", paidDate: "2026-11-23T12:00:01Z" }, 0],
    ["active, with a paidDate", { paidDate: "2026-11-23T12:00:01Z" }, 0],
    ["expired, with a paidDate", { status: "expired", paidDate: "2026-11-23T12:00:01Z" }, 0],
    ["a status that is missing, with a paidDate", { status: undefined, paidDate: "2026-11-23T12:00:01Z" }, 0],
    ["void, with a cancelledDate", { status: "void", cancelledDate: "2026-11-23T12:00:01Z" }, 9],
    ["active, with a past expirationDate", { expirationDate: "2026-11-23T12:00:01Z" }, 9],
  ])("takes the dates as evidence: %s", async (_, members, exit) => {
    const run = await waitWith([{ members }], { flags: ["-q"] });
    expect(run).toMatchObject({ exit, asked: [2] });
  });

  it.each([
    "0001-01-01T00:00:00Z",
    "0001-01-01T00:00:00",
    "1970-01-01T00:00:00.000Z",
    "0000-00-00",
    "N/A",
    0,
  ])("ignores a placeholder date (%j) as evidence", async (never) => {
    const members = { paidDate: never, cancelledDate: never };
    const paid = { ...members, status: "paid", paidDate: "2026-11-23T12:00:03Z" };
    const run = await waitWith([{ members }, { members: paid }], { flags: ["-q"] });
    expect(run).toMatchObject({ exit: 0, asked: [2, 4] });
  });

  it("obtains a new token once after a 401", async () => {
    const renewed = await waitWith(["active", 401, "paid"], { env: CREDENTIALS });
    expect(renewed.exit).toBe(0);
    expect(new Set(renewed.tokens).size).toBe(2);
    const refused = await waitWith(["active", 401], { env: CREDENTIALS });
    expect(refused.exit).toBe(3);
    expect(refused.tokens).toHaveLength(3);
    expect((await waitWith([401])).exit).toBe(3);
  });

  const hour = 3_600_000;

  it.each<[string, readonly Answer[], number, readonly number[]]>([
    ["paid meanwhile", ["active", "paid"], 0, [2, 3604]],
    ["expired meanwhile", ["active", "expired"], 9, [2, 3604]],
    ["still open", ["active"], 8, [2, 3604]],
    ["paid, after a failure", ["active", 502, "paid"], 0, [2, 3604, 3606]],
  ])("asks once more after a suspension past the deadline: %s", async (_, answers, exit, asked) => {
    const run = await waitWith(answers, {
      flags: ["--timeout", "6s"],
      suspended: (pause) => (pause === 2 ? hour : 0),
    });
    expect(run).toMatchObject({ exit, asked });
    if (exit === 8) expect(run.stderr).toMatch(/last answered, at 2026-11-23 1\d:00:04/);
  });

  it("never says that the service answered where it was not asked", async () => {
    const run = await waitWith(["paid"], { flags: ["--timeout", "1s"] });
    expect(run).toMatchObject({ exit: 8, asked: [] });
    expect(run.stderr).toContain(
      "It is not known whether the link was paid, because the service was not asked in that time.",
    );
  });

  it("stops waiting at Ctrl-C", async () => {
    const control = new AbortController();
    const run = await waitWith(["active"], {
      signal: control.signal,
      onPause: () => control.abort(interrupted()),
    });
    expect(run).toMatchObject({ exit: 130, asked: [] });
  });

  it("says that it cannot ask for a link whose answer has no id", async () => {
    const run = await waitWith([], { id: "" });
    expect(run).toMatchObject({ exit: 6, asked: [] });
    expect(run.stderr).toContain("does not contain its id");
  });

  it("refuses a reusable link, which never becomes paid", async () => {
    const run = await waitWith([], { flags: ["--reusable"] });
    expect(run).toMatchObject({ exit: 2, stdout: "" });
    expect(run.stderr).toMatch(/--wait +cannot wait for a reusable link/);
  });
});
