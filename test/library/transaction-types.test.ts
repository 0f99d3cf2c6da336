/** The transaction's types are those of the specification's table: every field, its type, its presence, and its meaning. */
import { readFileSync } from "node:fs";
import { expect, expectTypeOf, it } from "vitest";
import type { JsonNumber } from "../../src/domain/json.ts";
import {
  TRANSACTION_FIELDS,
  type FieldName,
  type Presence,
  type WellFormedRecord,
} from "../../src/domain/transaction-fields.ts";
import type {
  ApprovedTransaction,
  CancelledTransaction,
  DeclinedTransaction,
} from "../../src/library/transaction-types.ts";

type Field = (typeof TRANSACTION_FIELDS)[number];
type Named<Of extends Presence> = Extract<Field, { presence: Of }>["name"];
type Plain<Value> = Value extends JsonNumber ? number : Value;
type Present<Names extends FieldName> = {
  readonly [Name in Names]: Plain<NonNullable<WellFormedRecord[Name]>>;
};
type Absent<Names extends FieldName> = { readonly [Name in Names]?: undefined };
type Flags = "transApproved" | "transCancelled";
/** One object type, so that intersections compare as what they hold. */
type Flat<Type> = { readonly [Name in keyof Type]: Type[Name] };

it("has the fields of each outcome, in their types", () => {
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

it("documents every field", () => {
  const source = readFileSync(new URL("../../src/library/transaction-types.ts", import.meta.url), "utf8");
  const documented = [...source.matchAll(/\/\*\* [^\n]+\. ?\*\/\n {2}readonly (\w+)\??: /g)].map(
    ([, name]) => name,
  );
  expect(new Set(documented)).toEqual(new Set(TRANSACTION_FIELDS.map(({ name }) => name)));
});
