/** Which field a column is: by its name, by `--map`, and which field a name means that is not one. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Columns, fieldMeantBy, parseMapping } from "../../src/lists/columns.ts";
import { fieldLabel, requestFields } from "../../src/domain/payment-link-field-lookup.ts";

const ADDRESS = "customerDetails.billingAddress";

describe("a column that means a field", () => {
  it.each([
    ["customerName", "customer, Customers, CUSTOMER, client, Client name, name, Full Name, Payer"],
    [
      "invoiceId",
      "Invoice, Invoice No., Invoice #, invoiceNo, INVOICE_NUMBER, order, Order no, OrderID, Ref.",
    ],
    ["customerDetails.email", "e-mail, E-Mail, email, Emails, mail, e-mail address"],
    [`${ADDRESS}.firstName`, "First name, first_name, FirstName"],
    [`${ADDRESS}.postalcode`, "zip, ZIP code, Postal code, post code, PostCode"],
    [`${ADDRESS}.address1`, "street, address, Address 1"],
    [`${ADDRESS}.city`, "town, City"],
    [`${ADDRESS}.country`, "country"],
    ["amount", "price, Prices, total, Sum, Amount (EUR), amount eur, ammount"],
    ["expirationDate", "expiry, Expires, expiry date, due date, valid until"],
    ["description", "note, Notes, text, Descripton"],
    ["currency", "curency, Currency code"],
    ["paymentSettings.callbackUrl", "callback url, paymentSettings.calbackUrl"],
  ])("%s: %s", (field, names) => {
    for (const name of names.split(", "))
      expect([name, new Columns().named(name).field ?? fieldMeantBy(name)]).toEqual([name, field]);
  });

  it("is found in any letter case, with any punctuation around and between its words", () => {
    const spelling = fc.record({
      field: fc.constantFrom(...requestFields().filter((field) => !/addressLine1|postalCode/.test(field))),
      upper: fc.infiniteStream(fc.boolean()),
      mark: fc.constantFrom(" ", "  ", "-", "_", ".", " - ", "/", ":"),
      before: fc.constantFrom("", " ", "*", "» "),
      after: fc.constantFrom("", " ", ":", "?", "*", " (optional)", " [x]", " EUR"),
    });
    fc.assert(
      fc.property(spelling, ({ field, upper, mark, before, after }) => {
        const cased = [...fieldLabel(field)].map((letter) =>
          upper.next().value === true ? letter.toUpperCase() : letter,
        );
        const name = `${before}${cased.join("").replaceAll(" ", mark)}${after}`;
        const { field: named, meant } = new Columns().named(name);
        expect([name, named ?? meant]).toEqual([name, field]);
      }),
      { numRuns: 1000 },
    );
  });

  it("is not confused with a column of the merchant's own", () => {
    const own =
      "account, count, customerId, Customer no, customer id, County, state, status, Order date, date, Phone, colour, #, " +
      "No., id, URL, VAT, Net, Qty, Title, Salesperson, Language, Ticket no, Product code, Payment method, column 6";
    for (const name of own.split(", ")) expect([name, fieldMeantBy(name)]).toEqual([name, undefined]);
  });
});

describe("--map", () => {
  it("reads a column and a field, or a column to leave out", () => {
    expect(parseMapping("Invoice=invoiceId")).toEqual({
      ok: true,
      value: { name: "Invoice", field: "invoiceId" },
    });
    expect(parseMapping(" a=b = Customer Name")).toEqual({
      ok: true,
      value: { name: "a=b", field: "customerName" },
    });
    expect(parseMapping("Invoice=")).toEqual({ ok: true, value: { name: "Invoice", field: undefined } });
  });

  it.each([
    ["Invoice", "must be a column and a field", undefined],
    ["=amount", "must be a column and a field", undefined],
    ["Inv=invoice", "must name a field", "Inv=invoiceId"],
    ["Inv=custmerName", "must name a field", "Inv=customerName"],
    ["Inv=xyz", "must name a field", undefined],
  ])("refuses %s", (typed, message, instead) => {
    expect(parseMapping(typed)).toMatchObject({ ok: false, message: expect.stringContaining(message) });
    expect(parseMapping(typed)).toHaveProperty("instead", instead);
  });

  it("takes precedence over the name, in any letter case", () => {
    const columns = new Columns([
      { name: "Invoice", field: "description" },
      { name: "amount", field: undefined },
    ]);
    expect(columns.named("INVOICE")).toMatchObject({ field: "description", meant: undefined });
    expect(columns.named("Amount")).toMatchObject({ field: undefined, meant: undefined });
  });

  it("names a column that the list does not have, with the nearest", () => {
    const columns = new Columns([
      { name: "Invioce", field: "invoiceId" },
      { name: "xyz", field: undefined },
    ]);
    expect(columns.unused(["Invoice", "amount"]).map(({ message }) => message)).toEqual([
      'names a column that the list does not have (got "Invioce=invoiceId"); did you mean Invoice?',
      'names a column that the list does not have (got "xyz=")',
    ]);
  });
});
