/** Ports of 127.0.0.1: for a server of a test, and for programs that need a number in advance. */
import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Server } from "node:net";
import { onTestFinished } from "vitest";
import { ownPort } from "./own-port.mjs";

/** Lets a server listen on a free port until the test is over, and gives the port. */
export async function listenOnFreePort(
  server: Server & { closeAllConnections?: () => void },
): Promise<number> {
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => {
    server.closeAllConnections?.();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

/** A port on which nothing listened a moment ago, and that no other test is given. */
export const freePort = async (): Promise<string> => String(await ownPort());

/** Holds a port without listening on it until the test is over: a connection to it is refused, and no other test gets it. */
export async function keepClosed(port: number): Promise<void> {
  const server = createServer();
  const other = await listenOnFreePort(server);
  const socket = connect({ host: "127.0.0.1", port: other, localAddress: "127.0.0.1", localPort: port });
  onTestFinished(() => void socket.destroy());
  await once(socket, "connect");
}
