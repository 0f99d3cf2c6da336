/** Why a target probably does not accept a webhook, and what helps: one table by the failure, the status and the words of the answer. */
import { type BrokerName, brokerOf } from "../domain/brokers.ts";
import { fieldLines, isSuccess } from "../http/message.ts";
import type { SendFailure } from "../http/send-failure.ts";
import { type Forward, type ReplyText } from "../events/event.ts";
import { ageWords } from "./stats.ts";

/** How an attempt ended, as far as it tells why. */
export type Ending = Pick<Forward, "status" | "failure" | "reply" | "signatureAge"> &
  Partial<Pick<Forward, "target">>;

export interface CauseContext {
  /** The public key that verifies what is sent, if it is not that of the service. */
  readonly ownKey?: string | undefined;
  /** Whether the webhook is sent again by itself. */
  readonly comesAgain: boolean;
  /** Whether it was tampered with: a refusal of its signature is then what must happen. */
  readonly isTampered?: boolean;
}

/** Undefined where nothing is known besides the answer, and for a webhook that is accepted. */
export function likelyCause(ending: Ending, circumstances: CauseContext): string | undefined {
  const { status, failure, reply, signatureAge, target } = ending;
  const broker = target === undefined ? undefined : brokerOf(new URL(target));
  if (failure !== null)
    return broker === undefined
      ? FAILURE_CAUSES[failure]?.(circumstances, target)
      : BROKER_FAILURE_CAUSES[failure]?.(broker);
  if (status === null || reply === null || isSuccess(status)) return undefined;
  if (signatureAge !== undefined) return lateSignature(signatureAge);
  const row = ANSWERS.find(
    ({ statuses, words, header }) =>
      (statuses === undefined ||
        statuses.some((one) => (one < 10 ? Math.floor(status / 100) : status) === one)) &&
      (words === undefined || words.test(reply.text)) &&
      (header === undefined || fieldLines(reply.headers, header).length > 0),
  );
  return row?.cause(circumstances, reply);
}

/** Why an application that verifies probably refused a late attempt, and what helps. */
const lateSignature = (age: number): string =>
  `The signature of the service is ${ageWords(age)} old, and most verifiers refuse one that is older than 5 minutes. Sign with your own key at each attempt (--sign-with <file>), or let your verifier accept older signatures (its tolerance).`;

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
    "Its certificate is not trusted here: set NODE_EXTRA_CA_CERTS to the PEM file of the certificate, or of its authority.",
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
  readonly cause: (circumstances: CauseContext, reply: ReplyText) => string | undefined;
}

const KEY_CAUSE = ({ ownKey, isTampered }: CauseContext): string | undefined =>
  isTampered === true
    ? undefined
    : `It refuses the signature: does it verify with this key? ${ownKey ?? "paylink config get webhookKey"}`;
const PARSER_CAUSE = (): string =>
  "Its parser fails on the body: make it accept application/json, and keep the raw bytes for the verification.";
const LOGIN_CAUSE = (): string =>
  "It asks for a login, which a webhook does not have: allow this path without a login.";
const PATH_CAUSE = (): string => "It serves nothing at this path: is this the path of its webhook endpoint?";

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
      /unexpected (?:token|end|character|non-whitespace)|json\.? ?(?:parse|decode)|pars(?:e|ing) (?:error|failed)|(?:invalid|malformed|not valid) json|json (?:is )?invalid|httpmessagenotreadable|entity\.parse|body ?parser|unsupported media|unsupported content|body (?:is )?(?:unusable|already|stream)|stream is not readable|raw ?body|string or a buffer/i,
    cause: PARSER_CAUSE,
  },
  {
    statuses: [400, 401, 403, 422, 500],
    words: /signature|content-digest|invalid key|unknown key|keyid/i,
    cause: KEY_CAUSE,
  },
  { statuses: [401, 403], header: "www-authenticate", cause: LOGIN_CAUSE },
  {
    statuses: [401, 403],
    words:
      /log ?in|sign ?in|unauthenticated|authentication (?:required|credentials)|bearer|api[ -]?key|session/i,
    cause: LOGIN_CAUSE,
  },
  { statuses: [401], cause: KEY_CAUSE },
  {
    statuses: [403],
    cause: (circumstances) => {
      const [before, otherwise] = [
        "Something in front of your handler may refuse it, such as CSRF protection or a login: make an exception for this path.",
        KEY_CAUSE(circumstances),
      ];
      return otherwise === undefined ? before : `${before} Otherwise: ${otherwise}`;
    },
  },
  { statuses: [404, 410], cause: PATH_CAUSE },
  {
    statuses: [405, 501],
    cause: () => "It accepts no POST at this path: is this the path of its webhook endpoint?",
  },
  { statuses: [413], cause: () => "Its limit for the size of a body is too small: allow 64 KiB." },
  { statuses: [415], cause: PARSER_CAUSE },
  { statuses: [429], cause: () => "It limits how often it is called: make an exception for this path." },
  {
    statuses: [503],
    words: /"code": ?"not_stored"/,
    cause: () => "This listener cannot store webhooks now: its log says why.",
  },
  {
    statuses: [502, 503],
    cause: () =>
      "The proxy in front of your application cannot reach it: is your application running and ready?",
  },
  { statuses: [504], cause: (circumstances) => `${MAY_BE_DONE(circumstances)}.` },
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
