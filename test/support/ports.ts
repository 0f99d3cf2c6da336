/** Ports for programs that need a number in advance: each was free a moment ago. */
import { createServer, type AddressInfo } from "node:net";

export function freePort(): Promise<string> {
  const server = createServer();
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(String(port)));
    });
  });
}
