/** The number and the sums of what a list shows, by currency: of the keys in use here, and apart those of other keys. */
import type { Group, Totals } from "../store/search.ts";
import { plural } from "../pages/components.ts";
import { sumsOf } from "../pages/totals.ts";
import { isApart, type InspectorView } from "./frame.ts";

/** "412 events, 3 rejected; approved EUR 1,250.00, GBP 20.00; not approved EUR 80.00." */
export function totalsSentence(view: InspectorView, { groups, rejected }: Totals): string {
  const other = groups.filter((group) => isApart(view, group));
  const own = groups.filter((group) => !other.includes(group));
  const counted = [
    ...(own.length > 0 || (other.length === 0 && rejected === 0) ? [plural(eventsIn(own), "event")] : []),
    ...(rejected > 0 ? [`${rejected.toLocaleString("en-US")} rejected`] : []),
  ].join(", ");
  const words = [
    ...(counted === "" ? [] : [[counted, ...sumsOf(own)].join("; ")]),
    ...(other.length === 0
      ? []
      : [[`other keys: ${plural(eventsIn(other), "event")}`, ...sumsOf(other)].join("; ")]),
  ].join(". ");
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}.`;
}

const eventsIn = (groups: readonly Group[]): number => groups.reduce((sum, { events }) => sum + events, 0);
