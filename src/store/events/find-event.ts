/** Finds the one kept event that a user means by the beginning of its uti or id. */
import { PaylinkError } from "../../domain/errors.ts";
import type { EventArchive, KeptEvent, KeptRejection } from "./event-queries.ts";

/** Throws `event_not_found`, or `usage` where the beginning could mean several. */
export function findOne(store: EventArchive, prefix: string): KeptEvent | KeptRejection {
  const found = prefix === "" ? [] : store.find(prefix);
  const exact = found.filter((one) => nameOf(one) === prefix || one.id === prefix);
  const candidates = exact.length > 0 ? exact : found;
  const [first] = candidates;
  if (first === undefined)
    throw new PaylinkError("event_not_found", `No event begins with ${prefix || "nothing"}.`);
  const names = [...new Set(candidates.map(nameOf))];
  if (names.length > 1)
    throw new PaylinkError("usage", `Several events begin with ${prefix}: ${names.join(", ")}.`, {
      hint: "Give more of it.",
    });
  return first;
}

const nameOf = (one: KeptEvent | KeptRejection): string =>
  one.type === "event" && one.uti !== "" ? one.uti : one.id;
