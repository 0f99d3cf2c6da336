/** RabbitMQ: publishes with confirms, and takes a message that no queue is bound for as refused. */
import { type ChannelModel, connect, type Connection, credentials } from "amqplib";
import { amqpRoute, brokerServer } from "./addresses.ts";
import { CannotKeep, type Connector, type BrokerLogin, LONGEST_REPLY, MessageRefused } from "./broker.ts";

/** Seconds between the signs of life of a connection: one that misses two is ended. */
const HEARTBEAT = 5;

export const amqp: Connector = async (url, login) => {
  await amqpLogin(login);
  return async () => {
    const { exchange = "", key, vhost } = amqpRoute(url);
    const { hostname, port } = brokerServer(url);
    const protocol = url.protocol.slice(0, -1);
    const model = await connect(
      { protocol, hostname, port, vhost, heartbeat: HEARTBEAT },
      {
        ...(await amqpLogin(login)),
        rejectUnauthorized: !login.insecure,
        timeout: login.timeout,
        noDelay: true,
        clientProperties: { connection_name: "paylink" },
      },
    );
    limitContent(model.connection);
    // The event "close" follows; without a listener, this one would end the process.
    model.on("error", () => undefined);
    const ended = new Promise((resolve) => model.once("close", resolve));
    let blocked: string | undefined;
    model.on("blocked", (reason: string) => (blocked = reason));
    model.on("unblocked", () => (blocked = undefined));
    const close = (): Promise<void> => model.close().catch(() => undefined);
    const open = async () => {
      const channel = await model.createConfirmChannel();
      let refused: Error | undefined;
      channel.on("error", (error: Error) => (refused = error));
      // A broker closes the channel when the exchange is gone or forbidden: the next message needs a new one.
      channel.on("close", () => void close());
      return { channel, refusal: () => refused };
    };
    const { channel, refusal } = await checkRoute(model, exchange, key)
      .then(open)
      .catch(async (error: unknown) => {
        await close();
        throw error;
      });
    const underWay = new MessagesUnderWay();
    channel.on("return", ({ properties: { messageId } }) => underWay.cameBack(messageId));
    const checkBlocked = async (): Promise<void> => {
      if (blocked !== undefined) throw new MessageRefused(`the broker takes no messages now: ${blocked}`);
    };
    return {
      ended,
      close,
      check: async () => {
        await checkBlocked();
        await checkRoute(model, exchange, key);
        return [];
      },
      publish: async ({ id, headers, body }) => {
        await checkBlocked();
        const options = {
          persistent: true,
          mandatory: true,
          messageId: id,
          contentType: headers.get("content-type") ?? "application/json",
          // RabbitMQ's plugin for deduplication reads this one.
          headers: { ...Object.fromEntries(headers), "x-deduplication-header": id },
        };
        underWay.sent(id);
        await new Promise<void>((resolve, reject) => {
          channel.publish(exchange, key, body, options, (error: unknown) => {
            if (underWay.confirmed(id)) reject(new MessageRefused(`no queue is bound to ${url.href}`));
            else if (error === null || error === undefined) resolve();
            else
              reject(
                refusal() ?? new Error("the broker refused it: a queue is full, or the connection was lost"),
              );
          });
        });
      },
    };
  };
};

/** Messages that are not confirmed yet, by their ids. RabbitMQ returns a message before it confirms it. */
class MessagesUnderWay {
  readonly #byId = new Map<string, { sent: number; returned: number }>();

  sent(id: string): void {
    const one = this.#byId.get(id) ?? { sent: 0, returned: 0 };
    one.sent += 1;
    this.#byId.set(id, one);
  }

  /** A server may return what nobody has sent: that is not kept. */
  cameBack(id: string): void {
    const one = this.#byId.get(id);
    if (one !== undefined) one.returned += 1;
  }

  /** Whether the message came back before. */
  confirmed(id: string): boolean {
    const one = this.#byId.get(id);
    if (one === undefined) return false;
    one.sent -= 1;
    if (one.sent === 0) this.#byId.delete(id);
    const cameBack = one.returned > 0;
    if (cameBack) one.returned -= 1;
    return cameBack;
  }
}

/** Ends the connection of a server that begins a longer message: the client would keep whatever it sends in memory. */
function limitContent(connection: Connection): void {
  const accept: unknown = Reflect.get(connection, "accept");
  if (typeof accept !== "function") return;
  Reflect.set(connection, "accept", (frame: { readonly size?: number | undefined }): void => {
    const { size = 0 } = frame;
    // What is thrown here ends the connection.
    if (size > LONGEST_REPLY) throw new Error(`the server sends a message of ${size} bytes`);
    Reflect.apply(accept, connection, [frame]);
  });
}

/** The reply code of AMQP 0-9-1 for an exchange or a queue that does not exist. */
const NOT_FOUND = 404;

/**
 * Whether the exchange is there; for the default exchange, the queue. A refusal ends the channel, so each check has its own. Which
 * queues are bound to an exchange cannot be asked: a message that reaches none comes back.
 */
async function checkRoute(model: ChannelModel, exchange: string, key: string): Promise<void> {
  const channel = await model.createChannel();
  channel.on("error", () => undefined);
  try {
    if (exchange === "") await channel.checkQueue(key);
    else await channel.checkExchange(exchange);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === NOT_FOUND)
      throw new CannotKeep(
        exchange === "" ? `it has no queue '${key}'` : `it has no exchange '${exchange}'`,
        { cause: error },
      );
    throw error;
  }
  await channel.close();
}

/** Without a user, a certificate of paylink's own logs in. */
async function amqpLogin({ value, file, tlsFiles }: BrokerLogin) {
  const files = await tlsFiles("AMQP");
  const stored = (await file("AMQP_PASSWORD_FILE"))?.trimEnd();
  const user = value("AMQP_USER");
  return {
    ...files,
    credentials:
      user === undefined && files.cert !== undefined
        ? credentials.external()
        : credentials.plain(user ?? "guest", value("AMQP_PASSWORD") ?? stored ?? "guest"),
  };
}
