/** Ports for programs that need a number in advance: each was free a moment ago. */
import { once } from "node:events";
import { createServer } from "node:net";

/** Below the ports that systems give to connections and to servers on port 0: other tests would take it before its use. */
const [FIRST, LAST] = [12_000, 32_000];

export async function freePort(): Promise<string> {
  for (;;) {
    const port = FIRST + Math.floor(Math.random() * (LAST - FIRST));
    const server = createServer().listen(port, "127.0.0.1");
    const isFree = await once(server, "listening").then(
      () => true,
      () => false,
    );
    if (!isFree) continue;
    await new Promise((closed) => server.close(closed));
    return String(port);
  }
}
