/** What lists count and add up is kept until the ledger changes: an open page asks for it every two seconds (sandbox bench). */
import type { ReadRows } from "./lists.ts";

/** The most answers to keep: a period that ends now is another one each time. */
const KEPT = 100;

/** `changes` returns another number after each change. */
export function keptUntilChange(read: ReadRows, changes: () => number): ReadRows {
  const answers = new Map<string, ReturnType<ReadRows>>();
  let readAt = changes();
  return (...statement) => {
    const present = changes();
    if (present !== readAt || answers.size >= KEPT) answers.clear();
    readAt = present;
    const key = JSON.stringify(statement);
    const answer = answers.get(key) ?? read(...statement);
    answers.set(key, answer);
    return answer;
  };
}
