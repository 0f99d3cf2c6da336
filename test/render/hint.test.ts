/** Advice as text: commands as a shell reads them, the profile of the run, and what an error means for the money. */
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { expect, it } from "vitest";
import { PaylinkError, type FailureCode } from "../../src/domain/errors.ts";
import { hint, paylink, type CommandLine } from "../../src/domain/hint.ts";
import { renderAdvice, renderCommand, renderHint } from "../../src/render/hint.ts";
import { safeText } from "../../src/render/safe-text.ts";
import { temporaryHome } from "../support/home.ts";

it.each<[string, CommandLine, string]>([
  ["an account", paylink`links list`, "paylink -p shop links list"],
  ["no account", paylink`sandbox advance 1h`, "paylink sandbox advance 1h"],
  ["a profile of its own", paylink`login -p my-shop`, "paylink login -p my-shop"],
  ["a profile as it was typed", paylink`bulk a.csv --profile=shop`, "paylink bulk a.csv --profile=shop"],
])("names the profile in a command with %s", (_, command, shown) => {
  expect(renderCommand(command, { profile: "shop" })).toBe(shown);
});

it.each<[string, CommandLine, string]>([
  ["of events", paylink`events show 7`, "paylink events show 7 --db 'my shop.db'"],
  ["without events", paylink`links list`, "paylink links list"],
])("names the event store in a command %s", (_, command, shown) => {
  expect(renderCommand(command, { eventStore: "my shop.db" })).toBe(shown);
});

it.each([
  ["Ada Lovelace", "'Ada Lovelace'"],
  ["", "''"],
  ["a;b", "'a;b'"],
  ["<file>", "'<file>'"],
  ["=ls", "'=ls'"],
  ["%self", "'%self'"],
  ["~/x", "'~/x'"],
  ["/v1/transactions/{uti}", "/v1/transactions/{uti}"],
  ["{a,b}", "'{a,b}'"],
])("quotes the value %j", (word, shown) => {
  expect(renderCommand(paylink`create ${word}`)).toBe(`paylink create ${shown}`);
});

it("leaves only its own placeholders to the user", () => {
  const command = paylink`config set webhookKey <file or URL> --to=<a> ${"<b>"}`;
  expect(renderCommand(command)).toBe("paylink config set webhookKey <file or URL> --to=<a> '<b>'");
});

it.each<[string, CommandLine, string]>([
  ["operands", paylink`links cancel ${["-y", "a b"]}`, "paylink links cancel -- -y 'a b'"],
  [
    "an operand before flags",
    paylink`events replay ${"-y"} --to <url>`,
    "paylink events replay --to <url> -- -y",
  ],
  ["the value of a flag", paylink`verify --event ${"--key=x"}`, "paylink verify --event=--key=x"],
  [
    "values of flags",
    paylink`links list ${{ "--a": ["-1", "2"], "--b": true, "--c": false }}`,
    "paylink links list --a=-1 --a 2 --b",
  ],
])("makes no flag of %s", (_, command, shown) => {
  expect(renderCommand(command)).toBe(shown);
});

it("names the profile and the store before what is behind --", () => {
  const named = { profile: "shop", eventStore: "a b.db" };
  expect(renderCommand(paylink`events show ${"--profile=live"}`, named)).toBe(
    "paylink -p shop events show --db 'a b.db' -- --profile=live",
  );
});

const UNSAFE = ["a\u001b[31m", "\u202eשלום", "Ada O'Neil", "a\\'; touch pwned; #", "tag \u{e0041}", "a\nb"];

it.each(UNSAFE)("prints no command with %j", (word) => {
  expect(renderCommand(paylink`reconcile ${word}`)).toBeUndefined();
  const words = renderHint(hint`See ${paylink`reconcile ${word}`}`);
  expect(words).toBe(
    `See no command can be pasted, because shells read "${safeText(word)}" in different ways`,
  );
});

const HOSTILE = [
  "</dev/null; touch pwned; #>",
  "$(touch pwned)",
  "`touch pwned`; touch pwned",
  "*",
  "!!",
  "--profile=live",
  "-y",
  "(touch pwned)",
  "{a,b} %1 ~ =ls",
  '"; touch pwned; "',
];

it.each(["bash", "zsh", "fish"])("is read back by %s, which runs nothing of it", (shell) => {
  const folder = temporaryHome();
  const command = renderCommand(paylink`links cancel ${HOSTILE}`) ?? "";
  const print =
    shell === "fish" ? "function paylink; printf '%s\\n' $argv; end" : "paylink() { printf '%s\\n' \"$@\"; }";
  const read = spawnSync(shell, ["-c", `${print}\n${command}`], { cwd: folder, encoding: "utf8" });
  expect(read.stdout.trimEnd().split("\n")).toEqual(["links", "cancel", "--", ...HOSTILE]);
  expect(readdirSync(folder)).toEqual([]);
});

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
