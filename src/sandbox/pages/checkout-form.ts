/** Reads the form of the checkout page. */
import { CUSTOMER_FIELDS, filledIn, testCardWith, type EnteredCard } from "../customer.ts";
import { CHOICES, type Choice, type PaymentInput } from "../payments.ts";
import { ServiceProblem } from "../replies.ts";

/** The outcome is that of the pressed button, or of the typed card. Throws a 400 problem for a form with neither. */
export function paymentInputFromForm(form: URLSearchParams): PaymentInput {
  const amount = entered(form, "amount");
  const reference = entered(form, "reference");
  return {
    ...paidWith(form),
    ...(amount === "" ? {} : { amount }),
    ...(reference === "" ? {} : { reference }),
    customer: filledIn(Object.fromEntries(CUSTOMER_FIELDS.map((field) => [field, entered(form, field)]))),
  };
}

const entered = (form: URLSearchParams, name: string): string => form.get(name)?.trim() ?? "";

function paidWith(form: URLSearchParams): { readonly outcome: Choice; readonly card?: EnteredCard } {
  const button =
    CHOICES.find((choice) => choice === form.get("outcome")) ?? testCardWith(form.get("card") ?? "")?.outcome;
  if (button !== undefined) return { outcome: button };
  if (!form.has("number")) {
    const message = `must be one of ${CHOICES.join(", ")}`;
    throw new ServiceProblem(400, "Bad Request", `outcome ${message}`, [{ at: "outcome", message }]);
  }
  const card = {
    number: entered(form, "number"),
    expiry: entered(form, "expiry"),
    cvc: entered(form, "cvc"),
    name: entered(form, "name"),
  };
  // Any other card is refused, so its outcome does not matter.
  return { outcome: testCardWith(card.number)?.outcome ?? "declined", card };
}

/** The token of the rendered form, which pays once; null for a request of a program, which has none. */
export function formToken(form: URLSearchParams): string | null {
  const token = form.get("form") ?? "";
  return /^[\w-]{1,64}$/.test(token) ? token : null;
}
