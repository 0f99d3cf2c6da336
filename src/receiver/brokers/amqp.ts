/** RabbitMQ: publishes with confirms, and takes a message that no queue is bound for as refused. */
import { type ChannelModel, connect, credentials } from "amqplib";
import { amqpRoute, brokerServer } from "./addresses.ts";
import { CannotKeep, type Connector, type BrokerLogin, MessageRefused } from "./broker.ts";

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
    /** How many of the messages under way came back, by their ids. RabbitMQ returns a message before it confirms it. */
    const returned = new Map<string, number>();
    channel.on("return", ({ properties: { messageId } }) =>
      returned.set(messageId, (returned.get(messageId) ?? 0) + 1),
    );
    const hasReturned = (id: string): boolean => {
      const times = returned.get(id) ?? 0;
      if (times > 1) returned.set(id, times - 1);
      else returned.delete(id);
      return times > 0;
    };
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
        await new Promise<void>((resolve, reject) => {
          channel.publish(exchange, key, body, options, (error: unknown) => {
            if (hasReturned(id)) reject(new MessageRefused(`no queue is bound to ${url.href}`));
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
