/** Why a target probably answers webhooks as it does, and what helps: one table by the failure, the code, the status and the words. */
import { type BrokerName, brokerOf } from "../receiver/brokers/addresses.ts";
import { parseJsonObject } from "../values/parse-json.ts";
import { durationWords } from "../values/time.ts";
import { fieldLines, isSuccess } from "../http/message.ts";
import type { SendFailure } from "../http/send-failure.ts";
import { type Forward, type ReplyText } from "../events/event.ts";
import type { History, StoredEvent } from "../events/history.ts";

/** How an attempt ended, as far as it tells why. */
export type Ending = Pick<Forward, "status" | "failure" | "reply" | "signatureAge"> &
  Partial<Pick<Forward, "target">>;

/** What a target answered. Only `check` has several answers, and both kinds. */
export interface Endings {
  /** To webhooks that it must accept. */
  readonly genuine: readonly Ending[];
  /** To webhooks that it must refuse. */
  readonly forged?: readonly Ending[];
}

export interface CauseContext {
  /** Where the public key is that verifies what is sent, if it is not that of the service. */
  readonly ownKey?: string | undefined;
  /** Whether the webhook is sent again by itself. */
  readonly comesAgain: boolean;
  /** The key is not why: it has verified another webhook, or the signature is forged. */
  readonly isRightKey?: boolean;
}

/** Of samples: where the key is that verifies what `--sign-with` or the sandbox's key has signed. */
export const samplesKey = (signWith: string | undefined): string =>
  signWith === undefined ? "paylink config get webhookKey -p sandbox" : `the public key of ${signWith}`;

/**
 * Genuine webhooks come first: as long as they are refused, the answers to forged ones only tell where it fails. Undefined where
 * nothing is known besides the answers, and where all are right.
 */
export function likelyCause(
  { genuine, forged = [] }: Endings,
  circumstances: CauseContext,
): string | undefined {
  const refused = genuine.filter(({ status }) => !isSuccess(status));
  if (refused.length > 0) {
    const difference = differenceOf(forged, refused);
    const [cause] = byFrequency(
      refused.map((ending) => causeOfOne(ending, circumstances, difference === "after")),
    );
    return difference === "reversed" ? REVERSED : (cause ?? causeBeside(difference, refused));
  }
  if (genuine.length > 0) return beliefIn(forged);
  const [cause] = byFrequency(
    forged.map((ending) => causeOfOne(ending, { ...circumstances, isRightKey: true })),
  );
  return cause;
}

/** Why the last attempt to forward an event was probably not accepted. */
export function lastCause({ delivery }: StoredEvent, { attempts }: History): string | undefined {
  const comesAgain = delivery !== null && (delivery.next !== null || delivery.comesAgain);
  return likelyCause({ genuine: attempts.slice(-1) }, { comesAgain });
}

/** The most frequent first; of equally frequent ones, the one that came first. */
function byFrequency<Value>(values: readonly Value[]): Value[] {
  const counts = new Map<Value, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].toSorted(([, one], [, other]) => other - one).map(([value]) => value);
}

const isMost = <Value>(values: readonly Value[], holds: (value: Value) => boolean): boolean =>
  values.filter(holds).length > values.length / 2;

const usualStatus = (answers: readonly Ending[]): number | null =>
  byFrequency(answers.map(({ status }) => status))[0] ?? null;

/** Where an application that refuses genuine webhooks does so, as its answers to forged ones tell; undefined where they tell nothing. */
function differenceOf(
  forged: readonly Ending[],
  refused: readonly Ending[],
): "before" | "after" | "reversed" | undefined {
  const usual = usualStatus(refused);
  if (forged.length === 0 || usual === null) return undefined;
  if (isMost(forged, ({ status }) => isSuccess(status))) return "reversed";
  if (isMost(forged, ({ status }) => status === usual)) return "before";
  // A verifier may answer 401 to another key, and otherwise to what is malformed.
  return usual === 401 ? undefined : "after";
}

/** Where the answers to genuine webhooks say nothing. */
function causeBeside(
  difference: ReturnType<typeof differenceOf>,
  refused: readonly Ending[],
): string | undefined {
  if (difference === undefined || difference === "reversed") return undefined;
  if ((usualStatus(refused) ?? 0) < 500)
    return difference === "before"
      ? "It refuses genuine and forged webhooks alike, so before it verifies them: its log says why."
      : "It refuses genuine webhooks with another answer than forged ones, so after it has verified them: its log says why.";
  return difference === "before"
    ? `It fails with genuine and forged webhooks alike, so before it has verified. The commonest reasons: ${PARSED_BODY}; or it has no key. Its log has the error.`
    : "It refuses forged webhooks and fails with genuine ones, so after it has verified, such as where it books: its log has the error.";
}

