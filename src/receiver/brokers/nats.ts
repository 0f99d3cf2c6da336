/** NATS JetStream: publishes as a request, which the stream that stores the message acknowledges. */
import {
  type Authenticator,
  connect,
  credsAuthenticator,
  headers,
  nkeyAuthenticator,
  tokenAuthenticator,
  usernamePasswordAuthenticator,
  errors,
  type NatsConnection,
  NatsConnectionImpl,
} from "@nats-io/transport-node";
import { brokerServer, natsSubject } from "./addresses.ts";
import { type Json, memberAt, plainJson } from "../../values/json.ts";
import { parseJsonObject } from "../../values/parse-json.ts";
import { CannotKeep, type Connector, type BrokerLogin, LONGEST_REPLY, MessageRefused } from "./broker.ts";

/** Milliseconds between the signs of life of a connection: one that misses two is ended. */
const PING_INTERVAL = 5_000;

export const nats: Connector = async (url, login) => {
  await natsLogin(login);
  /** The other servers of the cluster, as they tell it: one of them takes over. */
  let others: readonly string[] = [];
  return async () => {
    const { hostname, port } = brokerServer(url);
    const { authenticator, files } = await natsLogin(login);
    const connection = await connect({
      servers: [hostname.includes(":") ? `[${hostname}]:${port}` : `${hostname}:${port}`, ...others],
      noRandomize: true,
      // A request under way would wait for its whole time. The next message connects again.
      reconnect: false,
      name: "paylink",
      timeout: login.timeout,
      pingInterval: PING_INTERVAL,
      authenticator,
      // Without this, a server that requires TLS gets it all the same.
      ...(url.protocol === "tls:" || Object.keys(files).length > 0
        ? { tls: { ...files, rejectUnauthorized: !login.insecure } }
        : {}),
    });
    limitReplies(connection);
    others = connection.info?.connect_urls ?? others;
    const subject = natsSubject(url);
    return {
      ended: connection.closed(),
      check: async () => {
        await connection.flush();
        return checkStream(subject, (what, body = {}) =>
          connection.request(`$JS.API.STREAM.${what}`, JSON.stringify(body), { timeout: API_TIMEOUT }),
        );
      },
      close: () => connection.close(),
      publish: async (message, timeout) => {
        const fields = headers();
        for (const [name, value] of message.headers) fields.append(name, value);
        fields.set("Nats-Msg-Id", message.id);
        const options = { headers: fields, timeout };
        const reply = await connection.request(subject, message.body, options).catch((error: unknown) => {
          const hasNoStream = error instanceof errors.RequestError && error.isNoResponders();
          throw hasNoStream ? new MessageRefused(`no stream takes the subject ${subject}`) : error;
        });
        checkAcknowledged(reply.string());
      },
    };
  };
};

/** Ends the connection of a server that begins a longer message or line: the client would keep whatever it sends in memory. */
function limitReplies(connection: NatsConnection): void {
  if (!(connection instanceof NatsConnectionImpl)) return;
  const { parser } = connection.protocol;
  const parse = parser.parse.bind(parser);
  parser.parse = (bytes) => {
    parse(bytes);
    if (isTooLong(parser)) void connection.close();
  };
}

interface BegunReply {
  /** What the last message announced; undefined before the first one. */
  readonly ma?: { readonly size: number } | undefined;
  /** A line that has not ended. */
  readonly argBuf?: { readonly length: number } | undefined;
}

const isTooLong = ({ ma: message, argBuf: line }: BegunReply): boolean =>
  Math.max(message?.size ?? 0, line?.length ?? 0) > LONGEST_REPLY;

/** Milliseconds for an answer of JetStream's own interface. */
const API_TIMEOUT = 1_000;

type AskStreams = (what: string, body?: object) => Promise<{ readonly string: () => string }>;

/** Whether the stream of a subject keeps what it confirms (ADR-8 and ADR-31 of NATS' architecture describe these settings). */
async function checkStream(subject: string, ask: AskStreams): Promise<readonly string[]> {
  const named = await ask("NAMES", { subject }).catch((error: unknown) => {
    // Without the right to ask, each message still says whether it is kept.
    const cause = error instanceof Error ? (error.cause ?? error) : error;
    if (cause instanceof errors.TimeoutError || cause instanceof errors.PermissionViolationError)
      return undefined;
    if (error instanceof errors.RequestError && error.isNoResponders())
      throw new CannotKeep("the server has no JetStream");
    throw error;
  });
  if (named === undefined) return [`this login may not ask how the stream of ${subject} keeps messages`];
  const names = memberAt(parseJsonObject(named.string()), "streams");
  const name = Array.isArray(names) ? names[0] : undefined;
  if (typeof name !== "string") throw new CannotKeep(`no stream takes the subject ${subject}`);
  const stream = parseJsonObject((await ask(`INFO.${name}`)).string());
  const of = (member: string): Json | undefined => memberAt(stream, member);
  const numberOf = (member: string): number => Number(plainJson(of(member) ?? "0"));
  const isAbove = (member: string): boolean => numberOf(member) > 0;
  for (const [isSo, problem] of [
    [of("config.no_ack") === true, "confirms nothing (no_ack)"],
    [of("config.sealed") === true, "is sealed, and takes no messages"],
    [
      of("config.retention") !== "limits" && !isAbove("state.consumer_count"),
      `has retention ${JSON.stringify(of("config.retention"))} and no consumer, so it may keep nothing: create the consumer first`,
    ],
    [
      of("config.discard") !== "new" && ["max_msgs", "max_bytes"].some((limit) => isAbove(`config.${limit}`)),
      "forgets its oldest messages when it is full: create it with discard new",
    ],
    [
      isAbove("config.max_msgs_per_subject") && of("config.discard_new_per_subject") !== true,
      "forgets the oldest messages of the subject (max_msgs_per_subject): set discard_new_per_subject",
    ],
  ] as const)
    if (isSo) throw new CannotKeep(`its stream ${name} ${problem}`);
  return [
    ...(numberOf("config.num_replicas") === 1
      ? [
          `its stream ${name} has one replica: a power failure can lose what it acknowledged, unless the server has sync_interval: always`,
        ]
      : []),
    ...(of("config.storage") === "memory"
      ? [`its stream ${name} is kept in memory: a restart loses what it acknowledged`]
      : []),
  ];
}

/** Throws unless a stream says that it has the message, now or from an earlier delivery. */
function checkAcknowledged(text: string): void {
  const reply = parseJsonObject(text);
  const [error, stream] = [memberAt(reply, "error.description"), memberAt(reply, "stream")];
  if (typeof error === "string") throw new MessageRefused(`the stream refused it: ${error}`);
  if (typeof stream !== "string" || stream === "") throw new Error("what answered is not a stream");
}

async function natsLogin(login: BrokerLogin) {
  const { value, file } = login;
  const [creds, nkey] = [await file("NATS_CREDS"), await file("NATS_NKEY")];
  const [user, password, token] = [value("NATS_USER"), value("NATS_PASSWORD"), value("NATS_TOKEN")];
  const authenticator: Authenticator[] = [
    ...(creds === undefined ? [] : [credsAuthenticator(Buffer.from(creds))]),
    ...(nkey === undefined ? [] : [nkeyAuthenticator(Buffer.from(nkey.trim()))]),
    ...(token === undefined ? [] : [tokenAuthenticator(token)]),
    ...(user === undefined ? [] : [usernamePasswordAuthenticator(user, password)]),
  ];
  return { authenticator, files: await login.tlsFiles("NATS") };
}
