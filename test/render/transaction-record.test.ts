/** Records in words: long values go on below, remote text commands nothing, and tables line up. */
import { Chalk } from "chalk";
import { expect, it } from "vitest";
import { renderRecord } from "../../src/render/transaction-record.ts";
import { renderTable } from "../../src/render/table.ts";
import { renderForward } from "../../src/render/received-webhook.ts";

const paint = new Chalk({ level: 0 });

it("wraps a long value instead of leaving any of it out", () => {
  const uti = "0123456789".repeat(12);
  const shown = renderRecord({ uti }, [], { paint, width: 80 });
  const lines = shown.split("\n").filter((line) => /\d{10}/.test(line));
  expect(lines.length).toBeGreaterThan(1);
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80);
  expect(lines.map((line) => line.replace("uti", "").trim()).join("")).toBe(uti);
});

it("escapes what would command the terminal, in records, tables and answers", () => {
  const hostile = "a\u001b]0;title\u0007\u202Eb\u200Bc";
  const shown = [
    renderRecord({ reference: hostile, [hostile]: hostile }, [], { paint, width: 80 }),
    renderTable([[{ text: hostile }]]),
    renderForward("id", { target: "http://a/", status: 500, ms: 1, detail: hostile }, paint),
  ].join("\n");
  expect(shown).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}]/u);
  expect(shown).toContain("\\u{202e}");
});

it("lines columns up, numbers to the right", () => {
  const rows = [
    [{ text: "a" }, { text: "1", right: true }, { text: "x" }],
    [{ text: "bcd" }, { text: "100", right: true }, { text: "" }],
  ];
  expect(renderTable(rows)).toBe("a      1  x\nbcd  100");
});
