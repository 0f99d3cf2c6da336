/** The sandbox as a server: its routes behind the checks that every request passes, in process or on a port. */
import { Hono, type Context } from "hono";
import type { Handler, Serve } from "../http/exchange.ts";
import { requireControlAccess, requireLocalHost, requireToken } from "./access.ts";
import { apiRoutes } from "./api.ts";
import { problemPage } from "./checkout/pages.ts";
import { checkoutRoutes } from "./checkout/routes.ts";
import { controlRoutes } from "./dashboard/controls.ts";
import { dashboardRoutes } from "./dashboard/routes.ts";
import { htmlReply } from "./page.ts";
import { accepts, handlerFromFetch, ServiceProblem } from "./replies.ts";
import { createService, type SandboxParts } from "./service.ts";

export interface Sandbox {
  readonly handler: Handler;
  /** The query of the dashboard's address; without it the dashboard is read-only. */
  readonly dashboardQuery: string;
  /** Posts the webhooks left from an earlier run. Call it once the sandbox answers requests. */
  start(): void;
  /** Resolves when no webhook is due or being posted. */
  readonly idle: () => Promise<void>;
  /** Ends the streams of events. */
  endStreams(): void;
  close(): Promise<void>;
}

export function createSandbox(parts: SandboxParts): Sandbox {
  const service = createService(parts);
  const stop = new AbortController();
  const app = new Hono();
  app.use(requireLocalHost(parts));
  app.use("/sandbox/*", requireControlAccess(service.tokens));
  app.use("/v1/*", requireToken(service.tokens));
  apiRoutes(app, service);
  checkoutRoutes(app, service);
  controlRoutes(app, service, stop.signal);
  dashboardRoutes(app, service);
  app.notFound((c) => problemReply(c, new ServiceProblem(404, "the sandbox has no such address")));
  app.onError((error, c) => {
    if (error instanceof ServiceProblem) return problemReply(c, error);
    throw error;
  });
  return {
    handler: handlerFromFetch((request) => app.fetch(request)),
    dashboardQuery: `?key=${service.tokens.dashboardKey}`,
    start: () => service.deliveries.wake(),
    idle: () => service.deliveries.idle(),
    endStreams: () => stop.abort(),
    close: async () => {
      stop.abort();
      await service.deliveries.close();
      await parts.ledger.close();
    },
  };
}

/** A page for browsers, which accept HTML; problem details for programs. */
async function problemReply(c: Context, problem: ServiceProblem): Promise<Response> {
  return accepts(c, "text/html") ? htmlReply(problemPage(problem), problem.status) : problem.toResponse();
}

/** The longest body of a request, in bytes. */
const MAX_BODY = 1024 * 1024;

export interface StartParts extends SandboxParts {
  readonly serve: Serve;
  readonly host: string;
  readonly port: number;
}

export interface RunningSandbox {
  /** With a final slash. */
  readonly url: string;
  /** Without a final slash, as profiles store it. */
  readonly baseUrl: string;
  /** With the key that the dashboard's controls need. */
  readonly dashboardUrl: string;
  readonly idle: () => Promise<void>;
  /** Answers open requests, finishes the attempts in progress, and leaves the other deliveries on disk. */
  readonly close: () => Promise<void>;
}

export async function startSandbox(parts: StartParts): Promise<RunningSandbox> {
  const { serve, host, port, faulted } = parts;
  const sandbox = createSandbox(parts);
  const server = await serve(sandbox.handler, { host, port, maxBody: MAX_BODY, faulted }).catch(
    async (error: unknown) => {
      await sandbox.close();
      throw error;
    },
  );
  sandbox.start();
  return {
    url: server.url,
    baseUrl: server.url.replace(/\/$/, ""),
    dashboardUrl: `${server.url}${sandbox.dashboardQuery}`,
    idle: sandbox.idle,
    close: async () => {
      sandbox.endStreams();
      await server.close();
      await sandbox.close();
    },
  };
}
