/**
 * Two receivers without a store in front of one broker, under load: kills the broker in each round, delivers again what was
 * not acknowledged, and counts what is lost.
 */
import { setTimeout as pause } from "node:timers/promises";
import { NATS_SERVER, RABBITMQ_SERVER, startNats, startRabbitMq } from "../support/broker-servers.mjs";
import { createHome, startListen } from "./receivers.mjs";
import { row } from "./row.mjs";
import { load, newKey, payment, webhook } from "./webhooks.mjs";

const CONNECTIONS = 8;
const WEBHOOKS = 200;
/** How often what was not acknowledged is delivered again, and the milliseconds between. */
const DELIVERIES = 200;
const WAIT = 100;
const [natsKills = "50", rabbitMqKills = "50"] = process.argv.slice(2);

const { privateKey, publicKey } = newKey();

/**
 * @param {string} name
 * @param {number} kills
 * @param {string} target
 * @param {{ kill: () => Promise<void>, start: () => Promise<void>, messages: () => Promise<readonly Buffer[]>, remove: () => Promise<void> }} broker
 */
async function measure(name, kills, target, broker) {
  const homes = [createHome(publicKey), createHome(publicKey)];
  const receivers = await Promise.all(
    homes.map(({ home }) => startListen(home, "--no-store", "--forward-to", target)),
  );
  /** @type {Set<string>} */
  const acknowledged = new Set();
  /**
   * @param {readonly ReturnType<typeof payment>[]} payments
   * @param {() => void} answered
   */
  const deliver = (payments, answered) => {
    const left = [...payments];
    return Promise.all(
      receivers.map(({ url }) =>
        load(
          url,
          CONNECTIONS,
          () => {
            const next = left.pop();
            return next && webhook(url, privateKey, next);
          },
          (uti, status) => {
            if (status === 200) acknowledged.add(uti);
            answered();
          },
        ),
      ),
    );
  };
  let unacknowledged = 0;
  for (let round = 0; round < kills; round++) {
    const payments = Array.from({ length: WEBHOOKS }, payment);
    const killAfter = 20 + ((round * 37) % 150);
    let answers = 0;
    /** @type {Promise<unknown> | undefined} */
    let killed;
    await deliver(payments, () => {
      if (++answers === killAfter) killed = broker.kill().then(broker.start);
    });
    await killed;
    for (let delivery = 0; delivery < DELIVERIES; delivery++) {
      const left = payments.filter(({ uti }) => !acknowledged.has(uti));
      if (left.length === 0) break;
      if (delivery > 0) await pause(WAIT);
      await deliver(left, () => undefined);
    }
    unacknowledged += payments.filter(({ uti }) => !acknowledged.has(uti)).length;
  }
  await Promise.all(receivers.map((receiver) => receiver.stop("SIGKILL")));
  const utis = (await broker.messages()).map((body) => String(JSON.parse(body.toString("utf8")).uti));
  await broker.remove();
  for (const { remove } of homes) remove();
  const stored = new Set(utis);
  const lost = [...acknowledged].filter((uti) => !stored.has(uti)).length;
  process.stdout.write(
    `${name}: ${utis.length - stored.size} stored twice, ${unacknowledged} not acknowledged in the end\n`,
  );
  row(`acknowledged webhooks lost by two receivers without a store over ${kills} kills of ${name}`, lost, {
    most: 0,
    unit: "",
    digits: 0,
    note: `of ${acknowledged.size}`,
  });
  if (lost > 0 || unacknowledged > 0 || acknowledged.size === 0) process.exitCode = 1;
}

if (NATS_SERVER !== undefined && natsKills !== "0") {
  const server = await startNats();
  await server.createStream("payments");
  await measure("NATS", Number(natsKills), `nats://127.0.0.1:${server.port}/payments`, {
    ...server,
    messages: async () => (await server.messages("payments")).map(({ body }) => body),
  });
}
if (RABBITMQ_SERVER !== undefined && rabbitMqKills !== "0") {
  const server = await startRabbitMq();
  await server.createQueue("payments");
  await measure("RabbitMQ", Number(rabbitMqKills), `amqp://127.0.0.1:${server.port}/payments?key=payments`, {
    ...server,
    messages: async () => (await server.messages("payments")).map(({ content }) => content),
  });
}
