/** How an order stands, as every JSON form has it: what is empty or not known is left out. */
import { JsonNumber, stringifyJson } from "../values/json.ts";
import type { Sum } from "../domain/money.ts";
import type { OrderStanding } from "./standing.ts";

export const orderJson = ({ number, standing, paid, missing, surplus, payable }: OrderStanding) => ({
  number,
  standing,
  ...ifAny("paid", paid.map(sumJson)),
  ...ifAny("missing", missing.map(sumJson)),
  ...ifAny("surplus", surplus.map(sumJson)),
  ...ifAny(
    "payable",
    payable.map(({ id }) => id),
  ),
});

const ifAny = <T>(name: string, list: readonly T[]) => (list.length === 0 ? {} : { [name]: list });

export const sumJson = ({ amount, currency }: Sum) => ({ amount: new JsonNumber(amount), currency });

/** The same as a text. */
export const orderText = (order: OrderStanding): string => stringifyJson(orderJson(order));
