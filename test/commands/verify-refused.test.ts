/** What `listen` refuses before it verifies, as `verify`, `events` and `inspect` tell of it: a body that was not kept, and captures of several tools. */
import { describe, expect, it } from "vitest";
import { formatRequest } from "../../src/http/capture.ts";
import type { HeaderLine, HttpRequest } from "../../src/http/message.ts";
import { startListenCommand } from "../support/background-command.ts";
import { runCommand } from "../support/context.ts";
import { temporaryHome } from "../support/home.ts";
import { jsonLines } from "../support/json-lines.ts";
import { LAMBDA_EVENTS } from "../support/lambda-events.ts";
import { KEYS, keyFile } from "../support/keys.ts";
import { post, record, webhook } from "../support/webhooks.ts";

const env = { PAYLINK_WEBHOOK_KEY: KEYS.publicPem };
const signed = webhook("http://127.0.0.1:4000/hook", record());
const withHeaders = (...more: readonly HeaderLine[]): HttpRequest => {
  const names = new Set(more.map(([name]) => name));
  const kept = signed.headers.filter(([name]) => !names.has(name));
  return { ...signed, headers: [...kept, ...more.filter(([, value]) => value !== "")] };
};

describe("verify of what listen refuses", () => {
  it.each<[string, HttpRequest, string[], number, string]>([
    ["a content coding", withHeaders(["Content-Encoding", "gzip"]), [], 415, "unsupported_content_coding"],
    ["another path", signed, ["--path", "/other"], 404, "not_found"],
    [
      "another path than that of --public-url",
      signed,
      ["--public-url", "http://127.0.0.1:4000/x"],
      404,
      "not_found",
    ],
  ])("says so first, for %s", async (_, request, flags, status, code) => {
    const stdin = formatRequest(request);
    const json = await runCommand(["verify", ...flags, "--json"], { stdin, env });
    expect({ exit: json.exit, ...JSON.parse(json.stdout) }).toMatchObject({
      exit: 7,
      verdict: "valid",
      code: "ok",
      refused: { status, code },
    });
    const { exit, stdout, stderr } = await runCommand(["verify", ...flags], { stdin, env });
    expect(exit).toBe(7);
    expect(stdout).toMatch(new RegExp(`^listen answers ${status} +${code}`));
    expect(stderr).toContain(`The webhook verifies, but listen rejects it with ${status}: ${code}.`);
  });

  it("also names another media type and another method", async () => {
    const refused = async (request: HttpRequest) =>
      JSON.parse((await runCommand(["verify", "--json"], { stdin: formatRequest(request), env })).stdout)
        .refused;
    expect(await refused(withHeaders(["Content-Type", "text/plain"]))).toEqual({
      status: 415,
      code: "unsupported_media_type",
    });
    expect(await refused({ ...signed, method: "PUT" })).toEqual({ status: 405, code: "method_not_allowed" });
    expect(await refused(signed)).toBeUndefined();
    expect(await refused(withHeaders(["Content-Encoding", "UTF-8"]))).toBeUndefined();
  });
});

it("says first that a request of another method is 405, in text too", async () => {
  const { exit, stdout } = await runCommand(["verify"], {
    stdin: formatRequest({ ...signed, method: "PUT" }),
    env,
  });
  expect(exit).toBe(7);
  expect(stdout).toMatch(/^listen answers 405 +method_not_allowed/);
});

describe("a capture as JSON of another program", () => {
  const { method, target, headers, body } = signed;
  const verified = async (capture: object) => {
    const { exit, stdout, stderr } = await runCommand(["verify", "--json"], {
      stdin: JSON.stringify(capture),
      env,
    });
    return { exit, code: stdout === "" ? stderr : JSON.parse(stdout).code };
  };

  it.each(Object.entries(LAMBDA_EVENTS))("is an event of %s", async (_, eventOf) => {
    expect(await verified(eventOf({ method, target, headers, body }))).toEqual({ exit: 0, code: "ok" });
  });

  it("is the parts of a request", async () => {
    const parts = { method, url: "http://127.0.0.1:4000/hook", body: Buffer.from(body).toString() };
    expect(await verified({ ...parts, headers })).toEqual({ exit: 0, code: "ok" });
    expect(await verified({ ...parts, headers: Object.fromEntries(headers) })).toEqual({
      exit: 0,
      code: "ok",
    });
  });

  it.each<[string, object, string]>([
    ["another document", { hello: "world" }, "it lacks method, url, headers, body"],
    ["a request without its body", { method, url: target, headers }, "it lacks body"],
    [
      "a request whose body was parsed",
      { method, url: target, headers, body: {} },
      "method, url and body are text",
    ],
  ])("is named by what it lacks: %s", async (_, capture, words) => {
    expect(await verified(capture)).toMatchObject({ exit: 2, code: expect.stringContaining(words) });
  });
});

