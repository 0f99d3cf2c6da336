/** Web addresses: absolute http(s) URLs, and which of them leave this machine in the clear. */

import { expect, test } from "vitest";
import {
  canonicalAddress,
  isExposed,
  isLoopback,
  parseWebAddress,
  withoutPassword,
} from "../../src/domain/addresses.ts";

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

test("loopback is this machine and no other name", () => {
  expect(["localhost", "127.8.9.10", "[::1]"].every(isLoopback)).toBe(true);
  expect(["shop.localhost", "0.0.0.0", "128.0.0.1", "localhost.", ""].some(isLoopback)).toBe(false);
});

test.each([
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
  "https://shop.example:8443/a@b",
  "http://[::1]:80/?x=a@b",
  "see https://shop.example:443, a@b",
  "https://me@db/x",
])("%s has no password", (text) => expect(withoutPassword(text)).toBe(text));
