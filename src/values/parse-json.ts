/** Parses JSON texts (RFC 8259) to values whose numbers keep their spelling. */
import { isJsonObject, joinPath, JsonNumber, setMember, type Json, type JsonObject } from "./json.ts";
import { accepted, type Parsed, refused } from "./parse-result.ts";

interface JsonText {
  readonly value: Json;
  /**
   * The path of each repeated member, at most `MAX_DUPLICATES`: `amount`, `linkOptions.mode`. The last value is used. Where it has as
   * many as that, others may be repeated too.
   */
  readonly duplicates: readonly string[];
}

/** A path can be as long as the text, so only a few are kept: the work stays linear in the length of the text. */
export const MAX_DUPLICATES = 20;

/** RFC 8259 section 9 allows a limit; it keeps every recursion over a value safe. */
export const MAX_DEPTH = 128;

/**
 * Parses a JSON text, and ignores one leading byte order mark (RFC 8259 8.1). The platform's parser loses the spelling of
 * numbers and repeated members. lossless-json misses some repeated members, and takes four times as long (verify bench).
 * `isOneLine`: the message names no line. `names` are those that members probably have, in this order: they are compared, not
 * read (verify bench).
 */
export function parseJson(text: string, { isOneLine = false, names = NO_NAMES } = {}): Parsed<JsonText> {
  const reader = new Reader(text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text, names);
  const value = reader.whole();
  if (value === undefined) return refused(reader.problem(isOneLine));
  return accepted({ value, duplicates: reader.repeated.map((steps) => steps.reduce<string>(joinPath, "")) });
}

/** The object that is the JSON text; undefined for any other text. */
export function parseJsonObject(text: string): JsonObject | undefined {
  const json = parseJson(text);
  return json.ok && isJsonObject(json.value.value) ? json.value.value : undefined;
}

const NO_NAMES: readonly string[] = [];
export const BYTE_ORDER_MARK = "\uFEFF";
/** The grammar by character codes: comparing one-character texts makes the reader a third slower. */
const [TAB, LINE_FEED, RETURN, SPACE] = [0x09, 0x0a, 0x0d, 0x20];
const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a];
const [OPEN_OBJECT, CLOSE_OBJECT, OPEN_ARRAY, CLOSE_ARRAY] = [0x7b, 0x7d, 0x5b, 0x5d];

