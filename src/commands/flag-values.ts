/** Parsers of the values that flags of several commands take: ports, counts, rates, sizes, times and the like. */
import { parseWebAddress } from "../values/addresses.ts";
import { eventStoreProblem, passwordsIn } from "../store/store-place.ts";
import { LISTED_AGE } from "../domain/payment-link-reply.ts";
import { BROKER_FORMS, namesBroker, parseBroker } from "../receiver/brokers/addresses.ts";
import { LONGEST_TIMER, parseDuration, parseUntil, parseWhen } from "../values/time.ts";
import { accepted, nearest, refused, refusedUnseen, type Parsed } from "../values/parse-result.ts";
import { type Outcome, OUTCOME_NAMES, outcomeNamed } from "../domain/outcome.ts";
import { shownPath } from "../values/secrets.ts";
import type { Parser } from "./command.ts";
import { COMPONENT_NAMES, type ComponentName, type CoveredComponents } from "../signatures/cover.ts";

/** A TCP port; 0 picks a free one. */
export function parsePort(text: string): Parsed<number> {
  return /^\d{1,5}$/.test(text) && Number(text) <= 65_535
    ? accepted(Number(text))
    : refused("must be a whole number from 0 to 65535");
}

/** The address that a server binds. IPv6 may have brackets, as in the URLs that paylink prints. */
export function parseBoundHost(text: string): Parsed<string> {
  return /\/|^[^:[\]]*:\d+$|\]:/.test(text)
    ? refused("must be an address or a host name, without scheme and port, such as 127.0.0.1 or ::1")
    : accepted(text.replace(/^\[(.*)\]$/, "$1"));
}

