/** `listen --forward-to amqp://…`, in process, against a real server of RabbitMQ. */
import { readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, expect, it } from "vitest";
import { RABBITMQ_SERVER, startRabbitMq } from "../support/broker-servers.mjs";
import { brokerContract } from "../support/broker-contract.ts";
import {
  deliver,
  detailsOf,
  listenTo,
  messageId,
  openTarget,
  outcomeOf,
  untilTaken,
  useServer,
} from "../support/brokers.ts";
import { privatelyIssued } from "../support/certificate.ts";
import { temporaryHome } from "../support/home.ts";
import { ownPort } from "../support/own-port.mjs";
import { post, record, webhook } from "../support/webhooks.ts";

const server = useServer(RABBITMQ_SERVER, "rabbitmq-server", () => startRabbitMq());

const targetOf = (route: string): string => `amqp://127.0.0.1:${server().port}/${route}`;

brokerContract(() => ({
  name: "AMQP",
  target: (route) => targetOf(`${route}?key=${route}`),
  createRoute: (route) => server().createQueue(route),
  removeRoute: (route) =>
    server().onChannel(async (channel) => {
      await channel.deleteQueue(route);
      await channel.deleteExchange(route);
    }),
  missing: /no exchange/,
}));

it("a message that comes back was not kept, and one whose exchange is gone may have been", async () => {
  await server().createQueue("bound");
  const { answer: unbound } = await openTarget(targetOf("bound?key=unbound"));
  expect(await unbound()).toMatchObject({ kind: "noAnswer", sent: false });
  const { answer } = await openTarget(targetOf("bound?key=bound"));
  expect(await answer()).toMatchObject({ kind: "answered", status: 200 });
  await server().onChannel((channel) => channel.deleteExchange("bound"));
  expect(await answer()).toMatchObject({ kind: "noAnswer", sent: true });
});

describe("a queue", () => {
  it("gets the bytes, what verifies them, and one id for each record", async () => {
    await server().createQueue("paid");
    const target = targetOf("paid?key=paid");
    const [one, other] = [await listenTo(target), await listenTo(target)];
    const request = webhook(one.url, record());
    expect([
      await post(one.url, request),
      await post(one.url, request),
      await post(other.url, request),
    ]).toEqual([200, 200, 200]);
    // RabbitMQ leaves it to consumers to recognise what two receivers published.
    const messages = await server().messages("paid");
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
      expect(await outcomeOf(headers, content)).toBe("APPROVED");
    }
  });

  it("is reached through the default exchange by its name", async () => {
    await server().createQueue("plain");
    expect(await deliver(await listenTo(targetOf("?key=plain")))).toBe(200);
    expect(await server().messages("plain")).toHaveLength(1);
  });

  it("that is full or not bound is answered 503, and so is an exchange that does not exist", async () => {
    await server().createQueue("small", { maxLength: 1, overflow: "reject-publish" });
    const full = await listenTo(targetOf("small?key=small"));
    expect([await deliver(full), await deliver(full)]).toEqual([200, 503]);
    const unbound = await listenTo(targetOf("small?key=other"));
    const answers = await Promise.all([1, 2, 3].map(() => deliver(unbound)));
    expect(answers).toEqual([503, 503, 503]);
    await server().createQueue("missing");
    const missing = await listenTo(targetOf("missing?key=other"));
    await server().onChannel((channel) => channel.deleteExchange("missing"));
    expect(await deliver(missing)).toBe(503);
    expect([...detailsOf(full), ...new Set(detailsOf(unbound))]).toEqual([
      undefined,
      expect.stringMatching(/^the broker refused it: a queue is full/),
      `no queue is bound to ${targetOf("small?key=other")}`,
    ]);
    expect(String(detailsOf(missing))).toMatch(/no exchange 'missing'/);
    // The exchange is looked for again.
    await server().createQueue("missing");
    await server().onChannel((channel) => channel.bindQueue("missing", "missing", "other"));
    await untilTaken(missing);
  });
});

describe("a server", () => {
  it("that refuses the login is answered 503", async () => {
    const home = temporaryHome();
    await server().createQueue("login");
    const target = targetOf("login?key=login");
    const wrong = await listenTo(target, { env: { AMQP_USER: "guest", AMQP_PASSWORD: "no" } });
    const file = join(home, "password");
    writeFileSync(file, "guest\n");
    const right = await listenTo(target, { env: { AMQP_PASSWORD_FILE: file } });
    expect([await deliver(wrong), await deliver(right)]).toEqual([503, 200]);
    expect(String(detailsOf(wrong))).toMatch(/ACCESS_REFUSED/);
  });

  it("that is away or short of memory is answered 503, and one with TLS has to be trusted", async () => {
    const home = temporaryHome();
    await server().createQueue("late");
    const target = targetOf("late?key=late");
    const before = await listenTo(target);
    expect(await deliver(before)).toBe(200);
    await server().kill();
    const away = await listenTo(target, { flags: ["--no-store", "--admin", "127.0.0.1:0"] });
    const [, admin = ""] = await away.until(/"admin":"([^"]+)"/);
    expect([await deliver(before), await deliver(away)]).toEqual([503, 503]);
    expect((await fetch(new URL("/readyz", admin))).status).toBe(503);

    const { ca, cert, key } = privatelyIssued(home, ["localhost"]);
    const port = await ownPort();
    const files = [cert, key].map((file) => server().write(basename(file), readFileSync(file)));
    await server().start(
      `listeners.ssl.1 = 127.0.0.1:${port}\nssl_options.certfile = ${files[0]}\nssl_options.keyfile = ${files[1]}`,
    );
    await untilTaken(before);
    await untilTaken(away);
    const secure = `amqps://localhost:${port}/late?key=late`;
    const [trusting, doubting] = [await listenTo(secure, { env: { AMQP_CA: ca } }), await listenTo(secure)];
    expect([await deliver(trusting), await deliver(doubting)]).toEqual([200, 503]);
    expect(String(detailsOf(doubting))).toMatch(/certificate/);

    await server().kill();
    await server().start("vm_memory_high_watermark.absolute = 1MB");
    const { targets, answer } = await openTarget(target);
    expect(await answer()).toEqual({
      kind: "noAnswer",
      why: "no confirmation within 2 s",
      failure: "timeout",
      sent: true,
    });
    expect(await answer()).toMatchObject({
      kind: "noAnswer",
      why: expect.stringMatching(/^the broker takes no messages now: .*memory/),
      sent: false,
    });
    await expect(targets.check()).rejects.toThrow(/memory/);
  }, 120_000);
});