const ESCAPE = /\\(?:["\\/bfnrt]|u[\dA-Fa-f]{4})/y;
const NUMBER_TOKEN = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

/** Reads a text once, by the grammar of RFC 8259. A method that returns undefined leaves `at` where the text breaks it. */
class Reader {
  /** The steps to each of the first repeated members, from the value that is being read. */
  readonly repeated: (string | number)[][] = [];
  private readonly text: string;
  private readonly names: readonly string[];
  /** The place of the next one in `names`. */
  private probable = 0;
  private at = 0;
  /** Of the value that is being read. */
  private depth = 0;
  private tooDeep = false;

  constructor(text: string, names: readonly string[]) {
    this.text = text;
    this.names = names;
  }

  whole(): Json | undefined {
    const value = this.value();
    return value === undefined || !Number.isNaN(this.next()) ? undefined : value;
  }

  /** Why the text was refused. */
  problem(isOneLine: boolean): string {
    if (this.tooDeep) return `is nested deeper than ${MAX_DEPTH} levels`;
    const [character] = this.text.slice(this.at, this.at + 2);
    const found = character === undefined ? "end" : JSON.stringify(character);
    const lines = this.text.slice(0, this.at).split("\n");
    const column = `column ${(lines.at(-1) ?? "").length + 1}`;
    return `is not JSON: unexpected ${found} at ${isOneLine ? column : `line ${lines.length}, ${column}`}`;
  }

  private value(): Json | undefined {
    const first = this.next();
    if (first === QUOTE) return this.string();
    if (first === OPEN_OBJECT || first === OPEN_ARRAY) {
      this.tooDeep = this.depth === MAX_DEPTH;
      if (this.tooDeep) return undefined;
      this.at++;
      this.depth++;
      const value = first === OPEN_OBJECT ? this.object() : this.array();
      this.depth--;
      return value;
    }
    if (this.word("true")) return true;
    if (this.word("false")) return false;
    if (this.word("null")) return null;
    const start = this.at;
    return this.matches(NUMBER_TOKEN) ? new JsonNumber(this.text.slice(start, this.at)) : undefined;
  }

  private object(): JsonObject | undefined {
    const object: JsonObject = {};
    if (this.passes(CLOSE_OBJECT)) return object;
    do {
      const name = this.next() === QUOTE ? this.name() : undefined;
      if (name === undefined || !this.passes(COLON)) return undefined;
      const value = this.readAt(name);
      if (value === undefined) return undefined;
      if (Object.hasOwn(object, name) && this.repeated.length < MAX_DUPLICATES) this.repeated.push([name]);
      setMember(object, name, value);
    } while (this.passes(COMMA));
    return this.passes(CLOSE_OBJECT) ? object : undefined;
  }

  private array(): Json[] | undefined {
    const array: Json[] = [];
    if (this.passes(CLOSE_ARRAY)) return array;
    do {
      const value = this.readAt(array.length);
      if (value === undefined) return undefined;
      array.push(value);
    } while (this.passes(COMMA));
    return this.passes(CLOSE_ARRAY) ? array : undefined;
  }

  private readAt(step: string | number): Json | undefined {
    const known = this.repeated.length;
    const value = this.value();
    for (let index = known; index < this.repeated.length; index++) this.repeated[index]?.unshift(step);
    return value;
  }

  private name(): string | undefined {
    const probable = this.names[this.probable] ?? "";
    const end = this.at + 1 + probable.length;
    // None of them has a character that would be escaped.
    if (
      probable !== "" &&
      this.text.charCodeAt(end) === QUOTE &&
      this.text.startsWith(probable, this.at + 1)
    ) {
      this.at = end + 1;
      this.probable++;
      return probable;
    }
    const name = this.string();
    const at = name === undefined ? -1 : this.names.indexOf(name);
    if (at >= 0) this.probable = at + 1;
    return name;
  }

  private string(): string | undefined {
    const start = this.at++;
    let code = this.skipPlain();
    const escaped = code === BACKSLASH;
    while (code === BACKSLASH) {
      if (!this.matches(ESCAPE)) return undefined;
      code = this.skipPlain();
    }
    if (code !== QUOTE) return undefined;
    this.at++;
    return escaped
      ? String(JSON.parse(this.text.slice(start, this.at)))
      : this.text.slice(start + 1, this.at - 1);
  }

  /** Goes past the characters of a string that stand for themselves; the code of the next, NaN at the end. */
  private skipPlain(): number {
    const { text } = this;
    let { at } = this;
    let code = text.charCodeAt(at);
    while (code >= SPACE && code !== QUOTE && code !== BACKSLASH) code = text.charCodeAt(++at);
    this.at = at;
    return code;
  }

  /** Goes past what the sticky expression matches. */
  private matches(expression: RegExp): boolean {
    expression.lastIndex = this.at;
    if (!expression.test(this.text)) return false;
    this.at = expression.lastIndex;
    return true;
  }

  private word(word: string): boolean {
    if (!this.text.startsWith(word, this.at)) return false;
    this.at += word.length;
    return true;
  }

  /** Goes past the character if it is the next one. */
  private passes(code: number): boolean {
    if (this.next() !== code) return false;
    this.at++;
    return true;
  }

  /** The code of the next character after white space (RFC 8259 2); NaN at the end. */
  private next(): number {
    let code = this.text.charCodeAt(this.at);
    while (code === SPACE || code === LINE_FEED || code === RETURN || code === TAB)
      code = this.text.charCodeAt(++this.at);
    return code;
  }
}
