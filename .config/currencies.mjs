/** Writes the currencies of ISO 4217 anew from the list of its maintenance agency: `npm run currencies`. */
import { writeFileSync } from "node:fs";

const SOURCE =
  "https://www.six-group.com/dam/download/financial-information/data-center/iso-currrency/lists/list-one.xml";

export const FILE = new URL("../src/domain/currencies.ts", import.meta.url);

const CODES_IN_A_LINE = 24;

/** @param {string} xml The list: an entry for each country, some of which have no currency of their own. */
export function currenciesFile(xml) {
  const [, published] = /<ISO_4217 Pblshd="(\d{4}-\d\d-\d\d)">/.exec(xml) ?? [];
  /** @type {Record<string, Set<string>>} */
  const codes = {};
  for (const [entry] of xml.matchAll(/<CcyNtry>.*?<\/CcyNtry>/gs)) {
    const [, code] = /<Ccy>([A-Z]{3})<\/Ccy>/.exec(entry) ?? [];
    const [, decimals] = /<CcyMnrUnts>(\d|N\.A\.)<\/CcyMnrUnts>/.exec(entry) ?? [];
    if (code === undefined) continue;
    if (decimals === undefined) throw new Error(`The list does not say how many decimals ${code} has.`);
    (codes[decimals === "N.A." ? "none" : decimals] ??= new Set()).add(code);
  }
  if (published === undefined || codes["2"] === undefined) throw new Error(`This is not ISO 4217: ${SOURCE}`);
  const lines = Object.entries(codes).map(
    ([decimals, set]) => `  ${decimals}: \`${wrapped([...set].toSorted())}\`,`,
  );
  return `/**
 * The currencies of ISO 4217 by the number of their decimals, as published on ${published}. Metals, funds and test codes
 * have no minor unit. \`npm run currencies\` writes this file.
 */
export const CURRENCIES = {
${lines.join("\n")}
};
`;
}

/** @param {readonly string[]} codes */
function wrapped(codes) {
  const lines = [];
  for (let start = 0; start < codes.length; start += CODES_IN_A_LINE)
    lines.push(codes.slice(start, start + CODES_IN_A_LINE).join(" "));
  return lines.join("\n    ");
}

if (process.argv[1] === import.meta.filename) {
  const response = await fetch(SOURCE);
  if (!response.ok) throw new Error(`${SOURCE} answered ${response.status}.`);
  writeFileSync(FILE, currenciesFile(await response.text()));
}
