/** What several commands share: flags, each declared once, what they mean together with the settings, and the confirmation. */
import type { ForwardingKey } from "../sender/signing-key.ts";
import type { Mapping } from "../lists/columns.ts";
import type { Choice } from "../lists/chosen-rows.ts";
import type { Context } from "../context.ts";
import { isLoopback } from "../values/addresses.ts";
import { BROKER_FORMS } from "../receiver/brokers/addresses.ts";
import { PaylinkError } from "../domain/errors.ts";
import { hint } from "../domain/hint.ts";
import { type Outcome, OUTCOME_NAMES, outcomeName } from "../domain/outcome.ts";
import { parseApiFault } from "../sandbox/api-faults.ts";
import { OPERATION_NAMES } from "../domain/operations.ts";
import { accepted, refused, type Parsed } from "../values/parse-result.ts";
import { formatLocal } from "../render/layout.ts";
import { safeText } from "../render/safe-text.ts";
import type { Route } from "../receiver/outcome-routes.ts";
import type { ResolvedSettings } from "../settings/resolved-settings.ts";
import type { Component } from "../signatures/components.ts";
import { DEFAULT_POLICY, type Policy } from "../signatures/policy.ts";
import {
  flag,
  toggle,
  lines,
  repeatable,
  text,
  toggleForPeople,
  type Parser,
  type Usage,
  type ValuesOf,
} from "./command.ts";
import {
  parseCount,
  parseEventStoreFlag,
  parseMilliseconds,
  parseOutcome,
  parseForwardTarget,
  parseKeyFile,
  parseTimeout,
} from "./flag-values.ts";
import { UNITS } from "../values/time.ts";

/**
 * Bounds the whole command: the runner ends its exchanges and its waits. `preset` is a limit without the flag, or words for what
 * holds then; `afterwards` says what is known when the time has passed, unless nothing was sent.
 */
export const timeoutFlag = (preset: { readonly default: string } | string, afterwards: string) => {
  const words = "how long the command may take";
  return {
    ...(typeof preset === "string"
      ? flag("--timeout <duration>", `${words} (default: ${preset})`, parseTimeout, { example: "60s" })
      : flag("--timeout <duration>", words, parseTimeout, preset)),
    limits: (timeLimit: Context["timeLimit"], milliseconds: number) =>
      timeLimit.start(milliseconds, afterwards),
  };
};

/** One id or URL a line, for scripts. */
export const quietFlag = (what: string) => toggleForPeople("-q, --quiet", `print only ${what}`);

/** A list as a file that a spreadsheet opens. */
export const csvFlag = toggleForPeople(
  "--csv",
  "print CSV for a spreadsheet: a header, and the columns of the table",
);

/** Where events are kept. */
export const eventStoreFlag = {
  ...flag(
    "--db <file or URL>",
    "where events are kept: a file or postgres://… (default: a file for each profile, in paylink's data folder)",
    parseEventStoreFlag,
    { example: "events.db" },
  ),
  isEventStore: true,
};

/** `Status=Open`, in the words of the module that chooses rows. */
export const parseOnlyLater: Parser<Choice> = async (typed) =>
  (await import("../lists/chosen-rows.ts")).parseOnly(typed);

const parseMappingLater: Parser<Mapping> = async (typed) =>
  (await import("../lists/columns.ts")).parseMapping(typed);

/** Where a list begins that has a title above it. */
export const headerLineFlag = flag(
  "--header-line <n>",
  "the line of the header, where other text stands above it",
  parseCount(1, Number.MAX_SAFE_INTEGER),
  { example: "5" },
);

/** How the columns of books are named. */
export const booksMapFlag = repeatable(
  "--map <column=field>",
  "read this column of the books as invoiceId, amount, currency, paid, due, state, in, out or sign, or leave it out (Paid=); repeatable",
  parseMappingLater,
  { example: "Ref=invoiceId" },
);

/** What to do about a store that a container forgets. */
export const KEEPING_STORE = hint`Keep it in a volume of the container, or in PostgreSQL: PAYLINK_DB.`;

/** What the API of a sandbox does wrong on purpose. */
export const failFlag = repeatable(
  "--fail <operation>=<fault>",
  `make the API fail: ${OPERATION_NAMES.join(", ")} with a status, html, lost, late=<duration> or gzip; :<count> limits it; repeatable`,
  parseApiFault,
  { example: "create=lost:1" },
);

