/** Every link of a period, page by page. */
import { setImmediate } from "node:timers/promises";
import { isJsonObject, type Json, memberOf, stringifyJson } from "../values/json.ts";
import type { Api } from "./client.ts";
import type { ListQuery } from "./links.ts";
import { UNITS } from "../values/time.ts";

/** Milliseconds: the clock of the service may differ from this one by days, as that of a sandbox does. */
export const CLOCK_DIFFERENCE = 7 * UNITS.d;

/** The documented maximum. */
const MAX_PAGE_SIZE = 5000;

/** Links after which others have a turn: Ctrl-C, and the collection of what the last page has left (reconcile bench). */
const LINKS_PER_TURN = 200;

/**
 * No order of the pages is documented, so the newest link can be on any of them. A page without another link ends the list:
 * `totalCount` may be the number of links on one page, and a page may have fewer than it was asked for.
 */
export async function* allLinks(
  listLinks: Api["listLinks"],
  query: Omit<ListQuery, "page" | "size">,
): AsyncGenerator<Json> {
  const known = new Set<string>();
  for (let page = 1; ; page++) {
    const { size: before } = known;
    for (const record of await listLinks({ ...query, page, size: MAX_PAGE_SIZE })) {
      const key = linkKey(record);
      if (known.has(key)) continue;
      known.add(key);
      if (known.size % LINKS_PER_TURN === 0) await setImmediate();
      yield record;
    }
    if (known.size === before) return;
  }
}

function linkKey(record: Json): string {
  const id = isJsonObject(record) ? memberOf(record, "id") : undefined;
  return typeof id === "string" ? ownText(id) : stringifyJson(record);
}

/** A copy: a part of a text keeps all of it in memory, and this one is of a page of 5,000 links (reconcile bench). */
export const ownText = (text: string): string => Buffer.from(text).toString();
