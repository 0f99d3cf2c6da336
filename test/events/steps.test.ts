/** What happened to an order, step by step: the words of its links. */
import { expect, it } from "vitest";
import { readPaymentLink } from "../../src/domain/payment-link-reply.ts";
import { stepsOf } from "../../src/events/steps.ts";
import { parseJson } from "../../src/values/parse-json.ts";

const AT = "2026-11-28T10:00:00Z";

it.each([
  ["a reusable link whose amount the customer enters", { amount: 0, reusable: true }, "link L1, reusable"],
  ["a reusable link with an amount", { amount: 5, reusable: true }, "link L1, reusable, EUR 5.00"],
  ["a link that verifies a card", { amount: 0, reusable: false }, "link L1, EUR 0.00"],
])("%s was created", (_, { amount, reusable }, detail) => {
  const options = reusable ? `, "linkOptions": { "mode": "REUSABLE_VARIABLE" }` : "";
  const json = parseJson(
    `{ "id": "L1", "amount": ${amount}, "currency": "EUR", "createdDate": "${AT}"${options} }`,
  );
  const link = readPaymentLink(json.ok ? json.value.value : null).link;
  const steps = stepsOf({ links: [{ id: "L1", link }] }, new Date(AT));
  expect(steps).toEqual([{ at: new Date(AT), what: "link created", detail }]);
});
