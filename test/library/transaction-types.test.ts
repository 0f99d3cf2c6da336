/** The transaction's types are written from the table of fields: `npm run docs` updates them, and the compiler checks them. */
import { format, resolveConfig } from "prettier";
import { fileURLToPath } from "node:url";
import { expect, expectTypeOf, it } from "vitest";
import type { JsonNumber } from "../../src/domain/json.ts";
import {
  amount,
  type FieldName,
  type Presence,
  FIELD_MEANINGS,
  TRANSACTION_FIELDS,
  type WellFormedRecord,
} from "../../src/domain/transaction-fields.ts";
import type {
  ApprovedTransaction,
  CancelledTransaction,
  DeclinedTransaction,
} from "../../src/library/transaction-types.ts";

const FLAGS = ["transApproved", "transCancelled"] as const;
type Flags = (typeof FLAGS)[number];

const TYPES = fileURLToPath(new URL("../../src/library/transaction-types.ts", import.meta.url));

function typesFromTable(): string {
  const member = ({ name, type: { json }, ...field }: Field, value?: boolean): string => {
    const exact =
      field.presence === "always" && isAmount(name) ? ` \`amounts.${name}\` has its exact text.` : "";
    const type = "const" in json ? JSON.stringify(json.const) : json.type;
    return `/** ${FIELD_MEANINGS[name]}${exact} */\nreadonly ${name}: ${value ?? type};`;
  };
  const isAmount = (name: string): boolean =>
    TRANSACTION_FIELDS.some((field) => field.name === name && field.type === amount);
  const fields = (presence: Presence): string =>
    TRANSACTION_FIELDS.filter((field) => field.presence === presence && !isFlag(field.name))
      .map((field) => member(field))
      .join("\n");
  const isFlag = (name: string): boolean => FLAGS.some((flag) => flag === name);
  const flags = (...values: readonly boolean[]): string =>
    FLAGS.flatMap((flag, at) =>
      TRANSACTION_FIELDS.filter(({ name }) => name === flag).map((field) => member(field, values[at])),
    ).join("\n");
  return `/** The transaction record as applications see it, written from the table of fields: \`npm run docs\`. */

/** The fields of every record. Fields that a service adds are kept, but have no type here. */
interface CommonFields {
${fields("always")}
}

/** The fields of a payment that reached the card's issuer. */
interface AttemptedFields {
${fields("attempted")}
}

/** The fields of a payment that the issuer accepted. */
interface AcceptedFields {
${fields("accepted")}
}

/** The absent fields of a record, so that reading one is a type error or undefined. */
type Absent<Fields extends string> = { readonly [Field in Fields]?: undefined };

/** A payment that was approved. */
export interface ApprovedTransaction extends CommonFields, AttemptedFields, AcceptedFields {
${flags(true, false)}
}

/** A payment that the issuer declined. */
export interface DeclinedTransaction extends CommonFields, AttemptedFields, Absent<keyof AcceptedFields> {
${flags(false, false)}
}

/** A payment that the customer cancelled. */
export interface CancelledTransaction extends CommonFields, Absent<keyof AttemptedFields | keyof AcceptedFields> {
${flags(false, true)}
}

/** A record by its two flags: \`transApproved\`, \`transCancelled\`. */
export type Transaction = ApprovedTransaction | DeclinedTransaction | CancelledTransaction;

/** The record of each outcome. */
export interface TransactionByOutcome {
  readonly APPROVED: ApprovedTransaction;
  readonly DECLINED: DeclinedTransaction;
  readonly CANCELLED: CancelledTransaction;
}

/** Whether the payment was approved, declined by the issuer, or cancelled by the customer. */
export type TransactionOutcome = keyof TransactionByOutcome;
`;
}

it("are those of the table", async () => {
  const options = { ...(await resolveConfig(TYPES)), filepath: TYPES };
  await expect(await format(typesFromTable(), options)).toMatchFileSnapshot(TYPES);
});

type Field = (typeof TRANSACTION_FIELDS)[number];
type Named<Of extends Presence> = Extract<Field, { presence: Of }>["name"];
type Plain<Value> = Value extends JsonNumber ? number : Value;
type Present<Names extends FieldName> = {
  readonly [Name in Names]: Plain<NonNullable<WellFormedRecord[Name]>>;
};
type Absent<Names extends FieldName> = { readonly [Name in Names]?: undefined };
/** One object type, so that intersections compare as what they hold. */
type Flat<Type> = { readonly [Name in keyof Type]: Type[Name] };

it("have the fields of each outcome, in their types", () => {
  expectTypeOf<Flat<Omit<ApprovedTransaction, Flags>>>().toEqualTypeOf<
    Flat<Omit<Present<FieldName>, Flags>>
  >();
  expectTypeOf<Flat<Omit<DeclinedTransaction, Flags>>>().toEqualTypeOf<
    Flat<Omit<Present<Named<"always" | "attempted">>, Flags> & Absent<Named<"accepted">>>
  >();
  expectTypeOf<Flat<Omit<CancelledTransaction, Flags>>>().toEqualTypeOf<
    Flat<Omit<Present<Named<"always">>, Flags> & Absent<Named<"attempted" | "accepted">>>
  >();
  expectTypeOf<Pick<ApprovedTransaction, Flags>>().toEqualTypeOf<{
    readonly transApproved: true;
    readonly transCancelled: false;
  }>();
  expectTypeOf<Pick<DeclinedTransaction, Flags>>().toEqualTypeOf<{
    readonly transApproved: false;
    readonly transCancelled: false;
  }>();
  expectTypeOf<Pick<CancelledTransaction, Flags>>().toEqualTypeOf<{
    readonly transApproved: false;
    readonly transCancelled: true;
  }>();
});
