/** Parses a field of the record and its value, by the table of fields. */
import { type Json, JsonNumber } from "../../values/json.ts";
import { accepted, nearest, refused, type Parsed } from "../../values/parse-result.ts";
import {
  FIELD_NAMES,
  type FieldName,
  TRANSACTION_FIELDS,
  type TransactionField,
} from "../../domain/transaction-fields.ts";

interface RecordField {
  readonly name: FieldName;
  readonly value: Json;
}

/** `--set field=value`, typed as the specification types the field. */
export function parseField(text: string): Parsed<RecordField> {
  const [, name = "", value] = /^([^=]*)=(.*)$/s.exec(text) ?? [];
  if (value === undefined) return refused("must be a field and its value, such as cardScheme=VISA");
  const field = TRANSACTION_FIELDS.find((candidate) => candidate.name === name);
  if (field === undefined) {
    const near = nearest(name, FIELD_NAMES);
    return refused("is not a field of a transaction record", near && `${near}=${value}`);
  }
  const typed = typedValue(field, value);
  return typed.ok ? accepted({ name: field.name, value: typed.value }) : typed;
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
