/** Parsers of the flags of `trigger` that need the tables of record fields and of tamperings. */
import { type Json, JsonNumber } from "../../domain/json.ts";
import { accepted, nearest, refused, type Parsed } from "../../domain/parse-result.ts";
import {
  type FieldName,
  TRANSACTION_FIELDS,
  type TransactionField,
} from "../../domain/transaction-fields.ts";
import { type Tampering, TAMPERINGS } from "../../check/tamperings.ts";

interface RecordField {
  readonly name: FieldName;
  readonly value: Json;
}

/** `--set field=value`, typed as the specification types the field. */
export function parseField(text: string): Parsed<RecordField> {
  const [, name = "", value] = /^([^=]*)=(.*)$/s.exec(text) ?? [];
  if (value === undefined) return refused("must be a field and its value, such as cardScheme=VISA");
  const field = TRANSACTION_FIELDS.find((candidate) => candidate.name === name);
  if (field === undefined) return unknownField(name);
  const typed = typedValue(field, value);
  return typed.ok ? accepted({ name: field.name, value: typed.value }) : typed;
}

function unknownField(name: string): Parsed<RecordField> {
  const near = nearest(
    name,
    TRANSACTION_FIELDS.map((candidate) => candidate.name),
  );
  return refused(
    `is not a field of a transaction record${near === undefined ? "" : `; did you mean ${near}?`}`,
  );
}

/** Only the JSON type is checked: tests may need a value that breaks another rule. */
function typedValue({ type }: TransactionField, value: string): Parsed<Json> {
  if (type.test(true)) return parseFlag(value);
  if (!type.test(new JsonNumber("1"))) return accepted(value);
  return /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(value)
    ? accepted(new JsonNumber(value))
    : refused("must be a number, such as 10.50");
}

function parseFlag(value: string): Parsed<boolean> {
  return value === "true" || value === "false"
    ? accepted(value === "true")
    : refused("must be true or false");
}

/** A kind of tampering, by its name. */
export function parseTampering(text: string): Parsed<Tampering> {
  const found = TAMPERINGS.find(({ name }) => name === text);
  if (found !== undefined) return accepted(found);
  const near = nearest(
    text,
    TAMPERINGS.map(({ name }) => name),
  );
  return refused("is not a kind of tampering that paylink trigger --help lists", near);
}
