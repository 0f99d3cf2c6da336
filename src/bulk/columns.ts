/** The columns of a list: which field of the request each is by its name or by `--map`, and which field a wrong name means. */
import type { Problem } from "../domain/errors.ts";
import { isKnownCurrency } from "../domain/money.ts";
import { accepted, isMisspelled, nearest, refused, type Parsed } from "../domain/parse-result.ts";
import { requestFields } from "../domain/payment-link.ts";
import { labelOf, wordsOf } from "../domain/payment-link-fields.ts";

export interface Column {
  /** As written in the file. */
  readonly name: string;
  /** The field of the request (`linkOptions.mode`); undefined for a column that is not sent. */
  readonly field: string | undefined;
  /** The fields that the name means, although it is not the name of one. */
  readonly meant: readonly string[];
}

/** A `--map`: the column of this name is this field; without a field, it is not sent. */
export interface Mapping {
  readonly name: string;
  readonly field: string | undefined;
}

const FIELDS = requestFields();
const FIELD_OF = new Map(FIELDS.map((field) => [normalised(field), field]));

/** Case, spaces, hyphens and underscores do not matter: `Customer Name` is `customerName`. */
function normalised(name: string): string {
  return name.toLowerCase().replace(/[\s_-]+/g, "");
}

/** `Invoice=invoiceId`. A field has no equals sign in its name. */
export function parseMapping(typed: string): Parsed<Mapping> {
  const at = typed.lastIndexOf("=");
  const name = typed.slice(0, at).trim();
  const wanted = typed.slice(at + 1).trim();
  if (at === -1 || name === "")
    return refused("must be a column and a field, such as Invoice=invoiceId, or Invoice= to leave it out");
  if (wanted === "") return accepted({ name, field: undefined });
  const field = FIELD_OF.get(normalised(wanted));
  if (field !== undefined) return accepted({ name, field });
  const [near = nearest(wanted, FIELDS)] = fieldsMeantBy(wanted);
  return near === undefined
    ? refused(`must name a field, such as ${FIELDS.slice(0, 3).join(", ")}`)
    : refused(`must name a field; did you mean ${near}?`, `${name}=${near}`);
}

/** Why a column is refused: the same for all, so that problems of it can be told from others. */
export const NOT_A_FIELD = "is not a field";

/** Reads the names of columns, for one list. */
export class Columns {
  private readonly mapped: ReadonlyMap<string, Mapping>;
  // JSON lines repeat their names in every row.
  private readonly known = new Map<string, Column>();
  private readonly mappings: readonly Mapping[];

  constructor(mappings: readonly Mapping[] = []) {
    this.mappings = mappings;
    this.mapped = new Map(mappings.map((mapping) => [normalised(mapping.name), mapping]));
  }

  named(name: string): Column {
    const column = this.known.get(name) ?? this.read(name);
    this.known.set(name, column);
    return column;
  }

  private read(name: string): Column {
    const mapping = this.mapped.get(normalised(name));
    const field = mapping === undefined ? FIELD_OF.get(normalised(name)) : mapping.field;
    const isMeant = mapping === undefined && field === undefined;
    return { name, field, meant: isMeant ? fieldsMeantBy(name) : [] };
  }

  /** The mappings of columns that the list does not have, with the columns that they probably mean. */
  unused(names: readonly string[]): Problem[] {
    const present = new Set(names.map(normalised));
    return this.mappings
      .filter(({ name }) => !present.has(normalised(name)))
      .map(({ name, field = "" }) => {
        const value = `${name}=${field}`;
        const near = nearest(name, names);
        const meant = near === undefined ? "" : `; did you mean ${near}?`;
        return {
          at: "--map",
          message: `names a column that the list does not have${meant} (got "${value}")`,
          value,
          ...(near === undefined ? {} : { instead: `${near}=${field}` }),
        };
      });
  }
}

/** The columns that mean a field and are not named as one: otherwise links would silently lack their values. */
export const misnamed = (columns: readonly Column[]): Problem[] =>
  columns
    .filter(({ meant }) => meant.length > 0)
    .map(({ name, meant }) => ({
      at: name,
      message: `${NOT_A_FIELD}: did you mean ${meant.join(" or ")}?`,
      kind: NOT_A_FIELD,
    }));

