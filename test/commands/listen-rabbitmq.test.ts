/** `listen --forward-to amqp://…`, in process, against a real server of RabbitMQ. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { GetMessage } from "amqplib";
import { describe, expect, it, onTestFinished } from "vitest";
import { openTargets } from "../../src/receiver/brokers/targets.ts";
import { createVerifier } from "../../src/library/webhooks.ts";
import { RABBITMQ_SERVER, startRabbitMq } from "../support/broker-servers.mjs";
import {
  deliver,
  detailsOf,
  listenTo,
  messageId,
  underKills,
  untilTaken,
  useServer,
} from "../support/brokers.ts";
import { privatelyIssued } from "../support/certificate.ts";
import { temporaryHome } from "../support/home.ts";
import { KEYS } from "../support/keys.ts";
import { freePort } from "../support/postgres-server.mjs";
import { openSender } from "../support/sender.ts";
import { post, record, webhook } from "../support/webhooks.ts";

const server = useServer(RABBITMQ_SERVER, "rabbitmq-server", () => startRabbitMq());

const targetOf = (route: string): string => `amqp://127.0.0.1:${server().port}/${route}`;

/** A durable queue, bound to a durable exchange of the same name with the same key. */
const createQueue = (name: string, options: object = {}): Promise<unknown> =>
  server().onChannel(async (channel) => {
    await channel.assertExchange(name, "direct", { durable: true });
    await channel.assertQueue(name, { durable: true, ...options });
    await channel.bindQueue(name, name, name);
  });

/** Takes the messages of a queue. */
const messagesOf = (queue: string): Promise<GetMessage[]> =>
  server().onChannel(async (channel) => {
    const messages: GetMessage[] = [];
    for (;;) {
      const message = await channel.get(queue, { noAck: true });
      if (message === false) return messages;
      messages.push(message);
    }
  });

describe("a queue", () => {
  it("gets the bytes, what verifies them, and one id for each record", async () => {
    await createQueue("paid");
    const target = targetOf("paid?key=paid");
    const [one, other] = [await listenTo(target), await listenTo(target)];
    const request = webhook(one.url, record());
    expect([
      await post(one.url, request),
      await post(one.url, request),
      await post(other.url, request),
    ]).toEqual([200, 200, 200]);
    // RabbitMQ leaves it to consumers to recognise what two receivers published.
    const messages = await messagesOf("paid");
    expect(messages).toHaveLength(2);
    for (const { content, properties } of messages) {
      expect(content).toEqual(Buffer.from(request.body));
      expect(properties).toMatchObject({
        messageId: messageId(request),
        contentType: "application/json; charset=utf-8",
        deliveryMode: 2,
      });
      expect(properties.headers).not.toHaveProperty("host");
      const headers = Object.fromEntries(
        Object.entries(properties.headers ?? {}).map(([name, value]) => [name, String(value)]),
      );
      const verified = await createVerifier({ key: KEYS.publicPem })({
        method: "POST",
        url: "/",
        headers,
        body: content,
      });
      expect(verified).toMatchObject({ outcome: "APPROVED" });
    }
  });

  it("is reached through the default exchange by its name", async () => {
    await createQueue("plain");
    expect(await deliver(await listenTo(targetOf("?key=plain")))).toBe(200);
    expect(await messagesOf("plain")).toHaveLength(1);
  });

  it("that is full or not bound is answered 503, and so is an exchange that does not exist", async () => {
    await createQueue("small", { maxLength: 1, overflow: "reject-publish" });
    const full = await listenTo(targetOf("small?key=small"));
    expect([await deliver(full), await deliver(full)]).toEqual([200, 503]);
    const unbound = await listenTo(targetOf("small?key=other"));
    const answers = await Promise.all([1, 2, 3].map(() => deliver(unbound)));
    expect(answers).toEqual([503, 503, 503]);
    const missing = await listenTo(targetOf("missing?key=other"));
    expect(await deliver(missing)).toBe(503);
    expect([...detailsOf(full), ...new Set(detailsOf(unbound))]).toEqual([
      undefined,
      expect.stringMatching(/^the broker refused it: a queue is full/),
      `no queue is bound to ${targetOf("small?key=other")}`,
    ]);
    expect(String(detailsOf(missing))).toMatch(/no exchange 'missing'/);
    // The exchange is looked for again.
    await createQueue("missing");
    await server().onChannel((channel) => channel.bindQueue("missing", "missing", "other"));
    await untilTaken(missing);
  });
});