const REVERSED = "It accepts forged webhooks, and no genuine ones: is a condition the wrong way round?";

/** It refuses few of them, such as those with another method. */
function beliefIn(forged: readonly Ending[]): string | undefined {
  if (isMost(forged, ({ status }) => status === null))
    return "It answers genuine webhooks, and gives no answer to forged ones: an error that nothing catches there? Answer 401 to what does not verify.";
  const taken = forged.filter(({ status }) => isSuccess(status));
  if (taken.length <= forged.length / 2) return undefined;
  return isMost(taken, ({ reply }) => reply !== null && /<html|<!doctype html/i.test(reply.text))
    ? "It answers every webhook with a page, such as a login or the start page of a front end: this is not the path of a webhook endpoint."
    : "It accepts forged webhooks too: it does not verify, or it answers before it has verified.";
}

/** What an application refuses after it has verified is no answer of a parser, or of anything in front of it. */
function causeOfOne(ending: Ending, circumstances: CauseContext, hasVerified = false): string | undefined {
  const { status, failure, reply, signatureAge, target } = ending;
  const broker = target === undefined ? undefined : brokerOf(new URL(target));
  if (failure !== null)
    return broker === undefined
      ? FAILURE_CAUSES[failure]?.(circumstances, target)
      : BROKER_FAILURE_CAUSES[failure]?.(broker);
  if (status === null || reply === null || isSuccess(status)) return undefined;
  if (signatureAge !== undefined) return lateSignature(signatureAge);
  const known = CODE_CAUSES[refusalCodeIn(reply.text) ?? ""];
  if (known !== undefined) return known(circumstances);
  const row = ANSWERS.find(
    ({ statuses, words, header, isOfVerifier = false }) =>
      (!hasVerified || isOfVerifier) &&
      (statuses === undefined ||
        statuses.some((one) => (one < 10 ? Math.floor(status / 100) : status) === one)) &&
      (words === undefined || words.test(reply.text)) &&
      (header === undefined || fieldLines(reply.headers, header).length > 0),
  );
  return row?.cause(circumstances, reply);
}

/** Why it refuses, as a receiver that paylink knows says it: `{ "code": "unsigned" }`, `unsigned: …` or `unsigned`. */
function refusalCodeIn(text: string): string | undefined {
  const code = parseJsonObject(text)?.["code"];
  return typeof code === "string" ? code : /^([a-z]+(?:_[a-z]+)*)(?:: |\s*$)/.exec(text)?.[1];
}

/** Why an application that verifies probably refused a late attempt, and what helps. */
const lateSignature = (age: number): string =>
  `The signature of the service is ${durationWords(age)} old, and most verifiers refuse one that is older than 5 minutes. Sign with your own key at each attempt (--sign-with <file>), or let your verifier accept older signatures (its tolerance).`;

const MAY_BE_DONE = ({ comesAgain }: CauseContext): string =>
  comesAgain
    ? "Your application may have done the work, and the webhook is sent again: recognise repeats by the uti, the number of the payment"
    : "Your application may have done the work: check its log";

const UNKNOWN_HOST =
  "The host name is unknown here: check its spelling, and whether this machine can resolve it.";
const UNREACHABLE = "No connection to this address: check the address, and the firewalls on the way.";

const EXPIRED =
  "Its certificate has expired, or is not valid yet: renew it, or set the clock of this machine.";
const OTHER_NAME =
  "Its certificate is of another host: write that host in the address, or have it renewed for this one.";

type FailureCause = (circumstances: CauseContext, target: string | undefined) => string;