describe("a request that was refused by its head", () => {
  const refusedEvent = async () => {
    const home = temporaryHome();
    const key = keyFile(home);
    const listen = await startListenCommand(home, "--key", key, "--path", "/hook");
    const { origin } = new URL(listen.url);
    expect(await post(`${origin}/other`, webhook(`${origin}/other`, record()))).toBe(404);
    await listen.stop();
    const { stdout } = await runCommand(["events", "list", "--rejected", "--json"], { home });
    const [event] = jsonLines(stdout);
    return { home, key, id: String(event?.["id"]) };
  };

  it("has no body that could be verified or accepted", async () => {
    const { home, key, id } = await refusedEvent();
    const json = await runCommand(["verify", "--event", id, "--key", key, "--json"], { home });
    expect({ exit: json.exit, ...JSON.parse(json.stdout) }).toMatchObject({
      exit: 7,
      code: "not_found",
      refused: { status: 404, code: "not_found" },
      hints: [{ variant: "its body was not kept" }],
    });
    const shown = await runCommand(["events", "show", id], { home });
    expect(shown.stdout).toContain("its body was not kept");
    expect(shown.stdout).not.toContain("events accept");
    const accepted = await runCommand(["events", "accept", id, "--key", key], { home });
    expect(accepted).toMatchObject({ exit: 2 });
    expect(accepted.stderr).toContain("its body was not kept");
  });
});

it("names the keys of --key in the hint to a rejected webhook", async () => {
  const home = temporaryHome();
  const key = keyFile(home);
  const listen = await startListenCommand(home, "--key", key, "--expect", "1");
  const forged = { ...webhook(listen.url, record()), body: Buffer.from("{}") };
  const { headers } = forged;
  const sized = headers.map(([name, value]): HeaderLine => [name, name === "Content-Length" ? "2" : value]);
  expect(await post(listen.url, { ...forged, headers: sized })).toBe(401);
  const { exit, stderr } = await listen.ended;
  expect(exit).toBe(7);
  const [, words = ""] = /paylink (verify --event \S+ --key [^"\s]+)/.exec(stderr) ?? [];
  expect(await runCommand(words.split(" "), { home })).toMatchObject({ exit: 7 });
});

describe("captures of other tools", () => {
  const lines = signed.headers.map(([name, value]) => `${name.toLowerCase()}: ${value}`);
  const body = Buffer.from(signed.body).toString();

  it.each([
    [
      "in place of the request line",
      [":method: POST", ":path: /hook", ":scheme: http", ":authority: 127.0.0.1:4000"],
    ],
    ["after the request line", ["POST /hook HTTP/2", ":method: POST", ":authority: 127.0.0.1:4000"]],
  ])("have pseudo-headers of HTTP/2 %s", async (_, head) => {
    const stdin = `${[...head, ...lines].join("\n")}\n\n${body}`;
    expect(await runCommand(["verify"], { stdin, env })).toMatchObject({ exit: 0 });
    const withoutHost = `${[...head, ...lines.filter((line) => !line.startsWith("host"))].join("\n")}\n\n${body}`;
    expect(await runCommand(["verify"], { stdin: withoutHost, env })).toMatchObject({ exit: 0 });
  });

  it("name a folded line", async () => {
    const folded = lines.map((line) => line.replace("; charset", ";\n charset"));
    const stdin = `${["POST /hook HTTP/1.1", ...folded].join("\n")}\n\n${body}`;
    const { exit, stdout } = await runCommand(["verify"], { stdin, env });
    expect(exit).toBe(7);
    expect(stdout).toContain("a folded header line");
    expect(stdout).not.toContain("No HTTP server accepts this message");
  });

  it("show a target in absolute form as it is", async () => {
    const stdin = `${["POST https://shop.example/hook HTTP/1.1", ...lines].join("\n")}\n\n${body}`;
    const { stdout } = await runCommand(["verify"], { stdin, env });
    expect(stdout).toContain("POST https://shop.example/hook");
    expect(stdout).not.toMatch(/http:\/\/\S*https:/);
  });
});
