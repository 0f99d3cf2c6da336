/** The types of links against the table of fields: both have the same paths, or this does not compile. */
import { expectTypeOf, it } from "vitest";
import type { JsonNumber } from "../../src/values/json.ts";
import type { LinkFieldPath, LinkFields } from "../../src/domain/payment-link-fields.ts";
import type {
  PaymentLink,
  PaymentLinkRequest,
  WellFormedLink,
} from "../../src/domain/payment-link-shapes.ts";

type PathsOf<Link, Prefix extends string = ""> = {
  [Name in keyof Link & string]-?:
    | `${Prefix}${Name}`
    | (Link[Name] extends string | JsonNumber | null | undefined
        ? never
        : PathsOf<NonNullable<Link[Name]>, `${Prefix}${Name}.`>);
}[keyof Link & string];

type RequestPath = {
  [Path in LinkFieldPath]: LinkFields[Path] extends { readonly request: "never" } ? never : Path;
}[LinkFieldPath];
type ReplyPath = {
  [Path in LinkFieldPath]: LinkFields[Path] extends { readonly reply: string } ? Path : never;
}[LinkFieldPath];

type RequiredIn<Link> = {
  [Name in keyof Link]-?: undefined extends Link[Name] ? never : Name;
}[keyof Link];
type RequiredOf<Side extends string> = {
  [Path in LinkFieldPath]: LinkFields[Path] extends Readonly<Record<Side, "required">> ? Path : never;
}[LinkFieldPath];

it("a request has the paths of the table, and those that are required", () => {
  expectTypeOf<PathsOf<PaymentLinkRequest>>().toEqualTypeOf<RequestPath>();
  expectTypeOf<RequiredIn<PaymentLinkRequest>>().toEqualTypeOf<RequiredOf<"request">>();
});

it("a reply has the paths of the table, and those that are required", () => {
  expectTypeOf<PathsOf<WellFormedLink>>().toEqualTypeOf<ReplyPath>();
  expectTypeOf<PathsOf<PaymentLink>>().toEqualTypeOf<ReplyPath>();
  expectTypeOf<RequiredIn<WellFormedLink>>().toEqualTypeOf<RequiredOf<"reply">>();
});
