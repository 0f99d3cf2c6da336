/**
 * Two receivers on one PostgreSQL, with each webhook delivered to both: kills a receiver or the server in each round, and
 * counts what is lost or stored twice.
 */
import { startPostgresServer } from "../support/postgres-server.mjs";
import { measureKills, startReceivers } from "./kills.mjs";

const [receiverKills = "50", serverKills = "5"] = process.argv.slice(2);
const server = await startPostgresServer({ fsync: true });
const database = await server.createDatabase();
const receivers = await startReceivers(2, "--db", database);

await measureKills({
  what: `webhooks lost in ${receiverKills} kills of two receivers on PostgreSQL, and ${serverKills} of the server`,
  rounds: Number(receiverKills) + Number(serverKills),
  webhooks: 200,
  connections: 16,
  receivers,
  toEach: true,
  kill: (round) =>
    round < Number(receiverKills) ? receivers.kill(round % 2) : server.stop("SIGKILL").then(server.start),
  stored: async () => {
    const rows = await server.query("SELECT uti FROM paylink.events", new URL(database).pathname.slice(1));
    return rows.map(({ uti }) => String(uti));
  },
});
receivers.remove();
await server.remove();
