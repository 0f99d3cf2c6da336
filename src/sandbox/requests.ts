/** The newest requests to the service's API with their answers, for the dashboard: in memory, bounded, and without secrets. */
import type { Context, MiddlewareHandler } from "hono";
import { withoutPassword } from "../domain/addresses.ts";
import { maskCardNumbers } from "../domain/card-numbers.ts";
import { isJsonObject, stringifyJson, type Json } from "../domain/json.ts";
import { parseJson } from "../domain/parse-json.ts";
import { isSecretName } from "../domain/secrets.ts";
import type { Merchant } from "./identity.ts";
import { searchWords, type ListPage, type ListQuery } from "./store/rows.ts";

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
}

/** The most requests that are kept, the most characters of a target, and those of a body, as it was sent and as it is shown. */
const KEPT = 100;
const TARGET = 300;
const BODY = 16_000;

/** What belongs to the API; the checkout and the dashboard are pages. */
const API = /^\/(?:v1|oauth)\/|^\/\.well-known\/jwks\.json$/;

export function createRequestLog({ clientSecret }: Merchant, now: () => Date, machineNow: () => Date) {
  const kept: ApiRequest[] = [];
  let number = 0;
  /** What is secret under any name: access tokens all begin alike. */
  const hide = (text: string): string =>
    maskCardNumbers(text)
      .replace(/sandbox_[\w-]+/g, HIDDEN)
      .replaceAll(clientSecret, HIDDEN);
  const bodyOf = async (message: Request | Response): Promise<ShownBody> => {
    const [type = ""] = (message.headers.get("content-type") ?? "").split(";", 1);
    // Cut off only now: a part of a secret is not recognised, and indenting can make a text very long.
    return { type, text: hide(shownText(type, await message.text())).slice(0, BODY) };
  };
  const record = async (
    c: Context,
    at: Date,
    started: number,
    request: Promise<ShownBody>,
  ): Promise<void> => {
    const { pathname, searchParams } = new URL(c.req.url);
    const query = searchParams.size === 0 ? "" : `?${formText(searchParams)}`;
    const shown = {
      number: ++number,
      at,
      method: c.req.method,
      target: hide(`${withoutPassword(pathname)}${query}`).slice(0, TARGET),
      status: c.res.status,
      duration: machineNow().getTime() - started,
    };
    kept.unshift({ ...shown, request: await request, response: await bodyOf(c.res.clone()) });
    kept.length = Math.min(kept.length, KEPT);
  };
  return {
    count: () => kept.length,
    find: (given: number): ApiRequest | undefined => kept.find((one) => one.number === given),
    /** All on one page. */
    list: ({ text = "", state = "", top = "" }: ListQuery): ListPage<ApiRequest> => {
      const words = searchWords(text);
      const shows = ({ method, target, status }: ApiRequest, word: string): boolean =>
        `${method} ${target} ${status}`.toLowerCase().includes(word);
      const matching = kept.filter(
        (one) =>
          (state === "" || (state === "failed") === isFailed(one)) && words.every((word) => shows(one, word)),
      );
      const rows = matching.filter((one) => one.number <= (Number(top) || Infinity));
      return {
        rows,
        total: matching.length,
        newest: String(matching[0]?.number ?? 0),
        arrived: matching.length - rows.length,
        skipped: 0,
        newer: undefined,
        older: undefined,
      };
    },
    /** Records each request to the API once it is answered. */
    middleware: (async (c, next) => {
      if (!API.test(c.req.path)) return next();
      const [at, started] = [now(), machineNow().getTime()];
      const request = bodyOf(c.req.raw.clone());
      await next();
      await record(c, at, started, request);
    }) satisfies MiddlewareHandler,
  };
}

export const isFailed = ({ status }: ApiRequest): boolean => status >= 400;

const HIDDEN = "[redacted]";
const NOT_SHOWN = "(not shown)";

/** A body for people: JSON indented, a form as it is. Nothing of any other or longer body is kept. */
function shownText(type: string, text: string): string {
  if (text === "") return "";
  if (text.length > BODY) return `(not shown: ${text.length} characters)`;
  if (/\bjson$/i.test(type)) {
    const parsed = parseJson(text);
    return parsed.ok ? stringifyJson(withoutSecrets(parsed.value.value), 2) : NOT_SHOWN;
  }
  return type === "application/x-www-form-urlencoded" ? formText(new URLSearchParams(text)) : NOT_SHOWN;
}

const formText = (form: URLSearchParams): string =>
  [...form]
    .map(([name, value]) => `${name}=${isSecret(name) && value !== "" ? HIDDEN : withoutPassword(value)}`)
    .join("&");

const isSecret = (name: string): boolean => isSecretName(name) || /key$/i.test(name);

/** `name` is that of the member or the field. */
function withoutSecrets(value: Json, name = ""): Json {
  if (value !== "" && value !== null && isSecret(name)) return HIDDEN;
  if (typeof value === "string") return withoutPassword(value);
  if (Array.isArray(value)) return value.map((item) => withoutSecrets(item));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([member, inner]) => [member, withoutSecrets(inner, member)]),
  );
}
