/** Where a webhook is passed on to: `3000`, `localhost:3000/hook`, `/hook` or a whole URL. */
import { accepted, refused, type Parsed } from "../domain/parse-result.ts";
import { parseWebAddress } from "../domain/web-address.ts";

const LOCAL = "http://localhost";

export function parseTarget(text: string): Parsed<URL> {
  const url = parseWebAddress(completeUrl(text.trim()));
  return url === undefined || url.username !== "" || url.port === "0"
    ? refused(
        "must be a port, a path, host:port/path or a whole http(s) URL, such as 3000 or localhost:3000/hook",
      )
    : accepted(url);
}

function completeUrl(text: string): string {
  if (/^\d+$/.test(text)) return `${LOCAL}:${text}/`;
  if (text.startsWith("/")) return `${LOCAL}${text}`;
  return text.includes("://") ? text : `http://${text}`;
}
