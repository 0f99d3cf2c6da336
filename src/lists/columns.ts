/** The columns of a list: what each is by its name or by `--map`, and which field a wrong name means. */
import { grouped } from "../values/groups.ts";
import { comparableText } from "../values/comparable-text.ts";
import { PaylinkError, type Problem } from "../domain/errors.ts";
import { typedFlag } from "../domain/hint.ts";
import { accepted, isMisspelled, nearest, refused, type Parsed } from "../values/parse-result.ts";
import { fieldLabel, requestFields } from "../domain/payment-link-field-lookup.ts";
import {
  bareSpellingOf,
  FIELD_WORDS,
  isMoneyRole,
  madeOnce,
  meaningsBySpelling,
  MONEY_ROLES,
  ROLE_WORDS,
  roleByWords,
  spellingOf,
  WEAK_ORDER_NUMBERS,
  type ColumnRole,
} from "./column-words.ts";

export interface Column {
  /** As written in the file. */
  readonly name: string;
  /** The field of the request (`linkOptions.mode`); undefined for a column that is not sent. */
  readonly field: string | undefined;
  /** The field that the name means, although it is not the name of one. */
  readonly meant: string | undefined;
  /** What it says of the row's money besides. */
  readonly role: ColumnRole | undefined;
  /** In a column of two signs, the one for money that came in; undefined where nobody has said it. */
  readonly moneyIn?: string | undefined;
  /** It has order numbers only where no other column has them. */
  readonly isWeak?: boolean;
}

/** A `--map`: the column of this name is this field, or says this of the money; without both, it is left out. */
export interface Mapping extends Pick<Column, "name" | "field" | "moneyIn"> {
  readonly role?: ColumnRole | undefined;
}

const FIELDS = requestFields();
const ORDER_NUMBER_FIELD = "invoiceId";

/** Case, spaces, hyphens, underscores and what is invisible do not matter: `Customer Name` is `customerName`. */
function normalised(name: string): string {
  return comparableText(name)
    .toLowerCase()
    .replace(/[\s_-]+/g, "");
}

/** The spellings that columns are known by. */
const spellings = madeOnce(() => ({
  fieldOf: new Map(FIELDS.map((field) => [normalised(field), field])),
  meanings: meaningsBySpelling(
    FIELDS.map((field) => [
      field,
      [field, field.split(".").at(-1) ?? "", fieldLabel(field).replaceAll(",", " "), FIELD_WORDS[field] ?? ""]
        .filter((words) => words !== "")
        .join(", "),
    ]),
  ),
  roles: meaningsBySpelling(Object.entries(ROLE_WORDS) as [ColumnRole, string][]),
  weak: meaningsBySpelling([[ORDER_NUMBER_FIELD, WEAK_ORDER_NUMBERS]]),
  /** In their order: the first that a list has is looked into for order numbers. */
  texts: [...meaningsBySpelling([["text", ROLE_WORDS.text]]).keys()],
}));

/** What a list of rows to send says of them itself. */
const ROLES_BESIDE_FIELDS: ReadonlySet<ColumnRole> = new Set([
  "paid",
  "paidOn",
  "voidOn",
  "due",
  "state",
  "out",
  "kind",
  "running",
]);

/** Nearly the words for a field, and something else. */
const NO_FIELDS: ReadonlySet<string> = new Set([
  "county",
  "customerid",
  "customerno",
  "device",
  "orderpostal",
  "paymentaccount",
]);

/** No field has the address that goods are sent to, or an amount without its tax. */
const BESIDE_FIELDS =
  /\((?:shipping|delivery|versand|lieferung|livraison|envío|spedizione|(?:ex|excl|exkl)\.? [^)]*|net|netto|ht)\)/i;

/** Letters of a name that may be a misspelled one: a text in its place would take long to compare. */
const LONGEST_NEAR = 60;

