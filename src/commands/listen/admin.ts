/** The private listener of `listen --admin`: health, readiness and metrics. */
import type { Context } from "../../context.ts";
import { PaylinkError } from "../../domain/errors.ts";
import { hint } from "../../domain/hint.ts";
import { messageOf } from "../../values/system-reason.ts";
import { within } from "../../values/time.ts";
import type { Timers } from "../../values/timers.ts";
import { hostnameOf, isLoopback } from "../../values/addresses.ts";
import type { Handler } from "../../http/exchange.ts";
import type { HttpReply } from "../../http/message.ts";
import { namesLoopback } from "../../receiver/address.ts";
import type { Backlog, EventLog, RunKeys } from "../../events/event.ts";
import type { SourceState } from "../../receiver/keyring.ts";
import { createMetrics, type Metrics } from "../../receiver/metrics.ts";

export interface AdminAddress {
  readonly host: string;
  readonly port: number;
}

/** The private listener while `listen` runs. */
export interface Admin {
  readonly url: string;
  readonly metrics: Metrics;
  /** The same log, which also reports how long each event took to store. */
  readonly measured: (log: EventLog) => EventLog;
  /** The receiver has started: it is ready as long as events can be stored. */
  readonly started: (parts: Watched) => void;
  /** The receiver is about to end: it is not ready any more. */
  readonly ending: () => void;
  readonly close: () => Promise<void>;
}

/** What the endpoints read at each request. */
interface Watched {
  /** Rejects if no event can be stored. */
  readonly checkStore: () => Promise<void>;
  readonly connections: () => Promise<number>;
  readonly keys: () => RunKeys;
  readonly keySources: () => readonly SourceState[];
  /** Undefined if no events are kept. */
  readonly backlog: () => Promise<Backlog> | undefined;
}

/** Milliseconds after which a store that does not answer counts as unwritable. */
const STORE_TIMEOUT = 2_000;
/** Milliseconds for which an answer of the store is reused: each check is a write, and probes may be frequent. */
const STORE_CHECK_INTERVAL = 1_000;
/** Webhooks in a row that could not be stored, after which a load balancer should try another receiver. */
const MOST_FAILURES = 3;
/** Milliseconds after which it gets webhooks again: only one that is stored shows that the next ones will be. */
const NEXT_TRY = 30_000;
const NO_BACKLOG: Backlog = { keys: [], lastForward: undefined };

/** Throws `port_in_use`. */
export async function openAdmin(
  { host, port }: AdminAddress,
  { serve, now, timers, out }: Pick<Context, "serve" | "now" | "timers" | "out">,
): Promise<Admin> {
  const metrics = createMetrics();
  let watched: Watched | undefined;
  let notReady: string | undefined = "starting";
  let checkStore = async (): Promise<string | undefined> => undefined;
  /** The webhooks that could not be stored, since one was. */
  let failures = 0;
  let failedAt = 0;
  const unstored = (): string | undefined =>
    failures < MOST_FAILURES || timers.elapsed() - failedAt > NEXT_TRY
      ? undefined
      : `the last ${failures} webhooks could not be stored`;
  const metricsText = async (): Promise<string> => {
    const [connections = 0, backlog] = await Promise.all([
      watched?.connections(),
      watched?.backlog()?.catch(() => undefined) ?? NO_BACKLOG,
    ]);
    const { keys = () => [], keySources = () => [] } = watched ?? {};
    return metrics.text({ connections, keys: keys(), keySources: keySources(), backlog }, now());
  };
  const pages: Readonly<Record<string, () => Promise<HttpReply>>> = {
    "/healthz": async () => textReply(200, "ok\n"),
    "/readyz": async () => {
      const reason = notReady ?? unstored() ?? (await checkStore());
      return reason === undefined ? textReply(200, "ready\n") : textReply(503, `not ready: ${reason}\n`);
    },
    "/metrics": async () => textReply(200, await metricsText(), metrics.contentType),
  };
  const isPrivate = isLoopback(hostnameOf(host));
  const handler: Handler = async ({ method, target, authority }) => {
    if (isPrivate && !namesLoopback(authority))
      return textReply(421, "only loopback names of this machine\n");
    const [path = ""] = target.split("?", 1);
    const page = Object.hasOwn(pages, path) ? pages[path] : undefined;
    if (page === undefined) return textReply(404, `${Object.keys(pages).join("\n")}\n`);
    if (method === "OPTIONS") return { status: 204, headers: [["Allow", ALLOWED]], body: new Uint8Array() };
    return method === "GET" || method === "HEAD" ? page() : textReply(405, "GET only\n");
  };
  const faulted = (error: unknown): void => out.warn(`${host}:${port}: ${messageOf(error)}`);
  const server = await serve(handler, { host, port, maxBody: 0, faulted }).catch((error: unknown) => {
    if (!(error instanceof PaylinkError) || error.code !== "port_in_use") throw error;
    throw error.with({ hints: [hint`Use another port in --admin, or port 0 for a free one.`] });
  });
  if (!isPrivate)
    out.warn(`Other machines can read the health and the metrics at ${server.url} without a password.`);
  return {
    url: server.url,
    metrics,
    measured: (log) => ({
      ...log,
      append: async (event, lease) => {
        const start = timers.elapsed();
        try {
          const stored = await log.append(event, lease);
          failures = 0;
          metrics.stored(timers.elapsed() - start);
          return stored;
        } catch (error) {
          failures += 1;
          failedAt = timers.elapsed();
          throw error;
        }
      },
    }),
    started: (parts): void => {
      watched = parts;
      checkStore = createStoreCheck(parts.checkStore, timers);
      notReady = undefined;
    },
    ending: (): void => void (notReady = "draining"),
    close: (): Promise<void> => server.close(),
  };
}

const ALLOWED = "GET, HEAD, OPTIONS";

const textReply = (status: number, body: string, type = "text/plain; charset=utf-8"): HttpReply => ({
  status,
  headers: [
    ["Content-Type", type],
    ["Cache-Control", "no-store"],
    ...(status === 405 ? ([["Allow", ALLOWED]] as const) : []),
  ],
  body: new TextEncoder().encode(body),
});

/** Resolves with the reason why events cannot be stored; undefined if they can. */
function createStoreCheck(
  check: () => Promise<void>,
  timers: Pick<Timers, "elapsed">,
): () => Promise<string | undefined> {
  let last: Promise<string | undefined> | undefined;
  let checkedAt = 0;
  return () => {
    if (last !== undefined && timers.elapsed() - checkedAt < STORE_CHECK_INTERVAL) return last;
    checkedAt = timers.elapsed();
    const checked = check().then(() => undefined, messageOf);
    last = within<string | undefined>(STORE_TIMEOUT, checked, () => "the event store does not answer");
    return last;
  };
}
