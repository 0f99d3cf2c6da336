/** The checkout's form and receipt, in process: cards, amounts, references, details, and one payment for each form. */
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { hasCheckDigit } from "../../src/domain/card-numbers.ts";
import { cardDigits, schemeOf, TEST_CARDS } from "../../src/sender/test-cards.ts";
import { temporaryHome } from "../support/home.ts";
import {
  CALLBACK,
  linkId,
  oneTime,
  openTestSandbox,
  reusable,
  type TestSandbox,
  type TestSandboxOptions,
} from "../support/sandbox.ts";

const CARD = { number: "4111-1111 11111111", expiry: "12/29", cvc: "123", name: "Ada Lovelace" };

/** Posts as a browser does. */
const submit = (service: TestSandbox, id: string, form: Readonly<Record<string, string>>) =>
  service.request("POST", `/pay?r=${id}`, { body: new URLSearchParams(form).toString() });

const tokenIn = (html: string): string => / name="form" value="([\w-]+)"/.exec(html)?.[1] ?? "none";

/** What the fields of a page hold. Its random ids may have any digits. */
const valuesIn = (html: string): string[] =>
  [...html.matchAll(/ value="([^"]*)"/g)].map(([, value = ""]) => value);

async function openForm(service: TestSandbox, id: string): Promise<string> {
  return tokenIn((await service.request("GET", `/pay?r=${id}`)).text);
}

/** The status in the answer to "details". */
const statusOf = async (service: TestSandbox, id: string) =>
  (await service.call("GET", `/v1/payment-links/${id}`)).json()["status"];

const payments = (service: TestSandbox): number => service.ledger.paymentCount();

describe("a typed card", () => {
  it.each([
    [{ number: "4111 1111 1111 1111" }, "Payment approved"],
    [{ expiry: "0126" }, "Payment approved"],
    [{ expiry: "1/2027" }, "Payment approved"],
    ...["12 29", "12.29", "122029", "2029-12", "12 / 2029", "2029/1", "12-29"].map(
      (expiry): [object, string] => [{ expiry }, "Payment approved"],
    ),
    [{ number: "378282246310005", cvc: "1234" }, "Payment approved"],
  ])("with %j ends with %s", async (changes, title) => {
    const service = openTestSandbox();
    const answer = await submit(service, await linkId(service, oneTime()), { ...CARD, ...changes });
    expect(answer.status).toBe(303);
    const receipt = await service.request("GET", answer.header("location") ?? "");
    expect(receipt.text).toContain(`<h1>${title}</h1>`);
  });

  it.each([
    [{ number: "" }, "The card number is missing."],
    [{ number: "4111 1111 1111 1112" }, "The card number is not valid: check its digits."],
    [{ number: "4111 1111" }, "The card number is not valid: check its digits."],
    [{ number: "5200 8282 8282 8210" }, "The card number is not one of the test cards"],
    [{ expiry: "" }, "The expiry date is missing."],
    [{ expiry: "13/29" }, "The expiry date must be a month and a year, such as 12/29."],
    [{ expiry: "2029-13" }, "The expiry date must be a month and a year, such as 12/29."],
    [{ expiry: "12  29" }, "The expiry date must be a month and a year, such as 12/29."],
    [{ expiry: "soon" }, "The expiry date must be a month and a year, such as 12/29."],
    [{ expiry: "12/25" }, "The expiry date is in the past."],
    [{ cvc: "12" }, "The security code must be the 3 digits on the back of the card."],
    [{ cvc: "abc" }, "The security code must be the 3 digits on the back of the card."],
    [{ cvc: "1234" }, "The security code must be the 3 digits on the back of the card."],
    [
      { number: "3782 822463 10005", cvc: "123" },
      "The security code must be the 4 digits on the front of the card.",
    ],
    [{ name: "" }, "The name on the card is missing."],
    [{ name: "A\u202Eda" }, "The name on the card must not contain control or invisible characters."],
  ])("with %j is refused: %s", async (changes, sentence) => {
    const service = openTestSandbox();
    const answer = await submit(service, await linkId(service, oneTime()), { ...CARD, ...changes });
    expect(answer.status).toBe(422);
    expect(answer.text).toContain("<title>Error: Pay");
    expect(answer.text).toContain(sentence);
    expect(payments(service)).toBe(0);
  });

  it("names every problem at once, keeps every entry but the security code, and focuses the first", async () => {
    const service = openTestSandbox();
    const link = reusable({ paymentReferenceMode: "OPEN" });
    const form = {
      ...CARD,
      amount: "1,000",
      reference: "MINE",
      number: "4111 1111 1111 1112",
      cvc: "987",
    };
    const answer = await submit(service, await linkId(service, link), form);
    const at = (await service.pay(await linkId(service, link), form)).json()["errors"];
    expect(at).toEqual(["#/amount", "#/number"].map((pointer) => expect.objectContaining({ pointer })));
    for (const kept of ["1,000", "MINE", "4111 1111 1111 1112", "12/29", "Ada Lovelace"])
      expect(answer.text).toContain(`value="${kept}"`);
    expect(valuesIn(answer.text)).not.toContain("987");
    expect(answer.text.match(/autofocus/g)).toHaveLength(1);
    expect(answer.text).toMatch(/id="amount"[^>]*autofocus/);
    expect(answer.text).toContain('<a href="#number">');
  });

  it("is stored masked", async () => {
    const path = join(temporaryHome(), "sandbox.db");
    const service = openTestSandbox({ path });
    const answer = await submit(service, await linkId(service, oneTime()), CARD);
    const payment = service.ledger.findPayment(answer.header("location")?.split("t=")[1] ?? "");
    expect(payment?.record["cardPan"]).toBe("************1111");
    expect(JSON.stringify(payment)).not.toMatch(/4111\D?1111|"123"/);
  });
});