/** The fields that more than one column has. */
export function repeatedFields(columns: readonly Column[]): string[] {
  const fields = columns.flatMap(({ field }) => field ?? []);
  return [...new Set(fields.filter((field, index) => fields.indexOf(field) !== index))];
}

// What a name means: its words are compared with those of every field, whatever their case, marks and endings.

/** Words that say whose a field is, before the word for the field. */
const OF_CUSTOMER = new Set(
  "customer client payer buyer billing contact recipient guest donor".split(" ").map(stem),
);
const OF_PAYMENT = new Set("payment invoice order link total gross your our my the".split(" ").map(stem));
/** Words for a number, behind the word for what is numbered: also written together with it. */
const NUMBERS = /^(?:number|num|no|nr|id|code|ref|reference)s?$/;
const JOINED_NUMBER = /(?<=\p{L}{3})(?:number|num|no|nr|id|code|ref)s?$/iu;
const LITTLE_WORDS = new Set(["in", "of", "the"]);
/** Words that are nearly a word for a field, and mean something else. */
const NOT_FIELDS = new Set("county counties state status".split(" ").map(stem));

/** The fields of each spelling. Only words that stand at several fields can mean each of them. */
const MEANINGS = new Map<string, Set<string>>();
for (const field of FIELDS) {
  const steps = field.split(".");
  for (const from of steps.keys()) addNewMeaning(steps.slice(from).join(" "), field);
}
for (const field of FIELDS) for (const word of wordsOf(field)) addMeaning(word, field);
for (const field of FIELDS) addNewMeaning(labelOf(field), field);
const SPELLINGS = [...MEANINGS.keys()];

function addNewMeaning(words: string, field: string): void {
  if (!MEANINGS.has(spellingOf(wordsIn(words)))) addMeaning(words, field);
}

function addMeaning(words: string, field: string): void {
  const spelling = spellingOf(wordsIn(words));
  MEANINGS.set(spelling, (MEANINGS.get(spelling) ?? new Set()).add(field));
}

export function fieldsMeantBy(name: string): readonly string[] {
  const joined = name.trim().replace(JOINED_NUMBER, " $&");
  const readings = [joined.replace(/(?<=[a-z\d])(?=[A-Z])/g, " "), joined].map(wordsIn);
  for (const find of [(spelling: string) => MEANINGS.get(spelling), nearMeaning])
    for (const words of readings) {
      const fields = meaningOf(words, find);
      if (fields.length > 0) return fields;
    }
  return [];
}

function meaningOf(
  words: readonly string[],
  find: (spelling: string) => ReadonlySet<string> | undefined,
): readonly string[] {
  const whole = find(spellingOf(words));
  if (whole !== undefined) return [...whole];
  const [first = "", ...rest] = words;
  if (rest.length === 0) return [];
  const ofCustomer = (field: string): boolean => field.startsWith("customer");
  return meaningOf(rest, find).filter((field) => (ofCustomer(field) ? OF_CUSTOMER : OF_PAYMENT).has(first));
}

function nearMeaning(spelling: string): ReadonlySet<string> | undefined {
  if (NOT_FIELDS.has(spelling)) return undefined;
  const near = nearest(spelling, SPELLINGS, isMisspelled);
  return near === undefined ? undefined : MEANINGS.get(near);
}

/** The words of a name, without what is in brackets, apostrophes, and the code of a currency behind the first word. */
function wordsIn(name: string): string[] {
  const words = name
    .normalize("NFKD")
    .toLowerCase()
    .replace(/\p{M}|['’`]/gu, "")
    .replace(/(?<=[\p{L}\d].*)(?:\([^()]*\)|\[[^[\]]*\])/gu, " ")
    .replace(/#/g, " number ")
    .replace(/(?<=\p{L})(?=\d)/gu, " ")
    .split(/[^\p{L}\d]+/u)
    .filter((word) => word !== "");
  return words
    .filter((word, at) => at === 0 || !(LITTLE_WORDS.has(word) || isKnownCurrency(word)))
    .map((word, at) => (at > 0 && NUMBERS.test(word) ? "number" : stem(word)));
}

function spellingOf(words: readonly string[]): string {
  return words.join("");
}

/** Without the ending of a plural, and without a last e: `notes` is `note`, `addresses` is `address`, `cities` is `city`. */
function stem(word: string): string {
  return word.replace(/ies$/, "y").replace(/^(.{3,}?)[es]+$/, "$1");
}