describe("a server", () => {
  it("that is away, refuses the login, or wants TLS is answered 503, and takes messages later", async () => {
    const home = temporaryHome();
    await createQueue("late");
    const target = targetOf("late?key=late");
    const wrong = await listenTo(target, { env: { AMQP_USER: "guest", AMQP_PASSWORD: "no" } });
    const passwordFile = join(home, "password");
    writeFileSync(passwordFile, "guest\n");
    const right = await listenTo(target, { env: { AMQP_PASSWORD_FILE: passwordFile } });
    expect([await deliver(wrong), await deliver(right)]).toEqual([503, 200]);
    expect(String(detailsOf(wrong))).toMatch(/ACCESS_REFUSED/);

    await server().kill();
    const flags = ["--no-store", "--admin", "127.0.0.1:0"];
    const away = await listenTo(target, { flags });
    const [, admin = ""] = await away.until(/"admin":"([^"]+)"/);
    expect([await deliver(right), await deliver(away)]).toEqual([503, 503]);
    expect((await fetch(new URL("/readyz", admin))).status).toBe(503);

    const { ca, cert, key } = privatelyIssued(home, ["localhost"]);
    const port = await freePort();
    const files = [
      server().write("cert.pem", readFileSync(cert)),
      server().write("key.pem", readFileSync(key)),
    ];
    await server().start(
      `listeners.ssl.1 = 127.0.0.1:${port}\nssl_options.certfile = ${files[0]}\nssl_options.keyfile = ${files[1]}\n`,
    );
    await untilTaken(right);
    await untilTaken(away);
    const secure = `amqps://localhost:${port}/late?key=late`;
    const trusting = await listenTo(secure, { env: { AMQP_CA: ca } });
    const doubting = await listenTo(secure);
    expect([await deliver(trusting), await deliver(doubting)]).toEqual([200, 503]);
    expect(String(detailsOf(doubting))).toMatch(/certificate/);
  }, 90_000);

  it("has every message that was acknowledged, after a kill under load", async () => {
    await createQueue("load");
    const target = targetOf("load?key=load");
    const listeners = [await listenTo(target), await listenTo(target)];
    const acknowledged = await underKills(listeners, server(), 1);
    const stored = new Set((await messagesOf("load")).map(({ properties }) => properties.messageId));
    expect([...acknowledged].filter((id) => !stored.has(id))).toEqual([]);
  }, 90_000);

  it("that is short of memory is answered 503", async () => {
    await createQueue("alarm");
    await server().kill();
    await server().start("vm_memory_high_watermark.absolute = 1MB");
    const url = new URL(targetOf("alarm?key=alarm"));
    const parts = { send: openSender(), env: {}, readFile: async () => Buffer.of(), insecure: false };
    const targets = await openTargets([{ url }], parts);
    onTestFinished(targets.close);
    const answer = async (): Promise<string> => {
      const { status, body } = await targets.send(webhook(url.href, record()), { timeout: 300 }, url);
      return `${status} ${Buffer.from(body).toString()}`;
    };
    expect(await answer()).toBe("503 no confirmation within 0.3 s");
    expect(await answer()).toMatch(/^503 the broker takes no messages now: .*memory/);
    await expect(targets.check()).rejects.toThrow(/memory/);
  }, 90_000);
});
