/** How an order stands, as every JSON form has it: what is empty or not known is left out. */
import { type Json, JsonNumber } from "../domain/json.ts";
import type { Sum } from "../domain/money.ts";
import type { OrderStanding } from "./standing.ts";

export function orderJson({ number, standing, paid, missing, surplus, payable }: OrderStanding) {
  const lists: readonly (readonly [name: string, list: readonly Json[]])[] = [
    ["paid", paid.map(sumJson)],
    ["missing", missing.map(sumJson)],
    ["surplus", surplus.map(sumJson)],
    ["payable", payable.map(({ id }) => id)],
  ];
  return { number, standing, ...Object.fromEntries(lists.filter(([, list]) => list.length > 0)) };
}

export const sumJson = ({ amount, currency }: Sum) => ({ amount: new JsonNumber(amount), currency });
