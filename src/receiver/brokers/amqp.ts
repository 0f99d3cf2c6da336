/** RabbitMQ: publishes with confirms, and takes a message that no queue is bound for as refused. */
import { connect, credentials } from "amqplib";
import { amqpRoute, brokerServer } from "../../domain/brokers.ts";
import type { Connector, Login } from "./broker.ts";

/** Seconds between the signs of life of a connection: one that misses two is ended. */
const HEARTBEAT = 5;

export const amqp: Connector = async (url, login) => {
  await loginOf(login);
  return async () => {
    const { exchange = "", key, vhost } = amqpRoute(url);
    const { hostname, port } = brokerServer(url);
    const protocol = url.protocol.slice(0, -1);
    const model = await connect(
      { protocol, hostname, port, vhost, heartbeat: HEARTBEAT },
      {
        ...(await loginOf(login)),
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
      if (exchange !== "") await channel.checkExchange(exchange);
      return { channel, refusal: () => refused };
    };
    const { channel, refusal } = await open().catch(async (error: unknown) => {
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
    const check = async (): Promise<void> => {
      if (blocked !== undefined) throw new Error(`the broker takes no messages now: ${blocked}`);
    };
    return {
      ended,
      close,
      check,
      publish: async ({ id, headers, body }) => {
        await check();
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
            if (hasReturned(id)) reject(new Error(`no queue is bound to ${url.href}`));
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

/** Without a user, a certificate of paylink's own logs in. */
async function loginOf({ value, file, tlsFiles }: Login) {
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
