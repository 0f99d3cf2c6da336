/** `listen` on several paths and with several targets, in process: what each of them receives. */
import { expect, it } from "vitest";
import type { HttpRequest } from "../../src/http/message.ts";
import { DERIVED_COVER, SERVICE_COVER, type CoveredComponents } from "../../src/signatures/cover.ts";
import { startCommand, startListenCommand } from "../support/background-command.ts";
import { runCommand, type CommandEnd } from "../support/context.ts";
import { temporaryHome } from "../support/home.ts";
import { jsonLines } from "../support/json-lines.ts";
import { keyFile, KEY_ENV } from "../support/keys.ts";
import { type App, forged, post, record, startApp, webhook } from "../support/webhooks.ts";

const TWO_PATHS = ["--path", "/paid", "--path", "/failed"];

it("receives at every path, names them in the ready line, and answers 404 elsewhere", async () => {
  const home = temporaryHome();
  const listen = await startListenCommand(home, "--key", keyFile(home), ...TWO_PATHS);
  const { origin } = new URL(listen.url);
  const urls = [`${origin}/paid`, `${origin}/failed`];
  expect(jsonLines(listen.stdout())[0]).toMatchObject({ type: "ready", url: urls[0], urls, level: "info" });
  for (const url of urls) expect(await post(url, webhook(url, record()))).toBe(200);
  expect(await post(`${origin}/other`, webhook(`${origin}/other`, record()))).toBe(404);
  const { stdout } = await listen.stop();
  expect(jsonLines(stdout)[3]).toMatchObject({
    code: "not_found",
    detail: "the path is /other; webhooks are received at /paid and /failed",
  });
});

it("receives at the address that it prints, however the path is written", async () => {
  const home = temporaryHome();
  const paths = ["--path", "/zahlung/ä", "--path", "/a/../{id}"];
  const listen = await startListenCommand(home, "--key", keyFile(home), ...paths);
  const { origin } = new URL(listen.url);
  const urls = [`${origin}/zahlung/%C3%A4`, `${origin}/%7Bid%7D`];
  expect(jsonLines(listen.stdout())[0]).toMatchObject({ urls });
  for (const url of urls) expect(await post(url, webhook(url, record()))).toBe(200);
  await listen.stop();
});

it("prints its own host for a public URL whose path begins with two slashes, and receives there", async () => {
  const home = temporaryHome();
  const publicUrl = "https://shop.example//hook";
  const listen = await startListenCommand(home, "--key", keyFile(home), "--public-url", publicUrl);
  const { hostname, pathname } = new URL(listen.url);
  expect([hostname, pathname]).toEqual(["127.0.0.1", "//hook"]);
  expect(await post(listen.url, webhook(publicUrl, record(), { cover: DERIVED_COVER }))).toBe(200);
  await listen.stop();
});

it("binds IPv6 with brackets or without, and no URL", async () => {
  const home = temporaryHome();
  const args = [
    "listen",
    "--port",
    "0",
    "--key",
    keyFile(home),
    "--expect",
    "1",
    "--timeout",
    "1ms",
    "--host",
  ];
  // Not every machine has IPv6.
  for (const host of ["[::1]", "::1"])
    expect((await runCommand([...args, host], { home })).stderr).not.toContain("host name is unknown");
  for (const host of ["127.0.0.1:4000", "[::1]:4000", "http://localhost", "localhost/hook"])
    expect(await runCommand([...args, host], { home })).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining("without scheme and port"),
    });
});

it.each(["//shop.example", "/\\shop.example", "/.//shop.example"])(
  "refuses %s, which leads to another host",
  async (path) => {
    const { exit, stderr } = await runCommand(["listen", "--port", "0", "--key", "k.pem", "--path", path]);
    expect({ exit, stderr }).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining("must start with one /"),
    });
  },
);

it("says that a proxy stripped a prefix, and verifies with the full address as --public-url", async () => {
  const home = temporaryHome();
  const publicUrl = "https://shop.example/pay/hook";
  const through = async (cover: CoveredComponents, ...flags: string[]): Promise<[number, CommandEnd]> => {
    const args = ["listen", "--port", "0", "--path", "/hook", "--key", keyFile(home), ...flags];
    const listen = startCommand(args, { home });
    const [, url = ""] = await listen.until(/Listening on \S*(http:\S+?\/hook)/);
    const signed = webhook(publicUrl, record(), { cover });
    const headers: HttpRequest["headers"] = [...signed.headers, ["X-Forwarded-Prefix", "/pay"]];
    return [await post(url, { ...signed, headers }), await listen.stop()];
  };
  const [refused, { stdout, stderr }] = await through(DERIVED_COVER);
  expect(refused).toBe(401);
  expect(stdout + stderr).toContain("a proxy stripped /pay from the path. Give the full address: ");
  for (const cover of [SERVICE_COVER, DERIVED_COVER])
    expect((await through(cover, "--public-url", publicUrl))[0]).toBe(200);
  expect((await through(SERVICE_COVER))[0]).toBe(200);
});

