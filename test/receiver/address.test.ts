/** The address a webhook is checked against: the public URL's, and its path where a proxy stripped a prefix. */
import { describe, expect, it } from "vitest";
import type { RequestHead } from "../../src/http/message.ts";
import { DERIVED_COVER } from "../../src/signatures/cover.ts";
import { KEYS } from "../support/keys.ts";
import { startTestReceiver } from "../support/receiver.ts";
import { keysOf } from "../support/vectors.ts";
import { post, record, webhook } from "../support/webhooks.ts";
import { addressed, namesLoopback, publicAddress } from "../../src/receiver/address.ts";

const head = (target: string): RequestHead => ({
  method: "POST",
  scheme: "http",
  authority: "127.0.0.1:4000",
  target,
  headers: [["Host", "127.0.0.1:4000"]],
});

describe("with a public URL", () => {
  it.each([
    ["the same path", "/pay/hook", "/pay/hook"],
    ["a stripped prefix", "/hook", "/pay/hook"],
    ["a stripped prefix, with a query as it is", "/hook?a=%7E&b='?", "/pay/hook?a=%7E&b='?"],
    ["a query on the same path", "/pay/hook?x", "/pay/hook?x"],
    ["another path", "/other", "/other"],
    ["a path that ends in the public one", "/v1/pay/hook", "/v1/pay/hook"],
    ["half of a segment", "/ook", "/ook"],
    ["no path at all", "hook", "hook"],
    ["a whole path that was stripped, with its query", "/?a=%7E", "/pay/hook?a=%7E"],
  ])("%s: %s becomes %s", (_, received, expected) => {
    const { scheme, authority, target } = addressed(
      head(received),
      publicAddress(new URL("https://shop.example/pay/hook?ignored=1")),
    );
    expect([scheme, authority, target]).toEqual(["https", "shop.example", expected]);
  });

  it("keeps an encoding that URL would normalise", () => {
    const address = publicAddress(new URL("https://shop.example/hook"));
    expect(addressed(head("/a/../hook"), address).target).toBe("/a/../hook");
  });
});

it.each([
  ["one path, which the proxy maps to", "/pay/hook", ["/in"], "/in?a=%7E", "/pay/hook?a=%7E"],
  ["the second of two such paths", "/pay/hook", ["/in", "/failed"], "/failed", "/pay/hook"],
  ["a path that the listener does not receive on", "/pay/hook", ["/in"], "/other", "/other"],
  ["the root, which it does not receive on", "/pay/hook", ["/in"], "/", "/"],
  ["a path beside the public one", "/paid", ["/paid", "/failed"], "/failed", "/failed"],
  ["the root beside the public one", "/paid", ["/paid", "/"], "/", "/"],
  ["a public URL without a path", "/", ["/in"], "/in", "/in"],
])("%s: --public-url …%s, --path %j, %s becomes %s", (_, path, paths, received, expected) => {
  const address = publicAddress(new URL(path, "https://shop.example"), paths);
  expect(addressed(head(received), address).target).toBe(expected);
});

it("without one, never changes the target", () => {
  const own = { kind: "own", scheme: "http", hosts: ["127.0.0.1"], port: 4000 } as const;
  expect(addressed(head("/hook"), own)).toEqual(head("/hook"));
});

it("without one, is what Host says if that names this listener", () => {
  const own = { kind: "own", scheme: "http", hosts: ["192.0.2.1", "fd00::1"], port: 4000 } as const;
  const named = (host: string): string =>
    addressed({ ...head("/"), authority: "", headers: [["Host", host]] }, own).authority;
  for (const host of [
    "localhost:4000",
    "Shop.LOCALHOST:4000",
    "127.1.2.3:4000",
    "[::1]:4000",
    "192.0.2.1:4000",
    "[FD00::1]:4000",
  ])
    expect(named(host)).toBe(host);
  for (const host of [
    "shop.example:4000",
    "localhost",
    "localhost:4001",
    "localhost.example:4000",
    "xlocalhost:4000",
    "",
  ])
    expect(named(host)).toBe("");
});

it.each([
  ["", true],
  ["app.localhost:4000", true],
  ["LOCALHOST", true],
  ["[::1]:4000", true],
  ["localhost.example:4000", false],
  ["127.0.0.1.example", false],
])("a Host %j names this machine: %s", (host, expected) => {
  expect(namesLoopback(host)).toBe(expected);
});

it("without one, is the address that a listener on every address prints, and each of this machine", async () => {
  const { server } = await startTestReceiver({ host: "0.0.0.0", keys: async () => keysOf(KEYS.publicPem) });
  for (const url of [server.url, `http://127.0.0.1:${server.port}/`])
    expect(await post(url, webhook(url, record(), { cover: DERIVED_COVER }))).toBe(200);
});