/** `Belegfeld 2` is no misspelled `Belegfeld 1`. */
const digitsOf = (spelling: string): string => spelling.replace(/\D/g, "");
const meantByDigits = madeOnce(() => grouped(spellings().meanings.keys(), digitsOf));

/** The meaning of a name, with what it has in brackets, or else without. */
const meaningOfName = <Meaning>(name: string, meanings: ReadonlyMap<string, Meaning>): Meaning | undefined =>
  meanings.get(spellingOf(name)) ?? meanings.get(bareSpellingOf(name));

const roleMeantBy = (name: string): ColumnRole | undefined =>
  meaningOfName(name, spellings().roles) ?? roleByWords(name);

/** The field that a name means or nearly is. */
export function fieldMeantBy(name: string): string | undefined {
  const { meanings, weak, roles } = spellings();
  if (BESIDE_FIELDS.test(name)) return undefined;
  for (const spelling of [spellingOf(name), bareSpellingOf(name)]) {
    const known = meanings.get(spelling) ?? weak.get(spelling);
    if (known !== undefined || roles.has(spelling)) return known;
  }
  if (roleByWords(name) !== undefined) return undefined;
  const spelling = bareSpellingOf(name);
  const near =
    NO_FIELDS.has(spelling) || spelling.length > LONGEST_NEAR
      ? undefined
      : nearest(spelling, meantByDigits().get(digitsOf(spelling)) ?? [], isMisspelled);
  return near === undefined ? undefined : meanings.get(near);
}

export const leftOut = (name: string) =>
  ({ name, field: undefined, meant: undefined, role: undefined }) as const;

/** `Invoice=invoiceId`, `Balance=due`, `Soll/Haben=sign:H`. A field has no equals sign in its name. */
export function parseMapping(typed: string): Parsed<Mapping> {
  const at = typed.lastIndexOf("=");
  const name = typed.slice(0, at).trim();
  const text = typed.slice(at + 1).trim();
  if (at === -1 || name === "")
    return refused("must be a column and a field, such as Invoice=invoiceId, or Invoice= to leave it out");
  if (text === "") return accepted({ name, field: undefined });
  const [word = "", moneyIn] = text.split(/:(.*)/su).map((part) => part.trim());
  const role = word.toLowerCase();
  if (isMoneyRole(role) && (moneyIn === undefined || role === "sign"))
    return accepted({ name, field: undefined, role, ...(moneyIn === undefined ? {} : { moneyIn }) });
  const field = spellings().fieldOf.get(normalised(text));
  if (field !== undefined) return accepted({ name, field });
  const near = fieldMeantBy(text) ?? nearest(text, [...FIELDS, ...MONEY_ROLES]);
  return near === undefined
    ? refused(`must name a field, such as ${FIELDS.slice(0, 3).join(", ")}, or ${MONEY_ROLES.join(", ")}`)
    : refused("must name a field", `${name}=${near}`);
}

/** `Invoice No.=invoiceId,Total=amount,Status=`: several of them with commas, in quotes where a name has a comma, as in CSV. */
export function parseMappings(typed: string): Parsed<readonly Mapping[]> {
  const parts = typed.match(/(?:"(?:[^"]|"")*"|[^",])+/g) ?? [];
  const mappings: Mapping[] = [];
  for (const part of parts) {
    const parsed = parseMapping(
      part.trim().replace(/"((?:[^"]|"")*)"/g, (_, text: string) => text.replaceAll('""', '"')),
    );
    if (!parsed.ok) return parsed;
    mappings.push(parsed.value);
  }
  return mappings.length === 0
    ? refused("must be columns and fields, such as Invoice No.=invoiceId,Status=")
    : accepted(mappings);
}

/** Those of the setting `columns`. Throws `usage` for a value that the settings file cannot have from paylink. */
export function standingMappings(setting: string | undefined): readonly Mapping[] {
  const read = setting === undefined ? accepted([]) : parseMappings(setting);
  if (read.ok) return read.value;
  throw new PaylinkError("usage", "The settings have invalid columns.", {
    problems: [{ at: "columns", message: `${read.message} (got "${setting}")` }],
  });
}

