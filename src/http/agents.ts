/** The agents of undici that hold connections: one for each way to connect, with its proxy and certificates. */
import type { Dispatcher } from "undici";
import { skipContinue } from "./continue-responses.ts";
import type { TlsFiles } from "./exchange.ts";

const CONNECT_TIMEOUT = 10_000;

export interface AgentParts {
  readonly httpsProxy: string | undefined;
  readonly noProxy: string | undefined;
  readonly nodeVersion: string;
}

export interface ConnectionNeeds {
  readonly isHttps: boolean;
  /** Accepts a self-signed certificate. */
  readonly isInsecure: boolean;
  /** Milliseconds for the whole exchange. */
  readonly timeout: number;
  readonly clientCertificate: TlsFiles | undefined;
}

export interface Agents {
  readonly agentFor: (needs: ConnectionNeeds) => Promise<Dispatcher>;
  /** Closes every connection, including those still being made. */
  readonly close: () => Promise<void>;
}

/** What decides which connections may carry a request. Each combination has its own agent. */
interface Route {
  readonly kind: "direct" | "proxied" | "insecure";
  /** Milliseconds to connect: undici limits them for each agent, and cannot abort an attempt for a single request. */
  readonly connectTimeout: number;
  readonly clientCertificate: TlsFiles | undefined;
}

export function createAgents(parts: AgentParts): Agents {
  const agents = new Map<string, Promise<Dispatcher>>();
  return {
    agentFor: ({ isHttps, isInsecure, timeout, clientCertificate }) => {
      const isProxied = isHttps && parts.httpsProxy !== undefined;
      const kind = isInsecure ? "insecure" : isProxied ? "proxied" : "direct";
      const connectTimeout = connectTimeoutFor(timeout);
      const key = `${kind} ${connectTimeout} ${Buffer.from(clientCertificate?.cert ?? []).toString("latin1")}`;
      const agent = agents.get(key) ?? createAgent({ kind, connectTimeout, clientCertificate }, parts);
      agents.set(key, agent);
      return agent;
    },
    close: async () =>
      void (await Promise.all([...agents.values()].map(async (agent) => (await agent).destroy()))),
  };
}

/** Rounded up to a power of two: with an agent for each timeout, a long run would open more and more agents. */
const connectTimeoutFor = (timeout: number): number =>
  Math.min(CONNECT_TIMEOUT, 2 ** Math.ceil(Math.log2(Math.max(1, timeout))));

async function createAgent(
  { kind, connectTimeout, clientCertificate }: Route,
  { httpsProxy = "", noProxy = "", nodeVersion }: AgentParts,
): Promise<Dispatcher> {
  const identity =
    clientCertificate === undefined
      ? {}
      : { cert: Buffer.from(clientCertificate.cert), key: Buffer.from(clientCertificate.key) };
  const connect = { timeout: connectTimeout, rejectUnauthorized: kind !== "insecure", ...identity };
  if (kind === "proxied") {
    const { EnvHttpProxyAgent } = await import("undici");
    return new EnvHttpProxyAgent({ httpsProxy, noProxy, connect, requestTls: identity });
  }
  // undici's index also loads fetch, WebSocket and mocks, with which `create` takes a quarter longer (startup bench).
  const { default: Agent } = await import("undici/lib/dispatcher/agent.js");
  if (nodeVersion.startsWith("20.")) await keepParserSimple();
  const { default: buildConnector } = await import("undici/lib/core/connect.js");
  const connector = buildConnector(connect);
  return new Agent({
    connect: (target, connected) =>
      connector(target, (...result) => {
        if (result[0] === null) skipContinue(result[1]);
        connected(...result);
      }),
  });
}

/**
 * Node 20 optimizes all of undici's WebAssembly parser as soon as it is compiled: `create` then takes twice as long (startup
 * bench). Set after undici is loaded, because V8 accepts Node's own compiled modules only under the flags they were made with.
 */
async function keepParserSimple(): Promise<void> {
  const { setFlagsFromString } = await import("node:v8");
  setFlagsFromString("--liftoff-only");
}
