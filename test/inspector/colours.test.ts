/** The colours of the pages: every text can be read on every ground, in light and in dark (WCAG 2.2, success criterion 1.4.3). */
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";

const TEXTS = ["text", "quiet", "accent", "good", "bad", "warn"];
/** `mark` is behind a row for some seconds after it has arrived. */
const GROUNDS = ["ground", "card", "soft", "mark"];
const LEAST_CONTRAST = 4.5;

/** The relative luminance of a colour in six hexadecimal digits. */
function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one: string, other: string): number {
  const [light = 0, dark = 0] = [luminance(one), luminance(other)].toSorted((a, b) => b - a);
  return (light + 0.05) / (dark + 0.05);
}

const css = readFileSync(new URL("../../src/pages/browser/base.css", import.meta.url), "utf8");
const [light = "", dark = ""] = css.match(/:root \{[^}]*\}/g) ?? [];

it.each([
  ["light", light],
  ["dark", dark],
])("have enough contrast in %s mode", (_, rules) => {
  const colours = new Map(
    [...rules.matchAll(/--([a-z-]+): (#[0-9a-f]{6});/g)].map(([, name, code]) => [name, code]),
  );
  const pairs = TEXTS.flatMap((text) => GROUNDS.map((ground) => [text, ground] as const));
  const tooLittle = pairs.filter(([text, ground]) => {
    const [one, other] = [colours.get(text), colours.get(ground)];
    return one === undefined || other === undefined || contrast(one, other) < LEAST_CONTRAST;
  });
  expect(tooLittle).toEqual([]);
});
