/** Two receivers without a store in front of one broker: kills the broker in each round, and counts what is lost. */
import { NATS_SERVER, RABBITMQ_SERVER, startNats, startRabbitMq } from "../support/broker-servers.mjs";
import { measureKills, startReceivers } from "./kills.mjs";

const [natsKills = "50", rabbitMqKills = "50"] = process.argv.slice(2);

/**
 * @param {string} name
 * @param {string} rounds
 * @param {string} target
 * @param {{ kill: () => Promise<void>, start: () => Promise<void>, messages: () => Promise<readonly Buffer[]>, remove: () => Promise<void> }} broker
 */
async function measure(name, rounds, target, broker) {
  const receivers = await startReceivers(2, "--no-store", "--forward-to", target);
  await measureKills({
    what: `webhooks lost in ${rounds} kills of ${name}, without a store`,
    rounds: Number(rounds),
    webhooks: 200,
    connections: 8,
    receivers,
    toEach: false,
    kill: () => broker.kill().then(broker.start),
    stored: async () =>
      (await broker.messages()).map((body) => String(JSON.parse(body.toString("utf8")).uti)),
    // Nobody remembers what was published without an answer.
    mayRepeat: true,
  });
  receivers.remove();
  await broker.remove();
}

if (NATS_SERVER !== undefined && natsKills !== "0") {
  const server = await startNats();
  await server.createStream("payments");
  await measure("NATS", natsKills, `nats://127.0.0.1:${server.port}/payments`, {
    ...server,
    messages: async () => (await server.messages("payments")).map(({ body }) => body),
  });
}
if (RABBITMQ_SERVER !== undefined && rabbitMqKills !== "0") {
  const server = await startRabbitMq();
  await server.createQueue("payments");
  await measure("RabbitMQ", rabbitMqKills, `amqp://127.0.0.1:${server.port}/payments?key=payments`, {
    ...server,
    messages: async () => (await server.messages("payments")).map(({ content }) => content),
  });
}