describe("the test cards", () => {
  it("have numbers that are valid, and names, numbers and last digits that differ", () => {
    const numbers = TEST_CARDS.map(({ number }) => cardDigits(number));
    expect(numbers.filter((number) => !hasCheckDigit(number))).toEqual([]);
    for (const values of [numbers.map((number) => number.slice(-4)), TEST_CARDS.map(({ name }) => name)])
      expect(new Set(values).size).toBe(TEST_CARDS.length);
  });

  it.each(TEST_CARDS.map((card) => [card.name, card] as const))(
    "%s makes a record with its response code, scheme and outcome",
    async (name, { number, responseCode, outcome }) => {
      const service = openTestSandbox();
      const byName = (await service.pay(await linkId(service, oneTime()), { card: name })).json();
      const card = { ...CARD, number, cvc: schemeOf(number)?.name === "AMEX" ? "1234" : "123" };
      const typed = (await service.pay(await linkId(service, oneTime()), card)).json();
      for (const record of [byName, typed])
        expect(record).toMatchObject({
          responseCode,
          transApproved: outcome !== "declined",
          transPartiallyApproved: outcome === "partially-approved",
          cardScheme: schemeOf(number)?.name,
          cardPan: expect.stringMatching(new RegExp(`^\\*{11,12}${number.slice(-4)}$`)),
        });
    },
  );

  it("are listed if an unknown one is asked for", async () => {
    const service = openTestSandbox();
    const answer = await service.pay(await linkId(service, oneTime()), { card: "stolen" });
    expect([answer.status, answer.json()["detail"]]).toEqual([
      400,
      "card must be one of approved, mastercard, amex, declined, insufficient-funds, expired-card, partially-approved",
    ]);
  });
});

it("a test card pays with one click, whatever the card fields contain", async () => {
  const service = openTestSandbox();
  const id = await linkId(service, oneTime());
  const empty = { number: "", expiry: "", cvc: "", name: "" };
  expect((await submit(service, id, { ...empty, card: "4000 0000 0000 0002" })).status).toBe(200);
  expect(await statusOf(service, id)).toBe("attempted");
  expect((await submit(service, id, { ...empty, card: "4111 1111 1111 1111" })).status).toBe(303);
  expect(await statusOf(service, id)).toBe("paid");
});

describe("a declined payment", () => {
  it.each([
    ["4000-0000-0000-0002", "12/29", "Do not honour"],
    ["4000 0000 0000 9995", "12/29", "Insufficient funds"],
    ["4000 0000 0000 0069", "12/20", "Expired card"],
  ])("with %s until %s stays on the form, and says why: %s", async (number, expiry, reason) => {
    const service = openTestSandbox();
    const id = await linkId(service, oneTime());
    const { status, text } = await submit(service, id, { ...CARD, number, expiry });
    expect(status).toBe(200);
    expect(text).toContain(`${reason}. Nothing was charged.`);
    expect(await statusOf(service, id)).toBe("attempted");
  });

  it("keeps everything but the card, and another card pays with the new form", async () => {
    const service = openTestSandbox();
    const id = await linkId(service, reusable({ paymentReferenceMode: "OPEN" }));
    const token = await openForm(service, id);
    const form = { ...CARD, cvc: "987", amount: "7.50", reference: "MINE", form: token };
    const declined = await submit(service, id, { ...form, number: "4000 0000 0000 0002" });
    for (const kept of ["7.50", "MINE", "Ada Lovelace"]) expect(declined.text).toContain(`value="${kept}"`);
    for (const gone of ["4000 0000 0000 0002", "12/29", "987"])
      expect(valuesIn(declined.text)).not.toContain(gone);
    expect(declined.text).toMatch(/id="number"[^>]*autofocus/);
    expect(tokenIn(declined.text)).not.toBe(token);
    const paid = await submit(service, id, { ...form, form: tokenIn(declined.text) });
    expect([paid.status, payments(service)]).toEqual([303, 2]);
  });

  it("is shown again for the same form, with the receipt once the link is closed", async () => {
    const service = openTestSandbox();
    const id = await linkId(service, oneTime());
    const form = { card: "declined", form: await openForm(service, id) };
    for (let time = 0; time < 2; time++)
      expect((await submit(service, id, form)).text).toContain("Your card was declined");
    await service.call("POST", `/v1/payment-links/${id}/cancel`);
    const late = await submit(service, id, form);
    const receipt = await service.request("GET", late.header("location") ?? "");
    expect(receipt.text).toContain("<h1>Payment declined</h1>");
    expect(receipt.text).toContain("Do not honour. Nothing was charged.");
    expect(payments(service)).toBe(1);
  });
});