/** Escapes in the way that messages show a name: a line break, or what is invisible. */
const unescapedName = (name: string): string =>
  name
    .replace(/\\u\{([0-9a-f]{1,6})\}/g, (_, code: string) =>
      String.fromCodePoint(Number.parseInt(code, 16) % 0x11_0000),
    )
    .replace(/\\[nrt]/g, " ");

interface ColumnsOptions {
  /** From the setting `columns`: they hold for lists that have these columns, where `mappings` say nothing. */
  readonly standing?: readonly Mapping[];
  /** A column that means a field is that field, where nothing is sent. */
  readonly takesMeant?: boolean;
  /** Mappings of columns that the list does not have are no problem: they are for another list. */
  readonly mayBeUnused?: boolean;
  /** The fields that are read from a list of booked payments; every other name is about money. */
  readonly fields?: ReadonlySet<string>;
}

/** Reads the names of columns, for one list. */
export class Columns {
  private readonly mapped: ReadonlyMap<string, Mapping>;
  private readonly standing: ReadonlyMap<string, Mapping>;
  private readonly takesMeant: boolean;
  private readonly mayBeUnused: boolean;
  private readonly fields: ReadonlySet<string> | undefined;
  // JSON lines repeat their names in every row.
  private readonly known = new Map<string, Column>();

  constructor(
    mappings: readonly Mapping[] = [],
    { standing = [], takesMeant = false, mayBeUnused = false, fields }: ColumnsOptions = {},
  ) {
    this.takesMeant = takesMeant;
    this.mayBeUnused = mayBeUnused;
    this.fields = fields;
    this.mapped = byName(mappings);
    this.standing = byName(standing);
  }

  named(name: string): Column {
    const known = this.known.get(name) ?? this.read(name);
    this.known.set(name, known);
    return known;
  }

  /** Whether columns of all fields are read, which are sent. */
  get areSent(): boolean {
    return this.fields === undefined;
  }

  /** Whether the name is that of a field, and not only one that means it. */
  isField(name: string): boolean {
    return this.isMapped(name) || spellings().fieldOf.has(normalised(name));
  }

  /** Whether a `--map` or the setting says what the column is. */
  isMapped(name: string): boolean {
    return this.mapped.has(normalised(name)) || this.standing.has(normalised(name));
  }

  /** Those of the setting that hold for a list. */
  standingFor(columns: readonly Column[]): Mapping[] {
    return columns.flatMap(({ name }) =>
      this.mapped.has(normalised(name)) ? [] : (this.standing.get(normalised(name)) ?? []),
    );
  }

  private read(name: string): Column {
    const mapping = this.mapped.get(normalised(name)) ?? this.standing.get(normalised(name));
    if (mapping !== undefined)
      return {
        ...mapping,
        name,
        field: this.ifRead(mapping.field),
        meant: undefined,
        // What is due stays what is due where it is asked for.
        role: mapping.role ?? (mapping.field === "amount" ? this.roleOf(name) : undefined),
      };
    const exact = this.ifRead(spellings().fieldOf.get(normalised(name)));
    if (exact !== undefined) return { name, field: exact, meant: undefined, role: undefined };
    const role = this.roleOf(name);
    if (role !== undefined) return { name, field: undefined, meant: undefined, role };
    const meant = this.ifRead(fieldMeantBy(name));
    const isWeak = meant === ORDER_NUMBER_FIELD && meaningOfName(name, spellings().weak) !== undefined;
    return this.takesMeant
      ? { name, field: meant, meant: undefined, role: undefined, isWeak }
      : { name, field: undefined, meant, role: undefined, isWeak };
  }

  private roleOf(name: string): ColumnRole | undefined {
    const { meanings } = spellings();
    const role = roleMeantBy(name);
    if (role === undefined || this.fields !== undefined) return role;
    return ROLES_BESIDE_FIELDS.has(role) && meaningOfName(name, meanings) === undefined ? role : undefined;
  }

