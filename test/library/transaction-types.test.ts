/** The fields of the transaction's types are those of the table: `npm run docs` updates them. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, expectTypeOf, it } from "vitest";
import { amount, type Presence, TRANSACTION_FIELDS } from "../../src/domain/transaction-fields.ts";
import type {
  ApprovedTransaction,
  PartiallyApprovedTransaction,
  ReceivedTransaction,
  UnclearTransaction,
} from "../../src/library/transaction-types.ts";
import { formatted } from "../support/formatted.mjs";

const TYPES = fileURLToPath(new URL("../../src/library/transaction-types.ts", import.meta.url));

type Field = (typeof TRANSACTION_FIELDS)[number];

/** The flags are type parameters of their interface. */
const FLAGS: Readonly<Record<string, string>> = {
  transApproved: "Approved",
  transPartiallyApproved: "Partially",
  transCancelled: "Cancelled",
};

function typeOf({ name, type }: Field): string {
  const { json } = type;
  const known = "known" in type ? type.known.map((text) => `${JSON.stringify(text)} | `).join("") : "";
  const plain = "const" in json ? JSON.stringify(json.const) : json.type;
  return FLAGS[name] ?? (known === "" ? plain : `${known}(string & {})`);
}

function memberOf(field: Field): string {
  const { name, meaning, type } = field;
  const exact = type === amount ? ` \`amounts.${name}\` has its exact text, and its minor units.` : "";
  return `/** ${meaning}${exact} */\nreadonly ${name}: ${typeOf(field)};`;
}

const isFlag = ({ name }: Field): boolean => Object.hasOwn(FLAGS, name);
const withPresence = (presence: Presence) => (field: Field) => field.presence === presence && !isFlag(field);

const INTERFACES: Readonly<Record<string, (field: Field) => boolean>> = {
  CommonFields: withPresence("always"),
  AttemptedFields: withPresence("attempted"),
  AcceptedFields: withPresence("accepted"),
  FlagFields: isFlag,
};

/** The file with the members of the table in its four interfaces. */
const written = (text: string): string =>
  Object.entries(INTERFACES).reduce((before, [name, isIn]) => {
    const members = new RegExp(`(?<=^interface ${name}\\b.*\\{\\n)[^]*?(?=^\\})`, "m");
    expect(before).toMatch(members);
    return before.replace(members, () => `${TRANSACTION_FIELDS.filter(isIn).map(memberOf).join("\n")}\n`);
  }, text);

it("are those of the table", async () => {
  const text = readFileSync(TYPES, "utf8");
  await expect(await formatted(TYPES, written(text))).toMatchFileSnapshot(TYPES);
});

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