describe("a check of fields", () => {
  it("says what is wrong in the fields that were left, and pays nothing", async () => {
    const service = openTestSandbox();
    const id = await linkId(service, reusable({ mode: "REUSABLE_VARIABLE", minAmount: "5" }));
    const form = new URLSearchParams({ ...CARD, amount: "4", number: "41", cvc: "987", name: "" });
    for (const name of ["amount", "number"]) form.append("check", name);
    const answer = await service.request("POST", `/pay?r=${id}`, { body: form.toString() });
    expect(answer.status).toBe(200);
    for (const shown of ["The amount must be at least EUR 5.00.", "The card number is not valid"])
      expect(answer.text).toContain(shown);
    expect(answer.text).not.toContain("name on the card is missing");
    expect(valuesIn(answer.text)).not.toContain("987");
    const right = new URLSearchParams([...Object.entries({ ...CARD, amount: "5" }), ["check", "amount"]]);
    const { status, text } = await service.request("POST", `/pay?r=${id}`, { body: right.toString() });
    expect([status, payments(service)]).toEqual([200, 0]);
    expect(text).not.toContain("aria-invalid");
    // The script would take away the scheme that it has shown.
    expect(text).toContain('class="suffix">Visa<');
  });
});

describe("the strip of the sandbox", () => {
  const stripOf = async (setup: TestSandboxOptions, paymentSettings: object = { callbackUrl: CALLBACK }) => {
    const service = openTestSandbox(setup);
    const id = await linkId(service, oneTime({ paymentSettings }));
    const paid = await submit(service, id, { card: "approved" });
    await service.sandbox.idle();
    const receipt = await service.request("GET", paid.header("location") ?? "");
    const strip = /class="strip"[^>]*>([\s\S]*?)<\/aside>/.exec(receipt.text)?.[1] ?? "";
    return strip
      .replaceAll(/<[^>]*>/g, "")
      .replaceAll(/\s+/g, " ")
      .trim();
  };
  const RESULT = "Sandbox: response code 00, approved · View the payment";

  const STATES: readonly (readonly [state: string, setup: TestSandboxOptions, text: string])[] = [
    ["sent", {}, "Webhook: Your server accepted it: 200 in 0 ms. · View the webhook"],
    [
      "refused",
      { answer: () => 401 },
      "Webhook: Your server refused it: 401 in 0 ms. Next attempt in 5 seconds. · View the webhook",
    ],
    [
      "refused at last",
      { answer: () => 500, schedule: [] },
      "Webhook: Your server failed: 500 in 0 ms. · View the webhook",
    ],
    ["waiting", { fault: "late" }, "Webhook: The webhook has not been sent yet. · View the webhook"],
  ];

  it.each(STATES)("shows the webhook as %s", async (_state, setup, text) => {
    expect(await stripOf(setup)).toBe(`${RESULT} ${text}`);
  });

  it("says why no webhook was sent", async () => {
    expect(await stripOf({}, {})).toBe(`${RESULT} Webhook: The link has no callback URL for this outcome.`);
    const remote = { callbackUrl: "https://shop.example/paid" };
    expect(await stripOf({}, remote)).toContain(
      "Webhook: The webhook was not sent. The host shop.example is not on this machine.",
    );
  });
});

it("ignores the other fields when the customer cancels", async () => {
  const service = openTestSandbox();
  const id = await linkId(service, reusable());
  const form = { number: "1", expiry: "", cvc: "", name: "", amount: "none", reference: "MINE", email: "x" };
  const answer = await submit(service, id, { ...form, outcome: "cancelled" });
  const receipt = await service.request("GET", answer.header("location") ?? "");
  expect(receipt.text).toContain("<h1>Payment cancelled</h1>");
  expect(await statusOf(service, id)).toBe("attempted");
});

