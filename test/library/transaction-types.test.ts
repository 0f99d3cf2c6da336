/** The transaction's types are written from the table of fields: `npm run docs` updates them. */
import { format, resolveConfig } from "prettier";
import { fileURLToPath } from "node:url";
import { expect, expectTypeOf, it } from "vitest";
import { amount, type Presence, TRANSACTION_FIELDS } from "../../src/domain/transaction-fields.ts";
import type {
  ApprovedTransaction,
  PartiallyApprovedTransaction,
  ReceivedTransaction,
  UnclearTransaction,
} from "../../src/library/transaction-types.ts";

const FLAGS = ["transApproved", "transPartiallyApproved", "transCancelled"] as const;
const FLAG_TYPES: Readonly<Record<(typeof FLAGS)[number], string>> = {
  transApproved: "Approved",
  transPartiallyApproved: "Partially",
  transCancelled: "Cancelled",
};

const TYPES = fileURLToPath(new URL("../../src/library/transaction-types.ts", import.meta.url));

const knownValues = (type: object): readonly string[] =>
  "known" in type && Array.isArray(type.known) ? type.known.map(String) : [];

function typesFromTable(): string {
  const member = ({ name, meaning, type: typeOfField, ...field }: Field, value?: string): string => {
    const { json } = typeOfField;
    const exact =
      field.presence === "always" && isAmount(name)
        ? ` \`amounts.${name}\` has its exact text, and its minor units.`
        : "";
    const known = knownValues(typeOfField)
      .map((text) => `${JSON.stringify(text)} | `)
      .join("");
    const plain = "const" in json ? JSON.stringify(json.const) : json.type;
    const type = known === "" ? plain : `${known}(string & {})`;
    return `/** ${meaning}${exact} */\nreadonly ${name}: ${value ?? type};`;
  };
  const isAmount = (name: string): boolean =>
    TRANSACTION_FIELDS.some((field) => field.name === name && field.type === amount);
  const fields = (presence: Presence): string =>
    TRANSACTION_FIELDS.filter((field) => field.presence === presence && !isFlag(field.name))
      .map((field) => member(field))
      .join("\n");
  const isFlag = (name: string): boolean => FLAGS.some((flag) => flag === name);
  const flags = FLAGS.flatMap((flag) =>
    TRANSACTION_FIELDS.filter(({ name }) => name === flag).map((field) => member(field, FLAG_TYPES[flag])),
  ).join("\n");
  return `/** The transaction record as applications see it, written from the table of fields: \`npm run docs\`. */

/** The fields of every record. */
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

/** The flags, which make the outcome. */
interface FlagFields<Approved extends boolean, Partially extends boolean, Cancelled extends boolean> {
${flags}
}

/** The absent fields of a record, so that reading one is a type error or undefined. */
type Absent<Fields extends string> = { readonly [Field in Fields]?: undefined };

/** A payment that was approved. */
export interface ApprovedTransaction
  extends CommonFields, AttemptedFields, AcceptedFields, FlagFields<true, false, false> {}

/** A payment of which only a part was approved: it does not pay the order. */
export interface PartiallyApprovedTransaction
  extends CommonFields, AttemptedFields, AcceptedFields, FlagFields<true, true, false> {}

/** A payment that the issuer declined. */
export interface DeclinedTransaction
  extends CommonFields, AttemptedFields, Absent<keyof AcceptedFields>, FlagFields<false, boolean, false> {}

/** A payment that the customer cancelled. */
export interface CancelledTransaction
  extends CommonFields, Absent<keyof AttemptedFields | keyof AcceptedFields>, FlagFields<false, boolean, true> {}

/** A record that keeps the specification, by its flags. */
export type Transaction =
  ApprovedTransaction | PartiallyApprovedTransaction | DeclinedTransaction | CancelledTransaction;

/** The record of each outcome, where it keeps the specification. */
export interface TransactionByOutcome {
  readonly APPROVED: ApprovedTransaction;
  readonly PARTIALLY_APPROVED: PartiallyApprovedTransaction;
  readonly DECLINED: DeclinedTransaction;
  readonly CANCELLED: CancelledTransaction;
}

/** Whether the payment was approved, in whole or in part, declined by the issuer, or cancelled by the customer. */
export type TransactionOutcome = keyof TransactionByOutcome;

/**
 * A record as received: the flags that decide the outcome are there. A field that is missing, or has another type than the
 * specification says, is undefined and in \`violations\`.
 */
export type ReceivedTransaction<Whole extends Transaction> = {
  readonly [Field in keyof Whole]: Field extends "transApproved" | "transCancelled"
    ? Whole[Field]
    : Whole[Field] extends true
      ? Whole[Field]
      : Whole[Field] | undefined;
};

interface AllFields
  extends CommonFields, AttemptedFields, AcceptedFields, FlagFields<boolean, boolean, boolean> {}

/** A record that does not say what became of the payment: any field may be undefined. */
export type UnclearTransaction = { readonly [Field in keyof AllFields]?: AllFields[Field] | undefined };
`;
}

it("are those of the table", async () => {
  const options = { ...(await resolveConfig(TYPES)), filepath: TYPES };
  await expect(await format(typesFromTable(), options)).toMatchFileSnapshot(TYPES);
});

type Field = (typeof TRANSACTION_FIELDS)[number];
it("as received, say only what is certain", () => {
  type Approved = ReceivedTransaction<ApprovedTransaction>;
  expectTypeOf<Approved["transApproved"]>().toEqualTypeOf<true>();
  expectTypeOf<Approved["transPartiallyApproved"]>().toEqualTypeOf<false | undefined>();
  expectTypeOf<Approved["amountTrans"]>().toEqualTypeOf<number | undefined>();
  expectTypeOf<Approved["uti"]>().toEqualTypeOf<string | undefined>();
  type Partially = ReceivedTransaction<PartiallyApprovedTransaction>;
  expectTypeOf<Partially["transPartiallyApproved"]>().toEqualTypeOf<true>();
  expectTypeOf<UnclearTransaction["transApproved"]>().toEqualTypeOf<boolean | undefined>();
});