/** As nginx does: `location /hooks/paylink { proxy_pass http://127.0.0.1:4000/in; }`. */
it.each([
  ["the root", "/", ["--path", "/"]],
  ["the root, which nobody named", "/", []],
  ["another path", "/in", ["--path", "/in", "--path", "/failed"]],
])("verifies what a proxy maps from the public path to %s, with its own query", async (_, path, flags) => {
  const home = temporaryHome();
  const publicUrl = "https://shop.example/hooks/paylink";
  const args = ["listen", "--port", "0", "--key", keyFile(home), "--public-url", publicUrl, ...flags];
  const listen = startCommand(args, { home });
  const [, origin = ""] = await listen.until(/(http:\/\/127[^/\s]+)\//);
  for (const component of ["@target-uri", "@path", "@request-target", "@query"] as const) {
    const signed = (url: string) => webhook(url, record(), { cover: ["content-digest", component] });
    const genuine = signed(`${publicUrl}?shop=1&a=%7E`);
    expect([component, await post(`${origin}${path}?shop=1&a=%7E`, genuine)]).toEqual([component, 200]);
    const otherPaths = ["/other", path].map((other) => `https://shop.example${other}?shop=1&a=%7E`);
    const others = [
      ...(component === "@path" ? [] : [`${publicUrl}?shop=2&a=%7E`]),
      ...(component === "@query" ? [] : otherPaths),
    ];
    for (const other of others)
      expect([other, await post(`${origin}${path}?shop=1&a=%7E`, signed(other))]).toEqual([other, 401]);
  }
  await listen.stop();
});

const DECLINED = { transApproved: false };
const CANCELLED = { transApproved: false, transCancelled: true };

const references = ({ taken }: App): unknown[] =>
  taken.map(({ body }) => (JSON.parse(body.toString()) as { reference: string }).reference);

it("forwards each outcome to its target, the others to the plain one, and nothing that is rejected", async () => {
  const home = temporaryHome();
  const [plain, declined] = [await startApp(() => 200), await startApp(() => 200)];
  const paths = ["--path", "/paid", "--path", "/failed"];
  const targets = ["-f", `declined=${declined.url}`, "-f", plain.url, "-H", "X-Shop: mine"];
  const listen = await startListenCommand(home, "--key", keyFile(home), ...paths, ...targets);
  const { origin } = new URL(listen.url);
  const send = (path: string, changes: object): Promise<number> =>
    post(`${origin}${path}`, webhook(`${origin}${path}`, record({ ...changes })));
  expect(await send("/paid", { reference: "paid" })).toBe(200);
  expect(await send("/failed", { ...DECLINED, reference: "declined" })).toBe(200);
  expect(await send("/failed", { ...CANCELLED, reference: "cancelled" })).toBe(200);
  expect(await post(listen.url, forged(webhook(listen.url, record())))).toBe(401);
  await listen.stop();
  expect(references(plain)).toEqual(["paid", "cancelled"]);
  expect(references(declined)).toEqual(["declined"]);
  expect(declined.taken[0]?.headers).toMatchObject({ "x-shop": "mine" });
});

it("keeps events without a target, and replays them to a target of their outcome", async () => {
  const home = temporaryHome();
  const app = await startApp(() => 200);
  const listen = await startListenCommand(home, "--key", keyFile(home), "-f", `approved=${app.url}`);
  for (const changes of [DECLINED, CANCELLED])
    expect(await post(listen.url, webhook(listen.url, record({ ...changes, reference: "late" })))).toBe(200);
  await listen.stop();
  expect(app.taken).toEqual([]);
  const replay = ["events", "replay", "--all", "--to", `declined=${app.url}`];
  const { exit, stderr } = await runCommand(replay, { home, env: KEY_ENV });
  expect({ exit, stderr }).toEqual({
    exit: 0,
    stderr: `! 1 event not sent: --to names no target for the outcome.\nReplayed 1 event to ${app.url}\n`,
  });
  expect(references(app)).toEqual(["late"]);
});
