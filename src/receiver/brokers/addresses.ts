/** Brokers as targets of webhooks: their addresses, and the variables that say how paylink logs in. No flag takes a secret. */
import { decodedPart } from "../../values/url-passwords.ts";
import { accepted, refused, type Parsed } from "../../values/parse-result.ts";

/** Also the beginning of the names of its variables. */
export type BrokerName = "NATS" | "AMQP";

interface BrokerKind {
  readonly id: BrokerName;
  /** The rest of its address, as the user writes it. */
  readonly form: string;
  /** How it is called in messages. */
  readonly name: string;
  /** The port without one in the address. */
  readonly port: number;
  /** The variables to log in with, in place of what must not be in the address. */
  readonly login: string;
  /** What is wrong with an address of this kind. */
  readonly problem: (url: URL) => string | undefined;
}

const NATS = {
  id: "NATS",
  form: "host:4222/subject",
  name: "NATS JetStream",
  port: 4222,
  login: "NATS_USER and NATS_PASSWORD, NATS_TOKEN, NATS_CREDS or NATS_NKEY",
  problem: (url) => {
    if (url.search !== "") return "must have no parameters";
    return isSubject(natsSubject(url))
      ? undefined
      : "must name one subject of a stream, without wildcards, such as nats://localhost:4222/payments";
  },
} satisfies Partial<BrokerKind>;

const AMQP = {
  id: "AMQP",
  form: "host/exchange?key=routing.key",
  name: "RabbitMQ",
  login: "AMQP_USER and AMQP_PASSWORD, or AMQP_PASSWORD_FILE",
  problem: (url) => {
    const { exchange, key } = amqpRoute(url);
    const unknown = [...url.searchParams.keys()].find((name) => name !== "key" && name !== "vhost");
    if (unknown !== undefined)
      return `has the unknown parameter ${unknown}; the parameters are key and vhost`;
    if (exchange === undefined || exchange.includes("/"))
      return "must name one exchange; a virtual host is given as ?vhost=";
    return exchange === "" && key === ""
      ? "must name an exchange, or ?key= with the name of a queue for the default exchange"
      : undefined;
  },
} satisfies Partial<BrokerKind>;

/** By the scheme of the address. */
const BROKER_KINDS: Readonly<Record<string, BrokerKind>> = {
  "nats:": NATS,
  "tls:": NATS,
  "amqp:": { ...AMQP, port: 5672 },
  "amqps:": { ...AMQP, port: 5671 },
};

export const BROKER_SCHEMES: Readonly<Record<string, BrokerName>> = Object.fromEntries(
  Object.entries(BROKER_KINDS).map(([scheme, { id }]) => [scheme, id]),
);

/** How an address of each broker is written, by the first of its schemes. */
export const BROKER_FORMS = Object.entries(BROKER_KINDS)
  .filter(([, { id }], index, all) => all.findIndex(([, other]) => other.id === id) === index)
  .map(([scheme, { form }]) => `${scheme}//${form}`);

/** Undefined for an application. */
export const brokerOf = ({ protocol }: Pick<URL, "protocol">): BrokerName | undefined =>
  Object.hasOwn(BROKER_KINDS, protocol) ? BROKER_KINDS[protocol]?.id : undefined;

export const isBroker = (url: Pick<URL, "protocol">): boolean => brokerOf(url) !== undefined;

/** Whether a text is meant as the address of a broker. */
export const namesBroker = (text: string): boolean =>
  Object.keys(BROKER_KINDS).some((scheme) => text.toLowerCase().startsWith(`${scheme}//`));

export function parseBroker(text: string): Parsed<URL> {
  const url = URL.canParse(text) && !/[\s\p{Cc}]/u.test(text) ? new URL(text) : undefined;
  const kind = url && BROKER_KINDS[url.protocol];
  if (url === undefined || kind === undefined || url.hostname === "" || url.port === "0" || url.hash !== "")
    return refused(`must be ${BROKER_FORMS.join(" or ")}`);
  // A token of NATS stands where others have a user.
  if (url.username !== "" || url.password !== "")
    return refused(`must not have a user, a password or a token: use ${kind.login}`);
  const problem = kind.problem(url);
  return problem === undefined ? accepted(url) : refused(problem);
}

/** Where the server of a broker is; the brackets of an IPv6 address are not part of its host. */
export const brokerServer = (url: URL): { readonly hostname: string; readonly port: number } => ({
  hostname: url.hostname.replace(/^\[(.*)\]$/, "$1"),
  port: Number(url.port || BROKER_KINDS[url.protocol]?.port),
});

/** Empty if it is missing, or cannot be read. */
export const natsSubject = ({ pathname }: URL): string => decodedPart(pathname.slice(1)) ?? "";

/** Subjects that begin with `$` are NATS' own, and stored nowhere. */
const isSubject = (subject: string): boolean => /^(?!\$)[^\s.*>/]+(?:\.[^\s.*>/]+)*$/.test(subject);

/** The exchange is undefined if it cannot be read. */
export const amqpRoute = ({ pathname, searchParams }: URL) => ({
  exchange: decodedPart(pathname.slice(1)),
  key: searchParams.get("key") ?? "",
  vhost: searchParams.get("vhost") ?? "/",
});

interface BrokerVariableMeaning {
  readonly means: string;
  /** Its value is never printed. */
  readonly isSecret: boolean;
}

const publicVariable = (means: string): BrokerVariableMeaning => ({ means, isSecret: false });
const secretVariable = (means: string): BrokerVariableMeaning => ({ means, isSecret: true });

/** Each broker's variables. That each is declared as a secret or not is a part of its entry. */
const VARIABLE_MEANINGS = {
  NATS_USER: publicVariable("the user name at NATS"),
  NATS_PASSWORD: secretVariable("the password of NATS_USER"),
  NATS_TOKEN: secretVariable("the token at NATS, instead of a user"),
  NATS_CREDS: publicVariable("the file with the credentials of a NATS user"),
  NATS_NKEY: publicVariable("the file with the seed of a NATS user"),
  NATS_CA: publicVariable(
    "a file with the CA certificates that verify the server certificate of NATS; requires TLS",
  ),
  NATS_CERT: publicVariable("the file with paylink's client certificate for NATS; requires TLS"),
  NATS_KEY: publicVariable("the file with its private key"),
  AMQP_USER: publicVariable("the user name at RabbitMQ (default: guest)"),
  AMQP_PASSWORD: secretVariable("the password of AMQP_USER"),
  AMQP_PASSWORD_FILE: publicVariable("a file with the password of AMQP_USER"),
  AMQP_CA: publicVariable("a file with the CA certificates that verify the server certificate of RabbitMQ"),
  AMQP_CERT: publicVariable(
    "the file with paylink's client certificate for RabbitMQ; without AMQP_USER, paylink logs in with it",
  ),
  AMQP_KEY: publicVariable("the file with its private key"),
} as const satisfies Readonly<Record<`${BrokerName}_${string}`, BrokerVariableMeaning>>;

export type BrokerVariable = keyof typeof VARIABLE_MEANINGS;

/** The variables of all brokers, with what each means. */
export const BROKER_VARIABLES: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(VARIABLE_MEANINGS).map(([name, { means }]) => [name, means]),
);

/** Those that hold a secret. */
export const SECRET_BROKER_VARIABLES: readonly string[] = Object.entries(VARIABLE_MEANINGS).flatMap(
  ([name, { isSecret }]) => (isSecret ? [name] : []),
);
