/** Other spellings of a JSON text: its spaces, its numbers and its escapes. */

const TOKEN = /"(?:[^"\\]|\\.)*"|[^\s"{}[\],:]+|[{}[\],:]/g;

/** The most numbers of which every subset is tried: there are 2 to this power, times the other choices. */
const MAX_NUMBERS = 5;

/** Every spelling of a JSON text, the most common first; empty if it is not JSON. */
export function* respellings(text: string): Iterable<Buffer> {
  const tokens = tokensOf(text);
  if (tokens === undefined) return;
  const seen = new Set([text]);
  for (const numbers of numberSpellings(tokens)) {
    for (const escape of ESCAPES) {
      const spelled = numbers.map((token) => (token.startsWith('"') ? escape(token) : token));
      for (const space of SPACES) {
        const candidate = space(spelled);
        if (seen.size === seen.add(candidate).size) continue;
        yield Buffer.from(candidate, "utf8");
      }
    }
  }
}

function tokensOf(text: string): string[] | undefined {
  try {
    JSON.parse(text);
  } catch {
    return undefined;
  }
  return text.match(TOKEN) ?? [];
}

type Spell = (token: string) => string;

const plain: Spell = (token) => JSON.stringify(JSON.parse(token));
const slashes: Spell = (token) => token.replaceAll("/", "\\/");
const ascii: Spell = (token) =>
  token.replace(/[\u007f-\uffff]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
const html: Spell = (token) =>
  token.replace(/[<>&\u2028\u2029]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);

/** As written; as JavaScript, Python, PHP and Go write strings. */
const ESCAPES: readonly Spell[] = [
  (token) => token,
  plain,
  (token) => ascii(plain(token)),
  (token) => slashes(ascii(plain(token))),
  (token) => slashes(plain(token)),
  (token) => html(plain(token)),
];

/** Compact, as Python spaces it, and indented. */
const SPACES: readonly ((tokens: readonly string[]) => string)[] = [
  (tokens) => tokens.join(""),
  (tokens) => tokens.map((token) => (token === "," || token === ":" ? `${token} ` : token)).join(""),
  ...["  ", "    ", "\t"].map((indent) => (tokens: readonly string[]) => indented(tokens, indent)),
];

function indented(tokens: readonly string[], indent: string): string {
  let depth = 0;
  let text = "";
  const newline = (): string => `\n${indent.repeat(depth)}`;
  tokens.forEach((token, at) => {
    const empty = isClosing(tokens[at + 1]);
    if (token === "{" || token === "[") {
      depth++;
      text += token + (empty ? "" : newline());
    } else if (isClosing(token)) {
      depth--;
      const before = tokens[at - 1];
      text += (before === "{" || before === "[" ? "" : newline()) + token;
    } else if (token === ",") text += token + newline();
    else text += token === ":" ? ": " : token;
  });
  return text;
}

const isClosing = (token: string | undefined): boolean => token === "}" || token === "]";

/** As written, as JavaScript writes them, and every subset of them with one or two decimals: 10, 10.0, 10.00. */
function* numberSpellings(tokens: readonly string[]): Iterable<readonly string[]> {
  yield tokens;
  const numbers = tokens.flatMap((token, at) => (/^-?\d/.test(token) ? [at] : []));
  yield tokens.map((token) => (/^-?\d/.test(token) ? String(Number(token)) : token));
  if (numbers.length > MAX_NUMBERS) return;
  for (const decimals of [2, 1]) {
    for (let subset = 1; subset < 1 << numbers.length; subset++) {
      const chosen = new Set(numbers.filter((_, bit) => subset & (1 << bit)));
      yield tokens.map((token, at) => (chosen.has(at) ? padded(token, decimals) : token));
    }
  }
}

function padded(number: string, decimals: number): string {
  const [, whole, fraction = ""] = /^(-?\d+)(?:\.(\d*))?$/.exec(number) ?? [];
  return whole === undefined ? number : `${whole}.${fraction.padEnd(decimals, "0")}`;
}
