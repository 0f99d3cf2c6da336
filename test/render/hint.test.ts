/** Advice as text: commands as a shell reads them, the profile of the run, and what an error means for the money. */
import { spawnSync } from "node:child_process";
import { expect, it } from "vitest";
import { PaylinkError, type FailureCode } from "../../src/domain/errors.ts";
import { hint, paylink, type CommandLine } from "../../src/domain/hint.ts";
import { renderAdvice, renderCommand, renderHint } from "../../src/render/hint.ts";

it.each<[string, CommandLine, string]>([
  ["an account", paylink("links", "list"), "paylink -p shop links list"],
  ["no account", paylink("sandbox", "advance", "1h"), "paylink sandbox advance 1h"],
  ["a profile of its own", paylink("login", "-p", "my-shop"), "paylink login -p my-shop"],
  [
    "a profile as it was typed",
    paylink("bulk", "a.csv", "--profile=shop"),
    "paylink bulk a.csv --profile=shop",
  ],
])("names the profile in a command with %s", (_, command, shown) => {
  expect(renderCommand(command, { profile: "shop" })).toBe(shown);
});

it.each<[string, CommandLine, string]>([
  ["of events", paylink("events", "show", "7"), "paylink events show 7 --db 'my shop.db'"],
  ["without events", paylink("links", "list"), "paylink links list"],
])("names the event store in a command %s", (_, command, shown) => {
  expect(renderCommand(command, { eventStore: "my shop.db" })).toBe(shown);
});

it.each([
  ["Ada O'Neil", "'Ada O'\\''Neil'"],
  ["", "''"],
  ["a;b", "'a;b'"],
  ["<file or URL>", "<file or URL>"],
  ["<a>;<b>", "'<a>;<b>'"],
  ["/v1/transactions/{uti}", "/v1/transactions/{uti}"],
  ["{a,b}", "'{a,b}'"],
])("gives %j as a shell reads it, and leaves what the user replaces", (word, shown) => {
  expect(renderCommand(paylink("create", word))).toBe(`paylink create ${shown}`);
});

it("shows no control character of a remote text", () => {
  expect(renderHint(hint`See ${paylink("links", "show", "a\u001b[31m")}`)).toBe(
    "See paylink links show $'a\\u001b[31m'",
  );
});

it.each(["a\u001b[31m", "\u202eשלום", "👩\u200d👧 it's \\n", "tag \u{e0041}", "a\nb"])(
  "gives %j in escapes that a shell reads back",
  (word) => {
    const shown = renderCommand(paylink("reconcile", word));
    const env = { PATH: process.env["PATH"], LC_ALL: "C.UTF-8" };
    const read = spawnSync("bash", ["-c", `paylink() { printf %s "$2"; }; ${shown}`], { env });
    expect(read.stdout.toString()).toBe(word);
  },
);

it.each<[FailureCode, string]>([
  ["refused", "Nothing was changed. Look."],
  ["not_reached", "Nothing was changed. Look."],
  ["outcome_unknown", "The link may be changed. Look."],
])("says what %s means for the money", (code, shown) => {
  const error = new PaylinkError(code, "It failed.", { effect: "update", hints: [hint`Look.`] });
  expect(renderAdvice(error)).toEqual([shown]);
});

it("says what an error means for the money even without a next step", () => {
  expect(renderAdvice(new PaylinkError("usage", "No.", { effect: "replay" }))).toEqual([
    "Nothing was replayed.",
  ]);
  expect(renderAdvice(new PaylinkError("usage", "No."))).toEqual([]);
});
