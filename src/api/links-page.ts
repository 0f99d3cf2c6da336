/** Lists payment links: the address of one page, and the page in the reply. */
import { PaylinkError } from "../domain/errors.ts";
import { isJsonNumber, isJsonObject, type Json, memberOf } from "../domain/json.ts";
import { parseJson } from "../domain/parse-json.ts";
import { formatInstant } from "../domain/time.ts";
import type { HttpReply } from "../http/message.ts";
import { checkAddress } from "./failures.ts";
import { serviceWords } from "./service-words.ts";

export interface LinksQuery {
  readonly terminalId: string;
  /** When the links were created. */
  readonly from: Date;
  readonly to: Date;
  readonly status?: string | undefined;
  /** From 1; the service's default is the first page. */
  readonly page?: number | undefined;
  /** Links on a page; the service's default is 20, its maximum 5000. */
  readonly size?: number | undefined;
}

export interface LinksPage {
  /** On all pages; undefined if the service does not give the number. */
  readonly totalCount: number | undefined;
  readonly records: readonly Json[];
}

/** The address of a page. `links` is the address where links are created; its query is kept. */
export function pageAddress(links: URL, { from, to, ...query }: LinksQuery): URL {
  const address = new URL(links);
  const parameters = { ...query, from: formatInstant(from), to: formatInstant(to) };
  for (const [name, value] of Object.entries(parameters))
    if (value !== undefined) address.searchParams.set(name, String(value));
  return address;
}

/** Throws `not_reached` if a 2xx reply is not a list of links: something else answers at the address. */
export function readPage({ status, body }: HttpReply): LinksPage {
  const parsed = parseJson(new TextDecoder().decode(body));
  const page = parsed.ok && isJsonObject(parsed.value.value) ? parsed.value.value : {};
  const [records, totalCount] = [memberOf(page, "records"), memberOf(page, "totalCount")];
  if (!Array.isArray(records)) {
    const service = parsed.ok ? "JSON without records" : serviceWords(body).text;
    throw new PaylinkError(
      "not_reached",
      `The service answered ${status}, but not with a list of links: ${service || "an empty body"}`,
      {
        effect: "list",
        hints: [checkAddress("baseUrl", "linksPath")],
        details: { status, service },
      },
    );
  }
  return { records, totalCount: isJsonNumber(totalCount) ? Number(totalCount.toString()) : undefined };
}
