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
} from "@nats-io/transport-node";
import { brokerServer, natsSubject } from "../../domain/brokers.ts";
import { memberAt } from "../../domain/json.ts";
import { parseJsonObject } from "../../domain/parse-json.ts";
import type { Connector, Login } from "./broker.ts";

/** Milliseconds between the signs of life of a connection: one that misses two is ended. */
const PING_INTERVAL = 5_000;

export const nats: Connector = async (url, login) => {
  await loginOf(login);
  /** The other servers of the cluster, as they tell it: one of them takes over. */
  let others: readonly string[] = [];
  return async () => {
    const { hostname, port } = brokerServer(url);
    const { authenticator, files } = await loginOf(login);
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
    others = connection.info?.connect_urls ?? others;
    const subject = natsSubject(url);
    return {
      ended: connection.closed(),
      check: () => connection.flush(),
      close: () => connection.close(),
      publish: async (message, timeout) => {
        const fields = headers();
        for (const [name, value] of message.headers) fields.append(name, value);
        fields.set("Nats-Msg-Id", message.id);
        const options = { headers: fields, timeout };
        const reply = await connection.request(subject, message.body, options).catch((error: unknown) => {
          const hasNoStream = error instanceof errors.RequestError && error.isNoResponders();
          throw hasNoStream ? new Error(`no stream takes the subject ${subject}`) : error;
        });
        checkAcknowledged(reply.string());
      },
    };
  };
};

/** Throws unless a stream says that it has the message, now or from an earlier delivery. */
function checkAcknowledged(text: string): void {
  const reply = parseJsonObject(text);
  const [error, stream] = [memberAt(reply, "error.description"), memberAt(reply, "stream")];
  if (typeof error === "string") throw new Error(`the stream refused it: ${error}`);
  if (typeof stream !== "string" || stream === "") throw new Error("what answered is not a stream");
}

async function loginOf(login: Login) {
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
