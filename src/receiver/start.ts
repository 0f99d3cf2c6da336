/** Binds a receiver to an address: what `listen` runs, and every other command that waits for webhooks. */
import type { Serve, Server, TlsFiles } from "../http/exchange.ts";
import type { ReceiverAddress } from "./address.ts";
import { createReceiver, type ReceiverParts } from "./receiver.ts";

export interface ReceiverOptions extends Omit<ReceiverParts, "address"> {
  readonly serve: Serve;
  readonly host: string;
  readonly port: number;
  readonly tls?: TlsFiles | undefined;
  /** The address that the service posts to, where it is not the listener's own. */
  readonly publicAddress: ReceiverAddress | undefined;
  readonly faulted: (error: unknown) => void;
}

export async function startReceiver(options: ReceiverOptions): Promise<Server> {
  const { serve, host, port, tls, maxBody, faulted, publicAddress } = options;
  const scheme = tls === undefined ? "http" : "https";
  let own: ReceiverAddress = { kind: "own", scheme, hosts: [host], port };
  const { admit, refused, handle } = createReceiver({ ...options, address: () => publicAddress ?? own });
  const server = await serve(handle, { host, port, tls, maxBody, admit, refused, faulted });
  own = { kind: "own", scheme, hosts: server.hosts, port: server.port };
  return server;
}
