/** The newest requests to the service's API with their answers, for the dashboard: in memory, bounded, and without secrets. */
import { parseWebAddress } from "../values/addresses.ts";
import { withoutPassword } from "../values/url-passwords.ts";
import { maskCardNumbers } from "../domain/card-numbers.ts";
import { indentedJson } from "../values/json.ts";
import { parseJson } from "../values/parse-json.ts";
import { withoutSecrets } from "../values/hidden-secrets.ts";
import { REDACTED } from "../values/secrets.ts";
import { CloseConnection, type Handler } from "../http/exchange.ts";
import { fieldLines, type HttpReply, targetUri } from "../http/message.ts";
import type { Faults } from "./faults.ts";
import { TOKEN_PREFIX } from "./identity.ts";
import type { SandboxSetup } from "./setup.ts";
import type { LedgerPage, LedgerQuery } from "./store/ledger-lists.ts";

/** The text of a body; `type` is its media type. */
interface ShownBody {
  readonly type: string;
  readonly text: string;
}

export interface ApiRequest {
  /** Counts up from 1. */
  readonly number: number;
  readonly at: Date;
  readonly method: string;
  /** The path and query. */
  readonly target: string;
  readonly status: number;
  /** Milliseconds. */
  readonly duration: number;
  readonly request: ShownBody;
  readonly response: ShownBody;
  /** The fault that was applied to it, as it was set: `lost`. */
  readonly fault: string | undefined;
}

/** The most requests that are kept, the most characters of a target and of a media type, and the most bytes and characters of a body. */
const REQUESTS_KEPT = 100;
const TARGET = 300;
const BODY = 16_000;

/** What belongs to the API; the checkout and the dashboard are pages. */
const API = /^\/(?:v1|oauth2)\/|^\/\.well-known\/jwks\.json$/;

export function createRequestLog({
  merchant: { clientSecret },
  clock,
  machineNow,
}: Pick<SandboxSetup, "merchant" | "clock" | "machineNow">) {
  const kept: ApiRequest[] = [];
  let number = 0;
  /** What is secret under any name. */
  const hide = (text: string): string =>
    withoutSecrets(maskCardNumbers(text)).replace(ACCESS_TOKEN, REDACTED).replaceAll(clientSecret, REDACTED);
  const bodyOf = ({ headers, body }: Pick<HttpReply, "headers" | "body">): ShownBody => {
    const [type = ""] = (fieldLines(headers, "content-type")[0] ?? "").split(";", 1);
    // Cut off only now: a part of a secret is not recognised, and indenting can make a text very long.
    return { type: hide(type).slice(0, TARGET), text: hide(shownText(type, body)).slice(0, BODY) };
  };
  return {
    find: (given: number): ApiRequest | undefined => kept.find((one) => one.number === given),
    /** All on one page. */
    list: ({ state = "", since, until }: LedgerQuery): LedgerPage<ApiRequest> => ({
      rows: kept.filter(
        (one) =>
          (state === "" || (state === "failed") === isFailed(one)) &&
          (since === undefined || one.at >= since) &&
          (until === undefined || one.at < until),
      ),
      older: undefined,
    }),
    clear: (): void => void (kept.length = 0),
    /** Records each request to the API once it is answered; of a lost answer, what was lost. */
    recording:
      (handler: Handler, faults: Faults): Handler =>
      async (message) => {
        const url = parseWebAddress(targetUri(message));
        if (url === undefined || !API.test(url.pathname)) return handler(message);
        const [at, started] = [clock.now(), machineNow().getTime()];
        const { reply, fault } = await faults.answer(message, handler);
        const { status, headers, body } = reply;
        kept.unshift({
          number: ++number,
          at,
          method: message.method,
          target: hide(`${withoutPassword(url.pathname)}${url.search}`).slice(0, TARGET),
          status,
          duration: machineNow().getTime() - started,
          request: bodyOf(message),
          response: bodyOf({ headers, body }),
          fault: fault?.words,
        });
        kept.length = Math.min(kept.length, REQUESTS_KEPT);
        if (fault?.kind.type === "lost") throw new CloseConnection("the fault is lost");
        return reply;
      },
  };
}

export const isFailed = ({ status }: ApiRequest): boolean => status >= 400;

const ACCESS_TOKEN = new RegExp(`${TOKEN_PREFIX}[\\w-]+`, "g");

/** A body for people: JSON indented, a form as it is. Nothing of any other or longer body is kept. */
function shownText(type: string, body: Uint8Array): string {
  if (body.length === 0) return "";
  if (body.length > BODY) return `(not shown: ${body.length} bytes)`;
  const text = new TextDecoder().decode(body);
  if (/\bjson$/i.test(type)) {
    const parsed = parseJson(text);
    return parsed.ok ? indentedJson(parsed.value.value) : text;
  }
  return type === "application/x-www-form-urlencoded" ? text : "(not shown)";
}