const FAILURE_CAUSES: Partial<Readonly<Record<SendFailure, FailureCause>>> = {
  refused: () => "Nothing listens at this port: start your application.",
  unknown_host: () => UNKNOWN_HOST,
  unreachable: () => UNREACHABLE,
  certificate: () =>
    "Its certificate is not trusted here: set NODE_EXTRA_CA_CERTS to the PEM file of the certificate, or of its authority; listen and events replay also take --insecure.",
  certificate_dates: () => EXPIRED,
  certificate_name: () => OTHER_NAME,
  no_tls: () => "It does not use TLS at this port: write http:// in its address.",
  tls: () => "The TLS handshake failed: the endpoint may be too old, or require a client certificate.",
  not_http: () => "The answer is not HTTP: if the endpoint uses TLS, write https:// in its address.",
  proxy: () =>
    "The proxy did not connect: name the host in NO_PROXY if no proxy is needed, or check HTTPS_PROXY.",
  timeout: (circumstances) => `${MAY_BE_DONE(circumstances)}. Answer first, and do slow work afterwards.`,
  closed: (circumstances, target = "") =>
    `${MAY_BE_DONE(circumstances)}.${target.startsWith("https:") ? "" : " If it uses TLS at this port, write https:// in its address."}`,
};

const MAY_HAVE_MESSAGE = (): string =>
  "The broker may have the message: if it gets it again, it has the same message id.";

const BROKER_FAILURE_CAUSES: Partial<Readonly<Record<SendFailure, (broker: BrokerName) => string>>> = {
  refused: () => "Nothing listens at this port: start the broker.",
  unknown_host: () => UNKNOWN_HOST,
  unreachable: () => UNREACHABLE,
  certificate: (broker) =>
    `Its certificate is not trusted here: set ${broker}_CA to the PEM file of the certificate, or of its authority.`,
  certificate_dates: () => EXPIRED,
  certificate_name: () => OTHER_NAME,
  timeout: MAY_HAVE_MESSAGE,
  closed: MAY_HAVE_MESSAGE,
};

interface AnswerRow {
  /** Statuses, or their first digit. */
  readonly statuses?: readonly number[];
  readonly words?: RegExp;
  /** A header field that the answer has. */
  readonly header?: string;
  /** It is the verification that answers so, neither a parser nor anything in front of it. */
  readonly isOfVerifier?: true;
  readonly cause: (circumstances: CauseContext, reply: ReplyText) => string | undefined;
}

const keyCause = ({ ownKey, isRightKey }: CauseContext): string | undefined =>
  isRightKey === true
    ? undefined
    : `It refuses the signature: its key is another one, or something on the way changes the body or a signed field such as Content-Type (its log may say which). Does it verify with this key? ${ownKey ?? "paylink config get webhookKey"}`;
const PARSED_BODY =
  "the body is parsed before the webhook's route, such as by express.json(), so that its bytes are gone";
const PARSER_CAUSE = (): string =>
  "Its parser, or a check of its fields, fails on the body: make it accept application/json, and keep the raw bytes for the verification.";
const LOGIN_CAUSE = (): string =>
  "It asks for a login, which a webhook does not have: allow this path without a login.";
const PATH_CAUSE = (): string => "It serves nothing at this path: is this the path of its webhook endpoint?";

const METHOD_CAUSE = (): string =>
  "It accepts no POST at this path: is this the path of its webhook endpoint?";
const SIZE_CAUSE = (): string => "Its limit for the size of a body is too small: allow 64 KiB.";
const UNUSABLE_KEY = (): string =>
  "It has no key that it can use: give it the public key of the service. Its log says what is wrong.";

/** By the code of the answer. What the listener and the library refuse otherwise is `not_verified`. */
const CODE_CAUSES: Readonly<Record<string, (circumstances: CauseContext) => string | undefined>> = {
  not_verified: keyCause,
  unsigned: () =>
    "It gets no signature: something in front of it removes the fields Signature and Signature-Input.",
  body_parsed: () =>
    `In it, ${PARSED_BODY}: let the route come first, and verify the raw bytes (paylink help webhooks).`,
  key_missing: UNUSABLE_KEY,
  key_invalid: UNUSABLE_KEY,
  file_unreadable: UNUSABLE_KEY,
  not_reached: () => "It cannot fetch its key now: its log says why.",
  internal_error: () => "It fails by itself, which says nothing about the webhook: its log says why.",
  not_stored: () => "It cannot store webhooks now: its log says why.",
  not_found: PATH_CAUSE,
  method_not_allowed: METHOD_CAUSE,
  unsupported_media_type: PARSER_CAUSE,
  body_too_large: SIZE_CAUSE,
};

