/** The number and the sums of what a list shows, by currency: of the keys in use here, and apart those of other keys. */
import { plural, wordFor, formatCount } from "../values/plural.ts";
import { capitalized } from "../values/sentence.ts";
import type { Totals } from "../store/search.ts";
import { sumsOf } from "../pages/totals.ts";
import { isApart, type InspectorView } from "./frame.ts";

/** "412 events (2 replaced by newer records), 3 rejected; approved EUR 1,250.00, GBP 20.00; not approved EUR 80.00." */
export function totalsSentence(view: InspectorView, { groups, replaced, rejected }: Totals): string {
  const of = (apart: boolean) => {
    const isOf = (one: { readonly key: string }): boolean => isApart(view, one) === apart;
    const counted = groups.filter(isOf);
    const without = eventsIn(replaced.filter(isOf));
    return {
      events: eventsIn(counted) + without,
      note:
        without === 0
          ? ""
          : ` (${formatCount(without)} replaced by ${wordFor(without, "a newer record", "newer records")})`,
      sums: sumsOf(counted),
    };
  };
  const [own, other] = [of(false), of(true)];
  const counted = [
    ...(own.events > 0 || (other.events === 0 && rejected === 0)
      ? [`${plural(own.events, "event")}${own.note}`]
      : []),
    ...(rejected > 0 ? [`${formatCount(rejected)} rejected`] : []),
  ].join(", ");
  const words = [
    ...(counted === "" ? [] : [[counted, ...own.sums].join("; ")]),
    ...(other.events === 0
      ? []
      : [[`other keys: ${plural(other.events, "event")}${other.note}`, ...other.sums].join("; ")]),
  ].join(". ");
  return `${capitalized(words)}.`;
}

const eventsIn = (groups: readonly { readonly events: number }[]): number =>
  groups.reduce((sum, { events }) => sum + events, 0);
