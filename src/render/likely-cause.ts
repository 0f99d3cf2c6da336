/** Why a target probably does not accept a webhook, and what helps: one table by the failure, the status and the words of the answer. */
import { fieldLines, isSuccess } from "../http/message.ts";
import type { SendFailure } from "../http/send-failure.ts";
import { type Forward, type ReplyText } from "../receiver/event.ts";
import { ageWords } from "./stats.ts";

/** How an attempt ended, as far as it tells why. */
export type Ending = Pick<Forward, "status" | "failure" | "reply" | "signatureAge">;

export interface Circumstances {
  /** The public key that verifies what is sent, if it is not that of the service. */
  readonly ownKey?: string | undefined;
  /** Whether the webhook is sent again by itself. */
  readonly comesAgain: boolean;
}

/** Undefined where nothing is known besides the answer, and for a webhook that is accepted. */
export function likelyCause(ending: Ending, circumstances: Circumstances): string | undefined {
  const { status, failure, reply, signatureAge } = ending;
  if (failure !== null) return FAILURE_CAUSES[failure]?.(circumstances);
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

const MAY_BE_DONE = ({ comesAgain }: Circumstances): string =>
  comesAgain
    ? "The work may be done, and the webhook comes again: let your application recognise repeats by the uti"
    : "The work may be done: look into the log of your application";

const FAILURE_CAUSES: Partial<Readonly<Record<SendFailure, (circumstances: Circumstances) => string>>> = {
  refused: () => "Nothing listens at this port: start your application.",
  unknown_host: () =>
    "The host name is unknown here: check its spelling, and whether this machine can resolve it.",
  unreachable: () => "No connection to this address: check the address, and the firewalls on the way.",
  certificate: () =>
    "Its certificate is not trusted here: set NODE_EXTRA_CA_CERTS to the PEM file of the certificate, or of its authority.",
  no_tls: () => "It does not use TLS at this port: write http:// in its address.",
  tls: () => "It and paylink do not agree on TLS: it may be too old, or want a client certificate.",
  not_http: () => "What answers there is not HTTP: if it uses TLS, write https:// in its address.",
  proxy: () =>
    "The proxy did not connect: name the host in NO_PROXY if no proxy is needed, or check HTTPS_PROXY.",
  timeout: (circumstances) => `${MAY_BE_DONE(circumstances)}, and answer before it does what takes long.`,
  closed: (circumstances) =>
    `${MAY_BE_DONE(circumstances)}. If it uses TLS at this port, write https:// in its address.`,
};

interface AnswerRow {
  /** Statuses, or their first digit. */
  readonly statuses?: readonly number[];
  readonly words?: RegExp;
  /** A header field that the answer has. */
  readonly header?: string;
  readonly cause: (circumstances: Circumstances, reply: ReplyText) => string;
}

const KEY_CAUSE = ({ ownKey }: Circumstances): string =>
  `It refuses the signature: does it have this key? ${ownKey ?? "paylink config get webhookKey"}`;
const PARSER_CAUSE = (): string =>
  "Its parser fails at the body: let it take application/json, and keep the raw bytes where it verifies.";
const LOGIN_CAUSE = (): string =>
  "It asks for a login, which a webhook has not: let it answer this path without one.";
const PATH_CAUSE = (): string =>
  "It has nothing at this path: does the address name the path of its webhooks?";

/** The first row that matches counts: words say more than a status. */
const ANSWERS: readonly AnswerRow[] = [
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
    cause: () => "A firewall before your application refuses it: make an exception for this path.",
  },
  {
    words: /ERR_NGROK_|tunnel (?:not found|unavailable)|no tunnel here/i,
    cause: () => "The tunnel leads to no running application: start it, or the tunnel again.",
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
    cause: (circumstances) =>
      `Protection before your handler may refuse it, such as CSRF or a login: make an exception for this path. If not: ${KEY_CAUSE(circumstances)}`,
  },
  { statuses: [404, 410], cause: PATH_CAUSE },
  {
    statuses: [405, 501],
    cause: () => "It takes no POST at this path: does the address name the path of its webhooks?",
  },
  { statuses: [413], cause: () => "Its limit for the size of a body is too small: allow 64 KiB." },
  { statuses: [415], cause: PARSER_CAUSE },
  { statuses: [429], cause: () => "It limits how often it is called: make an exception for this path." },
  {
    statuses: [502, 503],
    cause: () => "The server before your application does not reach it, or it is not ready: is it running?",
  },
  { statuses: [504], cause: (circumstances) => `${MAY_BE_DONE(circumstances)}.` },
];

function redirected(_: Circumstances, { headers }: ReplyText): string {
  const [to = ""] = fieldLines(headers, "location");
  if (to === "") return "It redirects, without saying where: does the address name the path of its webhooks?";
  if (/\/(?:log[-_]?in|sign[-_]?in|auth|sso)\b/i.test(to))
    return `It redirects to ${to}, which looks like a login: let it answer this path without one.`;
  return `It redirects to ${to}, and paylink does not follow: write that address, if it is the one for webhooks.`;
}

function csrf(): string {
  return "Its protection against CSRF refuses it: make an exception for this path, since the signature protects it.";
}

function wrongHost(): string {
  return 'It does not know the host that it is called by: allow it there, or send the one that it knows (-H "Host: …").';
}
