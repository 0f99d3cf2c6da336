/** A port of 127.0.0.1 for a program that needs its number in advance. */
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { createServer } from "node:net";

/** Below the ports that systems give to connections and to servers on port 0: they would be taken before their use. */
const [FIRST, LAST] = [12_000, 32_000];

/** @param {() => import("node:events").EventEmitter} open */
const opens = (open) =>
  once(open(), "listening").then(
    () => true,
    () => false,
  );

/**
 * A port on which nothing listened a moment ago. No other test is given it while this process lives, nor tries whether it is free,
 * because the UDP port of the same number is held.
 * @returns {Promise<number>}
 */
export async function ownPort() {
  for (;;) {
    const port = FIRST + Math.floor(Math.random() * (LAST - FIRST));
    const holder = createSocket("udp4");
    if (!(await opens(() => holder.bind(port, "127.0.0.1")))) {
      holder.close();
      continue;
    }
    holder.unref();
    const server = createServer();
    if (!(await opens(() => server.listen(port, "127.0.0.1")))) continue;
    await new Promise((closed) => server.close(closed));
    return port;
  }
}