describe("a rendered form", () => {
  it("pays once, however often and however simultaneously it is submitted", async () => {
    const path = join(temporaryHome(), "sandbox.db");
    const service = openTestSandbox({ path });
    const id = await linkId(service, reusable());
    const form = { ...CARD, amount: "5", form: await openForm(service, id) };
    const answers = await Promise.all(Array.from({ length: 20 }, () => submit(service, id, form)));
    const places = new Set(answers.map((answer) => answer.header("location")));
    expect([places.size, payments(service)]).toEqual([1, 1]);
    await service.sandbox.close();
    const restarted = openTestSandbox({ path });
    expect((await submit(restarted, id, form)).header("location")).toBe([...places][0]);
    expect(payments(restarted)).toBe(1);
  });

  it("has a token of its own each time, and keeps it when it is refused", async () => {
    const service = openTestSandbox();
    const id = await linkId(service, reusable());
    const tokens = [await openForm(service, id), await openForm(service, id)];
    expect(new Set(tokens).size).toBe(2);
    const refused = await submit(service, id, { ...CARD, form: tokens[0] ?? "" });
    expect([refused.status, tokenIn(refused.text)]).toEqual([422, tokens[0]]);
    for (const form of tokens) await submit(service, id, { ...CARD, amount: "5", form });
    expect(payments(service)).toBe(2);
  });

  it("shows its receipt again, and can still pay another link", async () => {
    const service = openTestSandbox();
    const [one, other] = [await linkId(service, oneTime()), await linkId(service, oneTime())];
    const form = { ...CARD, form: await openForm(service, one) };
    const first = await submit(service, one, form);
    await submit(service, other, form);
    // Although the link is paid by now.
    expect((await submit(service, one, form)).header("location")).toBe(first.header("location"));
    expect([await statusOf(service, one), await statusOf(service, other)]).toEqual(["paid", "paid"]);
  });
});

describe("the customer's details", () => {
  const given = { email: "ada@shop.example", billingAddress: { firstName: "Ada", postalCode: "BA1" } };

  it("are shown where the merchant gave them, and the name is entered already", async () => {
    const service = openTestSandbox();
    const id = await linkId(service, oneTime({ customerDetails: given }));
    const page = (await service.request("GET", `/pay?r=${id}`)).text;
    expect(page).toContain("ada@shop.example");
    expect(page).toMatch(/name="name"[^>]*value="Ada"/);
    const answer = await submit(service, id, CARD);
    const receipt = (await service.request("GET", answer.header("location") ?? "")).text;
    for (const shown of ["ada@shop.example", "BA1"]) expect(receipt).toContain(shown);
  });
});

describe("the reference", () => {
  it.each([
    ["x".repeat(65), "must have at most 64 characters"],
    ["a\u202Eb", "must not contain control or invisible characters"],
    ["a\u0000b", "must not contain control or invisible characters"],
    ["a\nb", "must not contain control or invisible characters"],
  ])("%j %s", async (reference, message) => {
    const service = openTestSandbox();
    const id = await linkId(service, reusable({ paymentReferenceMode: "OPEN" }));
    const answer = await service.pay(id, { outcome: "approved", amount: "1", reference });
    expect(answer.json()["errors"]).toEqual([{ pointer: "#/reference", detail: message }]);
  });

  it("may have any letters, 64 of them", async () => {
    const service = openTestSandbox();
    const id = await linkId(service, reusable({ paymentReferenceMode: "OPEN" }));
    const reference = `Größe ${"𝒳".repeat(58)}`;
    const answer = await service.pay(id, { outcome: "approved", amount: "1", reference });
    expect(answer.json()["reference"]).toMatch(new RegExp(`^${reference}-[A-Z0-9]{9}$`));
  });
});

describe("the receipt", () => {
  const receiptOf = async (service: TestSandbox, request: object, form: Readonly<Record<string, string>>) =>
    service.request(
      "GET",
      (await submit(service, await linkId(service, request), form)).header("location") ?? "",
    );

  it("shows what was paid, in groups of three digits", async () => {
    const service = openTestSandbox();
    const request = oneTime({ amount: 1234567.5, description: "Books", invoiceId: "INV-1" });
    const { text } = await receiptOf(service, request, CARD);
    for (const shown of ["EUR 1,234,567.50", "Books", "•••• 1111", "31 January 2026 at 12:00 UTC", "INV-1"])
      expect(text).toContain(shown);
  });

  it("of a subscription start says that the card was verified, without an amount", async () => {
    const service = openTestSandbox();
    const periodic = { periodicType: "ucof", sequenceType: "initial" };
    const request = oneTime({ amount: 0, transactionType: "VERIFICATION", periodic });
    const { text } = await receiptOf(service, request, CARD);
    expect(text).toContain("<h1>Card verified</h1>");
    expect(text).not.toContain("EUR 0");
  });
});