  private ifRead(field: string | undefined): string | undefined {
    return field === undefined || (this.fields?.has(field) ?? true) ? field : undefined;
  }

  /**
   * The columns of a list together: a reference is no order number beside a column of them. In books without such a column, the first
   * column of texts may have them.
   */
  together(columns: readonly Column[], isFilled = (_place: number): boolean => true): readonly Column[] {
    const isNumber = ({ field, meant }: Column): boolean => (field ?? meant) === ORDER_NUMBER_FIELD;
    const isWeak = (column: Column): boolean => isNumber(column) && column.isWeak === true;
    const rank = ({ name }: Column): number =>
      spellings().texts.findIndex((text) => text === spellingOf(name) || text === bareSpellingOf(name));
    const filled = columns.filter((_, place) => isFilled(place));
    const [text] =
      this.fields === undefined
        ? []
        : filled
            .filter((column) => column.role === "text" || (column.role === "kind" && rank(column) >= 0))
            .toSorted((one, other) => rank(one) - rank(other));
    const isNamed = columns.some((column) => isNumber(column) && !isWeak(column));
    const weak = columns.filter(isWeak);
    const kept = isNamed ? undefined : (weak.find((column) => filled.includes(column)) ?? text ?? weak[0]);
    return columns.map((column) => {
      if (column === kept) return isWeak(column) ? column : { ...column, field: ORDER_NUMBER_FIELD };
      return isWeak(column) && (isNamed || !filled.includes(column)) ? leftOut(column.name) : column;
    });
  }

  /** The mappings of columns that the list does not have, with the columns that they probably mean. */
  unused(names: readonly string[]): Problem[] {
    if (this.mayBeUnused) return [];
    const present = new Set(names.map(normalised));
    return [...new Set(this.mapped.values())].flatMap((mapping) => {
      const { name } = mapping;
      if (present.has(normalised(name)) || present.has(normalised(unescapedName(name)))) return [];
      const near = nearest(name, names);
      const message = `names a column that the list does not have (got "${mappingText(mapping)}")`;
      return [{ at: "--map", message: near === undefined ? message : `${message}; did you mean ${near}?` }];
    });
  }
}

const byName = (mappings: readonly Mapping[]): ReadonlyMap<string, Mapping> =>
  new Map(
    mappings.flatMap((mapping) =>
      [unescapedName(mapping.name), mapping.name].map((name) => [normalised(name), mapping] as const),
    ),
  );

/** `Invoice=invoiceId`. */
export const mappingText = ({ name, field, role, moneyIn }: Mapping): string =>
  `${name}=${field ?? role ?? ""}${moneyIn === undefined ? "" : `:${moneyIn}`}`;

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

/** The same as problems, each with its columns and how to choose one of them. */
export const repetitionsIn = (columns: readonly Column[]): Problem[] =>
  repeatedFields(columns).map((field) => {
    const names = [...new Set(columns.filter((column) => column.field === field).map(({ name }) => name))];
    const advice = names.map((name) => mapFlag(name, "")).join(" or ");
    return {
      at: field,
      message:
        names.length === 1
          ? "must be one column"
          : `must be one column, and ${names.join(" and ")} mean it: leave out the wrong one with ${advice}`,
    };
  });

/** The columns as the advice of `misnamed` makes them: of several for one field, the first is it. */
export function assumed(columns: readonly Column[]): readonly Column[] {
  const taken = new Set(columns.flatMap(({ field }) => field ?? []));
  return columns.map((column) => {
    if (column.meant === undefined || taken.has(column.meant)) return column;
    taken.add(column.meant);
    return { ...column, field: column.meant, meant: undefined };
  });
}

/** The column of the amounts, by its name or by what that means. */
export const amountColumn = (columns: readonly Column[]): Column | undefined =>
  columns.find(({ field }) => field === "amount") ?? columns.find(({ meant }) => meant === "amount");
