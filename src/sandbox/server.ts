/** The sandbox as a server: its routes behind the checks that every request passes, in process or on a port. */
import { localAddress } from "../domain/addresses.ts";
import { Hono, type Context } from "hono";
import type { Serve } from "../http/exchange.ts";
import { requireControlAccess, requireLocalHost, requireToken } from "./access.ts";
import { apiRoutes } from "./api.ts";
import { problemPage } from "./checkout/messages.ts";
import { checkoutRoutes } from "./checkout/routes.ts";
import { controlRoutes, dashboardRoutes } from "./dashboard/routes.ts";
import { htmlReply } from "./page.ts";
import type { SandboxParts } from "./parts.ts";
import { accepts, handlerFromFetch, ServiceProblem } from "./replies.ts";
import { createService } from "./service.ts";

export type Sandbox = ReturnType<typeof createSandbox>;

export function createSandbox(parts: SandboxParts) {
  const service = createService(parts);
  const stop = new AbortController();
  // The service has the same addresses with a slash at their end.
  const app = new Hono({ strict: false });
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
    handler: service.requests.recording(handlerFromFetch((request) => app.fetch(request))),
    /** The query of the dashboard's address; without it the dashboard is read-only. */
    dashboardQuery: `?key=${service.tokens.dashboardKey}`,
    /** Posts the webhooks left from an earlier run. Call it once the sandbox answers requests. */
    start: () => service.deliveries.wake(),
    /** Resolves when no webhook is due or being posted. */
    idle: () => service.deliveries.idle(),
    /** Ends the streams of events. */
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

export type RunningSandbox = Awaited<ReturnType<typeof startSandbox>>;

export async function startSandbox(
  parts: SandboxParts & { readonly serve: Serve; readonly host: string; readonly port: number },
) {
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
    /** With a final slash. */
    url: server.url,
    /** For clients on this machine; without a final slash, as profiles store it. */
    baseUrl: localAddress(server.url).replace(/\/$/, ""),
    /** With the key that the dashboard's controls need. */
    dashboardUrl: `${server.url}${sandbox.dashboardQuery}`,
    idle: sandbox.idle,
    /** Answers open requests, finishes the attempts in progress, and leaves the other deliveries on disk. */
    close: async (): Promise<void> => {
      sandbox.endStreams();
      await server.close();
      await sandbox.close();
    },
  };
}
