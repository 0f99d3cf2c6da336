/** Where webhooks are forwarded: the application's addresses, each for one outcome or for all others. */
import { accepted, refused, type Parsed } from "../domain/parse-result.ts";
import { outcomeOf, type Outcome, type TransactionRecord } from "../domain/transaction.ts";
import { parseWebAddress } from "../domain/web-address.ts";

/** The target of one outcome; without an outcome, that of all others. */
export interface Route {
  readonly outcome: Outcome | undefined;
  readonly url: URL;
}

/** `outcome` is that of a record; a webhook without a record has none. */
export function targetFor(routes: readonly Route[], outcome: string | undefined): URL | undefined {
  const plain = routes.find((route) => route.outcome === undefined);
  return (routes.find((route) => route.outcome !== undefined && route.outcome === outcome) ?? plain)?.url;
}

const LOCAL = "http://localhost";

/** The target of a webhook, by its record. */
export const targetOf = (
  routes: readonly Route[],
  { record }: { readonly record: TransactionRecord | null },
): URL | undefined => targetFor(routes, record === null ? undefined : outcomeOf(record));

/** `3000`, `3000/hook`, `localhost:3000/hook`, `/hook` or a whole URL. */
export function parseTarget(text: string): Parsed<URL> {
  const url = parseWebAddress(completeUrl(text.trim()));
  return url === undefined || url.username !== "" || url.port === "0"
    ? refused(
        "must be a port, a path, host:port/path or a whole http(s) URL, such as 3000 or localhost:3000/hook",
      )
    : accepted(url);
}

function completeUrl(text: string): string {
  if (/^\d+(?:[/?]|$)/.test(text)) return `${LOCAL}:${text}`;
  if (text.startsWith("/")) return `${LOCAL}${text}`;
  return text.includes("://") ? text : `http://${text}`;
}
