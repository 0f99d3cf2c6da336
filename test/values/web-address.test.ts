/** Web addresses: absolute http(s) URLs, and which of them leave this machine in the clear. */

import * as fc from "fast-check";
import { expect, it, test } from "vitest";
import {
  canonicalAddress,
  isExposed,
  isLoopback,
  leadsTo,
  localAddress,
  parseWebAddress,
} from "../../src/values/addresses.ts";
import { withoutPassword } from "../../src/values/url-passwords.ts";

test.each([
  ["http://0.0.0.0:4010/", "http://127.0.0.1:4010/"],
  ["http://[::]:4010", "http://127.0.0.1:4010"],
  ["http://10.0.0.0:4010/", "http://10.0.0.0:4010/"],
  ["http://localhost/", "http://localhost/"],
])("%s is reached from this machine at %s", (bound, local) => {
  expect(localAddress(bound)).toBe(local);
});

test.each([
  ["http://localhost:4000/?shop=1", "http://127.0.0.1:4000/", true],
  ["http://localhost:4000/", "http://0.0.0.0:4000/", true],
  ["http://localhost:4000/", "http://127.0.0.1:21061/", false],
  ["http://localhost:4000/", "http://127.0.0.1:4000/hook", false],
  ["https://shop.example/", "https://shop.example:443/", true],
  ["x", "x", false],
])("%s leads to %s: %s", (url, address, leads) => {
  expect(leadsTo(url, address)).toBe(leads);
});

test.each([
  ["https://shop.example/paid?x=1", false],
  ["http://shop.example/", true],
  ["HTTP://SHOP.EXAMPLE", true],
  ["http://localhost:4000/", false],
  ["http://127.0.0.1:4000/", false],
  ["http://127.1/", false],
  ["http://[::1]:4000/", false],
  ["http://localhost.shop.example/", true],
  ["http://127.0.0.1.shop.example/", true],
  ["http://localhost@shop.example/", true],
])("%s is exposed: %s", (text, exposed) => {
  const url = parseWebAddress(text);
  expect(url && isExposed(url)).toBe(exposed);
});

test.each([
  "",
  "/paid",
  "shop.example/paid",
  "//shop.example",
  "ftp://shop.example",
  "javascript:alert(1)",
  "http:shop.example",
  "http:///shop.example",
  " https://shop.example",
  "https://shop.example/a b",
  "https://",
  "https://:443",
])("%j is no web address", (text) => expect(parseWebAddress(text)).toBeUndefined());

test("loopback is this machine, and no other name is", () => {
  const own = ["localhost", "localhost.", "shop.localhost", "a.b.localhost", "127.8.9.10", "[::1]"];
  expect(own.filter((name) => !isLoopback(name))).toEqual([]);
  const others = [
    "0.0.0.0",
    "128.0.0.1",
    "notlocalhost",
    "localhost.example",
    ".localhost",
    "127.0.0.1.example",
    "",
  ];
  expect(others.filter(isLoopback)).toEqual([]);
});

test.each([
  ["http://127.0.0.1:4010", "http://localhost:4010"],
  ["http://pay.localhost:8080", "http://pay.localhost:8080"],
  ["HTTPS://API.Example/", "https://api.example"],
  ["https://api.example:443", "https://api.example"],
  ["https://api.example/Pay//", "https://api.example/Pay"],
  ["https://api.example:8443", "https://api.example:8443"],
  ["http://127.0.0.1:4010/", "http://localhost:4010"],
  ["http://127.1.2.3:4010", "http://localhost:4010"],
  ["http://[::1]:4010", "http://localhost:4010"],
  ["http://LOCALHOST:4010", "http://localhost:4010"],
  ["not a URL", "not a URL"],
])("the canonical spelling of %s is %s", (text, canonical) => {
  expect(canonicalAddress(text)).toBe(canonical);
});

test.each([
  "me:s3cret@db/x",
  "me:s3/cret@db/x",
  "me:s3 cret@db/x",
  "me:s3#c?ret@db/x",
  "me:s3@c@ret@db/x",
  "me:s3%zzcret@db/x",
])("the password in postgres://%s is not shown, whichever characters it has", (rest) => {
  expect(withoutPassword(`postgres://${rest}`)).toBe("postgres://me:[redacted]@db/x");
});

test.each([
  ["postgres://u:12345/s3cr@host/db", "postgres://u:[redacted]@host/db"],
  ["postgres://u:1?s3cr@host/db", "postgres://u:[redacted]@host/db"],
  ["postgres://host/db?password=a&b", "postgres://host/db?password=[redacted]"],
  ["postgres://host/db?pass%77ord=a&sslmode=require", "postgres://host/db?pass%77ord=[redacted]"],
  ["http://me:s3#c@proxy:3128", "http://me:[redacted]@proxy:3128"],
  ["http://me:12/s3@proxy:3128", "http://me:[redacted]@proxy:3128"],
  [
    "from http://me:a@x.example to postgres://u:1/b@y/db",
    "from http://me:[redacted]@x.example to postgres://u:[redacted]@y/db",
  ],
])("%s is shown as %s", (text, shown) => expect(withoutPassword(text)).toBe(shown));

it("never shows a password, whatever it consists of", () => {
  const password = fc.string({ minLength: 1, unit: "grapheme" }).filter((text) => !/[\r\n]/.test(text));
  fc.assert(
    fc.property(password, (secret) => {
      const marked = `s3cr3t${secret}s3cr3t`;
      expect(withoutPassword(`postgres://me:${marked}@db/x`)).not.toContain("s3cr3t");
      expect(withoutPassword(`http://me:${marked}@proxy:3128`)).not.toContain("s3cr3t");
    }),
  );
});

test.each([
  "https://shop.example:8443/a@b",
  "http://localhost:3000/hook?x=a@b",
  "http://[::1]:80/?x=a@b",
  "see https://shop.example:443, a@b",
  "https://me@db/x",
])("%s has no password", (text) => expect(withoutPassword(text)).toBe(text));
