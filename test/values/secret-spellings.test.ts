/** Secrets that the other side repeats in a spelling of its own. */
import { expect, it } from "vitest";
import { hasPartOf } from "../../src/values/secret-spellings.ts";
import { createSecrets } from "../../src/terminal/debug-trace.ts";

const SECRET = `p~a!s's(w)o rd+/"\\&<ü😀`;

const asForm = new URLSearchParams([["", SECRET]]).toString().slice(1);
const asEntities = Array.from(SECRET, (one) => `&#x${one.codePointAt(0)?.toString(16).toUpperCase()};`).join(
  "",
);
const asUnits = Array.from(
  { length: SECRET.length },
  (_, at) => `\\u${SECRET.charCodeAt(at).toString(16).padStart(4, "0")}`,
).join("");

it.each([
  ["as it is", SECRET],
  ["in JSON", JSON.stringify(SECRET)],
  ["in the JSON of PHP", JSON.stringify(SECRET).replaceAll("/", "\\/").replace("ü", "\\u00FC")],
  ["in JSON within JSON", JSON.stringify(JSON.stringify(SECRET))],
  ["in units of UTF-16", asUnits],
  ["in a form", asForm],
  ["in a form, lower case", asForm.toLowerCase()],
  ["in a form within a URL", encodeURIComponent(asForm)],
  ["in a URL", encodeURIComponent(SECRET)],
  ["in the URL of another program", encodeURIComponent(SECRET).replaceAll("~", "%7E").replaceAll("!", "%21")],
  [
    "on a page",
    SECRET.replaceAll("&", "&amp;")
      .replaceAll("<", "&lt;")
      .replaceAll('"', "&quot;")
      .replaceAll("'", "&#039;"),
  ],
  ["in entities", asEntities],
])("are hidden %s", (_, spelled) => {
  const { know, hide } = createSecrets();
  know("p~a!");
  know(SECRET);
  expect(hide(`It says ${spelled}.`)).toMatch(/^It says "?(?:\\?")?\[redacted\](?:\\?")?"?\.$/);
  expect(hasPartOf(SECRET, `It says ${spelled.slice(0, spelled.length * 0.7)}`)).toBe(true);
});

it("leaves other texts, and does not take long for one that is all escapes", () => {
  const { know, hide } = createSecrets();
  know("abcd".repeat(20));
  const text = `${"\\".repeat(20_000)}${"%25".repeat(20_000)}${"&amp;".repeat(20_000)}${"abcd".repeat(19)}`;
  expect(hide(text)).toBe(text);
  expect(hasPartOf("0123456789", "01234567, 12345678")).toBe(true);
  expect(hasPartOf("0123456789", "0123456 3456789")).toBe(false);
  expect(hasPartOf("", "text")).toBe(false);
});
