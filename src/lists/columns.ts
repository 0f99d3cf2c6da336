/** The columns of a list: which field of the request each is by its name or by `--map`, and which field a wrong name means. */
import { comparableText } from "../domain/comparable-text.ts";
import type { Problem } from "../domain/errors.ts";
import { typedFlag } from "../domain/hint.ts";
import { isKnownCurrency } from "../domain/money.ts";
import { accepted, isMisspelled, nearest, refused, type Parsed } from "../domain/parse-result.ts";
import { linkFieldAt, fieldLabel, requestFields } from "../domain/payment-link-field-lookup.ts";

export interface Column {
  /** As written in the file. */
  readonly name: string;
  /** The field of the request (`linkOptions.mode`); undefined for a column that is not sent. */
  readonly field: string | undefined;
  /** The field that the name means, although it is not the name of one. */
  readonly meant: string | undefined;
}

/** A `--map`: the column of this name is this field; without a field, it is not sent. */
export type Mapping = Pick<Column, "name" | "field">;

const FIELDS = requestFields();
const FIELD_OF = new Map(FIELDS.map((field) => [normalised(field), field]));

/** Case, spaces, hyphens, underscores and what is invisible do not matter: `Customer Name` is `customerName`. */
function normalised(name: string): string {
  return comparableText(name)
    .toLowerCase()
    .replace(/[\s_-]+/g, "");
}

const MEANINGS = new Map<string, string>();
for (const field of FIELDS)
  for (const name of [
    field,
    field.split(".").at(-1) ?? "",
    fieldLabel(field),
    ...(linkFieldAt(field).aliases?.split(", ") ?? []),
  ])
    if (!MEANINGS.has(spellingOf(name))) MEANINGS.set(spellingOf(name), field);
const SPELLINGS = [...MEANINGS.keys()];

/** Nearly the words for a field, and something else. */
const NO_FIELDS: ReadonlySet<string> = new Set(["county", "customerid", "customerno"]);

/** The letters and digits of a name, without what is in brackets, and the code of a currency behind the first word. */
function spellingOf(name: string): string {
  const words = name
    .normalize("NFKD")
    .toLowerCase()
    .replace(/\p{M}/gu, "")
    .replace(/(?<=\S\s*)(?:\([^()]*\)|\[[^[\]]*\])/gu, " ")
    .split(/[^\p{L}\d]+/u)
    .filter((word) => word !== "");
  return words.filter((word, at) => at === 0 || !isKnownCurrency(word)).join("");
}

/** The field that a name means or nearly is. */
export function fieldMeantBy(name: string): string | undefined {
  const spelling = spellingOf(name);
  const near = NO_FIELDS.has(spelling) ? undefined : nearest(spelling, SPELLINGS, isMisspelled);
  return MEANINGS.get(spelling) ?? (near === undefined ? undefined : MEANINGS.get(near));
}

/** `Invoice=invoiceId`. A field has no equals sign in its name. */
export function parseMapping(typed: string): Parsed<Mapping> {
  const at = typed.lastIndexOf("=");
  const name = typed.slice(0, at).trim();
  const text = typed.slice(at + 1).trim();
  if (at === -1 || name === "")
    return refused("must be a column and a field, such as Invoice=invoiceId, or Invoice= to leave it out");
  if (text === "") return accepted({ name, field: undefined });
  const field = FIELD_OF.get(normalised(text));
  if (field !== undefined) return accepted({ name, field });
  const near = fieldMeantBy(text) ?? nearest(text, FIELDS);
  return near === undefined
    ? refused(`must name a field, such as ${FIELDS.slice(0, 3).join(", ")}`)
    : refused("must name a field", `${name}=${near}`);
}

/** Escapes in the way that messages show a name: a line break, or what is invisible. */
const unescaped = (name: string): string =>
  name
    .replace(/\\u\{([0-9a-f]{1,6})\}/g, (_, code: string) =>
      String.fromCodePoint(Number.parseInt(code, 16) % 0x11_0000),
    )
    .replace(/\\[nrt]/g, " ");