/** The first row that matches counts: words say more than a status. */
const ANSWERS: readonly AnswerRow[] = [
  {
    statuses: [304],
    cause: () => "A cache in front of your application answers for it: make an exception for this path.",
  },
  { statuses: [3], cause: redirected },
  {
    words:
      /plain HTTP request was sent to HTTPS port|HTTP request to an HTTPS server|plain HTTP to an SSL|requires TLS/i,
    cause: () => "It uses TLS at this port: write https:// in its address.",
  },
  {
    statuses: [4],
    words: /csrf|xsrf|authenticity ?token|requestverificationtoken|anti-?forgery/i,
    cause: csrf,
  },
  { statuses: [419], cause: csrf },
  {
    statuses: [400, 403, 421],
    words:
      /disallowedhost|http_host|blocked (?:host|request)|host (?:header|name)?[^.]{0,60}not (?:allowed|valid|permitted)|invalid host/i,
    cause: wrongHost,
  },
  { statuses: [421], cause: wrongHost },
  // A gateway of AWS has no such path or method.
  { statuses: [403], words: /missing authentication token/i, cause: PATH_CAUSE },
  {
    statuses: [404, 500],
    words: /append_slash/i,
    cause: () => "Its path ends in a slash: write it in the address.",
  },
  {
    statuses: [403, 406, 429, 503],
    words:
      /cloudflare|just a moment|attention required|captcha|mod_?security|incapsula|akamai|web application firewall/i,
    cause: () => "A firewall in front of your application refuses it: make an exception for this path.",
  },
  {
    words: /ERR_NGROK_|tunnel (?:not found|unavailable)|no tunnel here/i,
    cause: () =>
      "The tunnel reaches no running application: start the application, or start the tunnel again.",
  },
  {
    statuses: [400, 415, 422, 500],
    words:
      /unexpected (?:token|end|character|non-whitespace)|json\.? ?(?:parse|decode)|pars(?:e|ing) (?:error|failed)|(?:invalid|malformed|not valid) json|json (?:is )?invalid|httpmessagenotreadable|entity\.parse|body ?parser|unsupported media|unsupported content|body (?:is )?(?:unusable|already|stream)|stream is not readable|raw ?body|string or a buffer|validation (?:errors?|failed)|field required|should not exist/i,
    cause: PARSER_CAUSE,
  },
  {
    statuses: [400, 401, 403, 422, 500],
    words: /signature|content-digest|invalid key|unknown key|keyid/i,
    isOfVerifier: true,
    cause: keyCause,
  },
  { statuses: [401, 403], header: "www-authenticate", cause: LOGIN_CAUSE },
  {
    statuses: [401, 403],
    words:
      /log ?in|sign ?in|unauthenticated|authentication (?:required|credentials)|bearer|api[ -]?key|session|permission to get url/i,
    cause: LOGIN_CAUSE,
  },
  { statuses: [401], cause: keyCause },
  {
    statuses: [403],
    cause: (circumstances) => {
      const [before, otherwise] = [
        "Something in front of your handler may refuse it, such as CSRF protection or a login: make an exception for this path.",
        keyCause(circumstances),
      ];
      return otherwise === undefined ? before : `${before} Otherwise: ${otherwise}`;
    },
  },
  { statuses: [404, 410], cause: PATH_CAUSE },
  { statuses: [405, 501], cause: METHOD_CAUSE },
  { statuses: [413], cause: SIZE_CAUSE },
  { statuses: [415], cause: PARSER_CAUSE },
  { statuses: [429], cause: () => "It limits how often it is called: make an exception for this path." },
  {
    // Those from 520 are Cloudflare's.
    statuses: [502, 503, 520, 521, 522, 523, 525, 526, 530],
    cause: () =>
      "The proxy in front of your application cannot reach it: is your application running and ready?",
  },
  { statuses: [504, 524], cause: (circumstances) => `${MAY_BE_DONE(circumstances)}.` },
];

function redirected(_: CauseContext, { headers }: ReplyText): string {
  const [to = ""] = fieldLines(headers, "location");
  if (to === "") return "It redirects without a Location: is this the path of its webhook endpoint?";
  if (/\/(?:log[-_]?in|sign[-_]?in|auth|sso)\b/i.test(to))
    return `It redirects to ${to}, which looks like a login: allow this path without a login.`;
  return `It redirects to ${to}, and paylink does not follow redirects: use that address if it is the webhook endpoint.`;
}

function csrf(): string {
  return "Its CSRF protection refuses it: make an exception for this path, which the signature protects.";
}

function wrongHost(): string {
  return 'It does not accept this Host: allow the host in its settings, or send one that it accepts (-H "Host: …").';
}