/** The path of a listener, as a URL spells it, which is how the service requests it. A second slash would begin the name of a host. */
export function parsePath(text: string): Parsed<string> {
  const path = /^\/[^?#\s]*$/.test(text) ? new URL(`http://localhost${text}`).pathname : "";
  return /^\/(?!\/)/.test(path)
    ? accepted(path)
    : refused("must start with one / and have no query, such as /webhooks");
}

/** A whole number within bounds. */
export const parseCount =
  (from: number, to: number) =>
  (text: string): Parsed<number> => {
    const count = /^\d{1,16}$/.test(text.trim()) ? Number(text) : NaN;
    return count >= from && count <= to
      ? accepted(count)
      : refused(`must be a whole number from ${from} to ${to}`);
  };

/** `--limit`: how many results at most. */
export const parseLimit = parseCount(1, 999_999_999);

/** Events per second, above 0: `10`, `0.5` or `10/s`. */
export function parseRate(text: string): Parsed<number> {
  const [, digits = "0"] = /^(\d{1,9}(?:\.\d{1,9})?)(?:\/s)?$/.exec(text.trim()) ?? [];
  return Number(digits) > 0
    ? accepted(Number(digits))
    : refused("must be a rate per second, such as 20 or 0.5");
}

const SIZE_UNITS = { b: 1, kb: 1024, mb: 1024 ** 2, gb: 1024 ** 3 } as const;

/** Bytes, from 1: `64kb` or `1mb`. */
export function parseSize(text: string): Parsed<number> {
  const [, digits = "0", unit = "b"] = /^(\d{1,9})(b|kb|mb|gb)?$/.exec(text.trim().toLowerCase()) ?? [];
  const size = Number(digits) * (isSizeUnit(unit) ? SIZE_UNITS[unit] : 0);
  return size > 0 ? accepted(size) : refused("must be a size, such as 64kb or 1mb");
}

const isSizeUnit = (text: string): text is keyof typeof SIZE_UNITS => Object.hasOwn(SIZE_UNITS, text);

/** A time in the past, or a duration back from now. */
export const parsePast: Parser<Date> = (typed, { now }) => parseWhen(typed, now(), -1);

/** The end of a period in the past. */
export const parseEnd: Parser<Date> = (typed, { now }) => parseUntil(typed, now());

/** A length of time, in milliseconds. */
export function parseMilliseconds(text: string): Parsed<number> {
  const parsed = parseDuration(text);
  return parsed.ok ? accepted(parsed.value.milliseconds) : parsed;
}

/** How far back links are read, in milliseconds: as far as the service lists them; `0` is no time. */
export function parseLookBack(text: string): Parsed<number> {
  const parsed = text.trim() === "0" ? accepted(0) : parseMilliseconds(text);
  return !parsed.ok || parsed.value <= LISTED_AGE.milliseconds ? parsed : refused("must be at most 365d");
}

/** A time limit, in milliseconds, above 0. */
export function parseTimeout(text: string): Parsed<number> {
  const parsed = parseMilliseconds(text);
  if (!parsed.ok) return parsed;
  return parsed.value === 0
    ? refused("must be more than 0")
    : accepted(Math.min(parsed.value, LONGEST_TIMER));
}

const MOST_DELAYS = 10_000;

/** A list of waits, in milliseconds: `5s,30s,48x1h`, where the last stands for 48 waits; `none` is an empty list. */
export function parseDelays(text: string): Parsed<readonly number[]> {
  if (text.trim() === "none") return accepted([]);
  const delays: number[] = [];
  for (const part of text.split(",")) {
    const [, times, each = part] = /^\s*(\d{1,9})x(.*)$/.exec(part) ?? [];
    const count = times === undefined ? 1 : Number(times);
    const delay = parseMilliseconds(each);
    if (!delay.ok || count === 0)
      return refused("must be durations separated by commas, such as 5s,30s,48x1h (1h 48 times), or none");
    if (delays.length + count > MOST_DELAYS) return refused(`must be ${MOST_DELAYS} waits at most`);
    for (let added = 0; added < count; added++) delays.push(delay.value);
  }
  return accepted(delays);
}

export function parseOutcome(text: string): Parsed<Outcome> {
  const outcome = outcomeNamed(text);
  return outcome === undefined
    ? refused(`must be one of ${OUTCOME_NAMES.join(", ")}`, nearest(text, OUTCOME_NAMES))
    : accepted(outcome);
}

/** An application, or a broker. */
export function parseForwardTarget(text: string): Parsed<URL> {
  if (namesBroker(text.trim())) return parseBroker(text.trim());
  const parsed = parseTarget(text);
  return parsed.ok ? parsed : refused(`${parsed.message}; or a broker: ${BROKER_FORMS.join(", ")}`);
}

/** `3000`, `3000/hook`, `localhost:3000/hook`, `/hook` or a whole URL. */
export function parseTarget(text: string): Parsed<URL> {
  if (namesBroker(text.trim()))
    return refused("must be an application: a broker stores what it gets, and verifies no webhook");
  const path = pathProblem(text.trim());
  if (path !== undefined) return refused(path);
  const url = parseWebAddress(completeUrl(text.trim()));
  return url === undefined || url.username !== "" || url.port === "0"
    ? refused(
        "must be a port, a path, host:port/path or a whole http(s) URL, such as 3000 or localhost:3000/hook",
      )
    : accepted(url);
}

/** What would be read as the name of a host, and is the path of a file or another scheme; undefined for any other text. */
function pathProblem(text: string): string | undefined {
  // What Git Bash makes of /hook before paylink sees it.
  if (/^[a-z]:[\\/]/i.test(text) && !text.includes("://"))
    return "must be a URL, not a Windows path; in Git Bash, write //hook for /hook, or set MSYS_NO_PATHCONV=1";
  if (/^(?:~|\.{1,2}(?:[\\/]|$))/.test(text) || text.includes("\\"))
    return "must be a URL, not the path of a file; the path of a URL begins with /, such as /hook";
  if (/^unix:/i.test(text) || /^file:/i.test(text))
    return "must be an http or https URL: paylink does not send to sockets and files";
  if (/^[a-z][\w+.-]*:(?!\/\/|\d)/i.test(text))
    return "must be an http or https URL, such as localhost:3000/hook";
  return undefined;
}

const LOCAL = "http://localhost";

function completeUrl(text: string): string {
  if (/^\d+(?:[/?]|$)/.test(text)) return `${LOCAL}:${text}`;
  // Git Bash leaves a path with two slashes alone.
  if (text.startsWith("/")) return `${LOCAL}${text.replace(/^\/+/, "/")}`;
  return text.includes("://") ? text : `http://${text}`;
}

/** Where events are kept: a file, or the URL of a PostgreSQL database, without a password, which other users would see. */
export function parseEventStoreFlag(text: string): Parsed<string> {
  const problem = eventStoreProblem(text);
  if (problem !== undefined) return refusedUnseen(problem);
  return passwordsIn(text).length === 0
    ? accepted(text)
    : refusedUnseen("must not have a password: use PAYLINK_DB, PGPASSWORD or .pgpass");
}

/** What a signature covers: `content-digest @method`, also in the syntax of Signature-Input. */
export function parseCover(text: string): Parsed<CoveredComponents> {
  const cover: ComponentName[] = [];
  for (const word of text.split(/[\s,()]+/).filter((part) => part !== "")) {
    const wanted = word.replaceAll('"', "").toLowerCase();
    const name = COMPONENT_NAMES.find((known) => known === wanted);
    if (name === undefined) return unknownComponent(text, word);
    if (cover.includes(name)) return refused(`names ${name} twice`);
    cover.push(name);
  }
  return cover.includes("content-digest")
    ? accepted(cover)
    : refused("must include content-digest; without it the body is not signed");
}

function unknownComponent(text: string, word: string): Parsed<never> {
  if (word.includes(";")) return refused(`must be names without parameters; ${word} has one`);
  const near = nearest(word, COMPONENT_NAMES);
  if (near === undefined)
    return refused(`names ${word}, which webhooks do not have; they have ${COMPONENT_NAMES.join(", ")}`);
  return refused(`names ${word}, which webhooks do not have`, text.replace(word, near));
}

/** A file with a private key. A key itself would be an argument, which others on the machine see, and the name of a new file. */
export const parseKeyFile = (text: string): Parsed<string> =>
  shownPath(text) === text ? accepted(text) : refusedUnseen("must be a file, and not the text of a key");