/** For pages on this machine. */
export const plainHostFlag = toggle(
  "--plain-host",
  "serve the pages at 127.0.0.1, for browsers that do not find hosts below localhost (Safari); other ports of this machine then receive the cookie of the pages",
);

/** Whose links a command reads. */
export const terminalFlag = flag(
  "--terminal-id <id>",
  "the links of this terminal (default: the account's)",
  text,
  {
    example: "1234567890",
  },
);

/** The private key of a sender. */
export const signingKeyFlag = flag(
  "--sign-with <file>",
  "the private key to sign with (default: the sandbox's)",
  parseKeyFile,
  { example: "key.pem" },
);

export const forwardingKeyFlag = flag(
  "--sign-with <file>",
  "sign each attempt with this private key instead of sending the service's signature; paylink creates the file, and <file>.pub, if it does not exist",
  (typed): Parsed<string> =>
    typed === "-" ? refused("must be a file: its public key is beside it") : parseKeyFile(typed),
  { example: "forward.pem" },
);

/** Which key the application verifies with. */
export const forwardingKeyWords = ({ path, isNew, publicPath }: ForwardingKey): string =>
  safeText(
    `${isNew ? `Created the private key ${path}. ` : ""}Forwarded webhooks are signed with ${path}. Your application verifies them with ${publicPath ?? `its public key: openssl pkey -in ${path} -pubout`}`,
  );

/** Keeps sample webhooks on this machine: a live shop could mistake one for a payment. */
export function checkLocal(at: string, url: URL, allowRemote: boolean, { problems }: Usage): void {
  if (allowRemote || isLoopback(url.hostname)) return;
  const message = `is not on this machine; add --allow-remote if that endpoint is yours (got "${url.href}")`;
  problems.push({ at, message });
}

/** The service's public keys, for a receiver. */
export const serviceKeyFlag = repeatable(
  "--key <file or URL>",
  "the service's public key: PEM, certificate, JWK or JWKS; repeatable",
  lines,
  { example: "service.pem" },
);

/** Whose events a command acts on: those that a key of the service has verified. */
export const ownKeyFlag = repeatable(
  "--key <key>",
  "only events that this public key has verified: a file, a URL or a thumbprint (default: the profile's keys); repeatable",
  lines,
  { example: "service.pem" },
);

/** Where the service's public keys come from. */
export interface ServiceKeySources {
  /** Files, URLs or the keys' own text. */
  readonly keySources: readonly string[];
  /** Which of the two names them. */
  readonly keyPlace: "--key" | "webhookKey";
}

/** The keys that the flag or else the settings name. Throws `key_required` without a key, unless `effect` is undefined. */
export function serviceKeys(
  key: readonly string[],
  settings: ResolvedSettings,
  effect: "receive" | "verify" | undefined,
): ServiceKeySources {
  const keySources = key.length > 0 ? key : (settings.get("webhookKey") ?? []);
  if (keySources.length === 0 && effect !== undefined)
    throw new PaylinkError("key_required", "No key is configured, so no webhook can be verified.", {
      effect,
    });
  return { keySources, keyPlace: key.length > 0 ? "--key" : "webhookKey" };
}

const parseComponentLater: Parser<Component> = async (typed) =>
  (await import("../signatures/components.ts")).parseComponent(typed);

/** What a signature must have. */
export const policyFlags = {
  tolerance: flag("--tolerance <duration>", "how old a signature may be (default: 5m)", parseMilliseconds, {
    example: "5m",
  }),
  require: repeatable(
    "--require <component>",
    "a component that must be signed, such as @method; repeatable",
    parseComponentLater,
    { example: "@method" },
  ),
  requireCreated: toggle("--require-created", "refuse signatures without a creation time"),
};

export type PolicyValues = ValuesOf<typeof policyFlags>;

export function policyFrom(
  {
    tolerance,
    require = [],
    requireCreated,
  }: { readonly [Name in keyof PolicyValues]?: PolicyValues[Name] | undefined },
  settings: ResolvedSettings,
): Policy {
  const stored = parseMilliseconds(settings.get("tolerance") ?? "");
  const milliseconds = tolerance ?? (stored.ok ? stored.value : undefined);
  return {
    ...DEFAULT_POLICY,
    requireCreated: requireCreated === true || settings.get("requireCreated") === true,
    ...(milliseconds === undefined ? {} : { maxAge: milliseconds / 1000 }),
    required: require,
  };
}

