/** Finds the one stored event that a user names by the beginning of its uti or id. */
import { PaylinkError } from "../../domain/errors.ts";
import type { EventStore, StoredEvent, StoredRejection } from "../../receiver/event-store.ts";

/** Throws `event_not_found`, or `usage` if several begin with `prefix`. */
export async function findOne(
  store: Pick<EventStore, "find">,
  prefix: string,
): Promise<StoredEvent | StoredRejection> {
  const found = prefix === "" ? [] : await store.find(prefix);
  const nameOf = (one: StoredEvent | StoredRejection): string =>
    one.type === "event" && one.uti.startsWith(prefix) ? one.uti : one.id;
  const exact = found.filter((one) => nameOf(one) === prefix || one.id === prefix);
  const candidates = exact.length > 0 ? exact : found;
  const [first] = candidates;
  if (first === undefined)
    throw new PaylinkError(
      "event_not_found",
      prefix === "" ? "The uti is empty." : `No event begins with ${prefix}.`,
    );
  const names = [...new Set(candidates.map(nameOf))];
  if (names.length > 1)
    throw new PaylinkError("usage", `Several utis and ids begin with ${prefix}: ${names.join(", ")}.`, {
      hint: "Type more characters of the one you mean.",
    });
  return first;
}