interface ColumnsOptions {
  /** A column that means a field is that field, where nothing is sent. */
  readonly takesMeant?: boolean;
  /** Mappings of columns that the list does not have are no problem: they are for another list. */
  readonly mayBeUnused?: boolean;
  /** The fields that are read; without it, all. A column of another field is as one that is not sent. */
  readonly fields?: ReadonlySet<string>;
}

/** Reads the names of columns, for one list. */
export class Columns {
  private readonly mapped: ReadonlyMap<string, Mapping>;
  private readonly takesMeant: boolean;
  private readonly mayBeUnused: boolean;
  private readonly fields: ReadonlySet<string> | undefined;
  // JSON lines repeat their names in every row.
  private readonly known = new Map<string, Column>();

  constructor(
    mappings: readonly Mapping[] = [],
    { takesMeant = false, mayBeUnused = false, fields }: ColumnsOptions = {},
  ) {
    this.takesMeant = takesMeant;
    this.mayBeUnused = mayBeUnused;
    this.fields = fields;
    this.mapped = new Map(
      mappings.flatMap((mapping) =>
        [unescaped(mapping.name), mapping.name].map((name) => [normalised(name), mapping] as const),
      ),
    );
  }

  named(name: string): Column {
    const known = this.known.get(name);
    if (known !== undefined) return known;
    const read = this.read(name);
    const isRead = read.field === undefined || (this.fields?.has(read.field) ?? true);
    const column = isRead ? read : { name, field: undefined, meant: undefined };
    this.known.set(name, column);
    return column;
  }

  /** Whether a `--map` says what the column is. */
  isMapped(name: string): boolean {
    return this.mapped.has(normalised(name));
  }

  private read(name: string): Column {
    const mapping = this.mapped.get(normalised(name));
    if (mapping !== undefined) return { name, field: mapping.field, meant: undefined };
    const field = FIELD_OF.get(normalised(name));
    if (field !== undefined) return { name, field, meant: undefined };
    const meant = fieldMeantBy(name);
    return this.takesMeant ? { name, field: meant, meant: undefined } : { name, field: undefined, meant };
  }

  /** The mappings of columns that the list does not have, with the columns that they probably mean. */
  unused(names: readonly string[]): Problem[] {
    if (this.mayBeUnused) return [];
    const present = new Set(names.map(normalised));
    return [...new Set(this.mapped.values())].flatMap(({ name, field = "" }) => {
      if (present.has(normalised(name)) || present.has(normalised(unescaped(name)))) return [];
      const near = nearest(name, names);
      const message = `names a column that the list does not have (got "${name}=${field}")`;
      return [{ at: "--map", message: near === undefined ? message : `${message}; did you mean ${near}?` }];
    });
  }
}

/** The columns that mean a field and are not named as one: otherwise links would silently lack their values. */
export const misnamed = (columns: readonly Column[]): Problem[] =>
  columns.flatMap(({ name, meant }) =>
    meant === undefined
      ? []
      : [{ at: name, message: `is not a field: did you mean ${meant}? (${mapAdvice(name, meant)})` }],
  );

/** How to say what a column is. */
export const mapAdvice = (name: string, field: string): string =>
  `${mapFlag(name, field)}, or ${mapFlag(name, "")} to leave it out`;

/** As it is typed in a shell. The name of some columns cannot be pasted into every shell. */
export const mapFlag = (name: string, field: string): string =>
  typedFlag("--map", `${name}=${field}`) ?? `--map "<column>=${field}"`;

/** The fields that more than one column has. */
export function repeatedFields(columns: readonly Column[]): string[] {
  const fields = columns.flatMap(({ field }) => field ?? []);
  return [...new Set(fields.filter((field, index) => fields.indexOf(field) !== index))];
}