/** The most requests to an application at the same time. */
export const FORWARD_CONCURRENCY = 8;
/** Seconds that an application may take: services wait 10 for the answer, and storing the event takes some of them. */
export const FORWARD_SECONDS = 8;

/** A request that takes longer keeps a place from the others. */
const LONGEST_FORWARD = 10 * 60_000;

/** Bounds each request to an application. */
export const forwardTimeoutFlag = (words: string, seconds: number) =>
  flag(
    "--forward-timeout <duration>",
    `how long your application may take${words}`,
    (text): Parsed<number> => {
      const parsed = parseTimeout(text);
      return parsed.ok && parsed.value > LONGEST_FORWARD ? refused("must be 10m at most") : parsed;
    },
    { default: `${seconds}s` },
  );

/** The addresses of applications and brokers: `3000` for every outcome, `declined=3001/failed` for one. */
export const targetsFlag = (spelled: string) =>
  repeatable(
    spelled,
    `your application: 3000, 3000/hook, /hook or a URL; or a broker: ${BROKER_FORMS.join(", ")}; repeatable for single outcomes: declined=3001/failed`,
    parseRoute,
    { example: "3000" },
  );

/** Milliseconds before now that are listed or compared without --since. */
export const DEFAULT_PERIOD = 7 * UNITS.d;

interface PeriodFlags {
  readonly since: Date | undefined;
  readonly until: Date | undefined;
}

/** A period must end after it begins. */
export function checkPeriod({ since, until }: PeriodFlags, { problems }: Usage): void {
  if (since !== undefined && until !== undefined && since >= until)
    problems.push({
      at: "--until",
      message: `must be later than --since ${formatLocal(since)} (got "${formatLocal(until)}")`,
    });
}

/** Two targets for one outcome are a problem: only one of them would be used. */
export function checkTargets(at: string, routes: readonly Route[], { problems }: Usage): void {
  const seen = new Map<Outcome | undefined, URL>();
  for (const { outcome, url } of routes) {
    const before = seen.get(outcome);
    const name = outcome === undefined ? "every other outcome" : outcomeName(outcome);
    if (before !== undefined)
      problems.push({ at, message: `names two targets for ${name}: ${before.href} and ${url.href}` });
    seen.set(outcome, url);
  }
}

/** A URL has no `=` before its first colon, slash or question mark. */
const CONDITION = /^\s*([\p{L}_-]+)\s*=(.*)$/su;

function parseRoute(typed: string): Parsed<Route> {
  const [, condition, rest = ""] = CONDITION.exec(typed) ?? [];
  const target = parseForwardTarget(condition === undefined ? typed : rest);
  if (condition === undefined)
    return target.ok ? accepted({ outcome: undefined, url: target.value }) : target;
  const outcome = parseOutcome(condition);
  if (!outcome.ok) return unknownOutcome(outcome.instead, rest);
  return target.ok ? accepted({ outcome: outcome.value, url: target.value }) : target;
}

function unknownOutcome(near: string | undefined, target: string): Parsed<never> {
  const instead = near && `${near}=${target}`;
  return refused(`must have one of these before "=": ${OUTCOME_NAMES.join(", ")}`, instead);
}

/** Where nobody can answer, only `--yes` confirms: a script must not delete by accident. */
export function checkConfirmable(_: unknown, { problems }: Usage, { ask, yes }: Context): void {
  if (yes || ask() !== undefined) return;
  problems.push({
    at: "--yes",
    message: "is required to confirm the command, because paylink cannot ask here",
  });
}

/** Says that the user's answer was no; the command then ends with 0. */
export function saidNo({ out }: Pick<Context, "out">): number {
  out.note("Nothing was done.");
  return 0;
}

/** Asks, unless `--yes` has confirmed it before. */
export const isConfirmed = async ({ ask, yes }: Pick<Context, "ask" | "yes">, question: string) =>
  yes || (await ask()?.confirm(question, { initial: false })) === true;
