/** Which field a column is: by its name, by `--map`, and which field a name means that is not one. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Columns, fieldsMeantBy, misnamed, parseMapping } from "../../src/bulk/columns.ts";
import { requestFields } from "../../src/domain/payment-link.ts";
import { labelOf, wordsOf } from "../../src/domain/payment-link-fields.ts";

const ADDRESS = "customerDetails.billingAddress";

describe("a column that means a field", () => {
  it.each([
    [
      "customerName",
      "customer, Customers, CUSTOMER, client, Client name, customer's name, name, Full Name, Payer",
    ],
    [
      "invoiceId",
      "Invoice, invoice no, Invoice No., Invoice #, invoiceNo, invoicenr, INVOICE_NUMBER, invoice ids",
    ],
    ["invoiceId", "order, Order no, OrderID, order-number, reference, Ref., Ref, order ref., Your reference"],
    [
      "customerDetails.email",
      "e-mail, E-Mail, email, Emails, mail, Customer e-mail, e-mail address, client.email",
    ],
    [`${ADDRESS}.firstName`, "First name, first_name, FirstName, forename, Given Name"],
    [`${ADDRESS}.lastName`, "Last name, surname, Family name, last-names"],
    [`${ADDRESS}.postalcode`, "zip, ZIP code, zipcode, Postal code, post code, PostCode, postalcodes"],
    [
      `${ADDRESS}.address1`,
      "street, Street address, address, Addresses, Address 1, address line 1, billing address 1",
    ],
    [`${ADDRESS}.city`, "town, City, cities, billing city"],
    [`${ADDRESS}.country`, "country, Country code, countries"],
    [
      "amount",
      "price, Prices, total, Sum, Amount (EUR), amount eur, Amount in EUR, Order total, Amount due, ammount",
    ],
    ["expirationDate", "expiry, Expires, expiry date, due date, valid until"],
    ["description", "note, Notes, text, memo, Comments, Descripton"],
    ["currency", "curency, Currency code, currencies"],
    ["paymentSettings.callbackUrl", "webhook, Callback, callback url, paymentSettings.calbackUrl"],
  ])("%s: %s", (field, names) => {
    for (const name of names.split(", "))
      expect([name, new Columns().named(name).field ?? fieldsMeantBy(name)[0]]).toEqual([name, field]);
  });

  it("may be one of two, and is refused with both", () => {
    expect(misnamed([new Columns().named("Due")])).toMatchObject([
      { at: "Due", message: "is not a field: did you mean amount or expirationDate?" },
    ]);
  });

  it("is found in any case, with any marks and endings, for every word of every field", () => {
    const known = requestFields().flatMap((field) =>
      [...wordsOf(field), labelOf(field), field.split(".").at(-1) ?? ""].map((word) => ({ field, word })),
    );
    const spelling = fc.record({
      known: fc.constantFrom(...known),
      upper: fc.infiniteStream(fc.boolean()),
      mark: fc.constantFrom(" ", "  ", "-", "_", ".", " - ", "/", ":"),
      before: fc.constantFrom("", " ", "*", "(", "» "),
      after: fc.constantFrom("", " ", ":", "?", "*", " (optional)", " [x]"),
    });
    fc.assert(
      fc.property(spelling, ({ known: { field, word }, upper, mark, before, after }) => {
        const cased = [...word].map((letter) =>
          upper.next().value === true ? letter.toUpperCase() : letter,
        );
        const name = `${before}${cased.join("").replaceAll(" ", mark)}${after}`;
        const { field: named, meant } = new Columns().named(name);
        const found = named === undefined ? meant : [named];
        // A word may stand at several fields, and a second spelling of a field has the label of the first.
        expect(found.some((one) => one === field || labelOf(one) === labelOf(field)) ? "" : name).toBe("");
      }),
      { numRuns: 2000 },
    );
  });

  it("is not a column of the merchant's own", () => {
    const own =
      "account, count, customerId, Customer no, customer id, County, state, status, Order date, date, Phone, colour, #, " +
      "No., id, URL, VAT, Net, Qty, Title, Salesperson, Language, Ticket no, Product code, Payment method, column 6";
    for (const name of own.split(", ")) expect([name, ...fieldsMeantBy(name)]).toEqual([name]);
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
    ["Inv=invoice", "did you mean invoiceId?", "Inv=invoiceId"],
    ["Inv=custmerName", "did you mean customerName?", "Inv=customerName"],
    ["Inv=xyz", "must name a field", undefined],
  ])("refuses %s", (typed, message, instead) => {
    expect(parseMapping(typed)).toMatchObject({ ok: false, message: expect.stringContaining(message) });
    expect(parseMapping(typed)).toHaveProperty("instead", instead);
  });

  it("decides before the name does, in any case", () => {
    const columns = new Columns([
      { name: "Invoice", field: "description" },
      { name: "amount", field: undefined },
    ]);
    expect(columns.named("INVOICE")).toMatchObject({ field: "description", meant: [] });
    expect(columns.named("Amount")).toMatchObject({ field: undefined, meant: [] });
  });

  it("names a column that the list does not have, with the nearest", () => {
    const columns = new Columns([
      { name: "Invioce", field: "invoiceId" },
      { name: "xyz", field: undefined },
    ]);
    expect(columns.unused(["Invoice", "amount"])).toMatchObject([
      { at: "--map", value: "Invioce=invoiceId", instead: "Invoice=invoiceId" },
      { at: "--map", value: "xyz=" },
    ]);
  });
});
