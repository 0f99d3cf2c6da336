/** The service of the specification on this machine: tokens, links, checkout, transactions and signed webhooks. */
import { Hono, type Context } from "hono";
import type { Handler } from "../http/exchange.ts";
import { apiRoutes } from "./api-routes.ts";
import { checkoutRoutes } from "./checkout-routes.ts";
import { controlRoutes } from "./control-routes.ts";
import { dashboardRoutes } from "./dashboard-routes.ts";
import { controller, localHost } from "./guard.ts";
import { pageHeaders, stylesheet } from "./page.ts";
import { ServiceProblem } from "./problem.ts";
import { createService, type SandboxParts } from "./service.ts";
import { problemPage } from "./statements.ts";
import { handlerOf } from "./web.ts";

export interface Sandbox {
  readonly handler: Handler;
  /** Posts what waits from an earlier run; to be called once the sandbox answers. */
  start(): void;
  /** Resolves when no webhook is due or under way. */
  readonly idle: () => Promise<void>;
  /** Ends the answers that would go on for ever. */
  endStreams(): void;
  close(): Promise<void>;
}

export function createSandbox(parts: SandboxParts): Sandbox {
  const service = createService(parts);
  const stop = new AbortController();
  const app = new Hono();
  app.use(localHost(service));
  app.use("/sandbox/*", controller(service));
  app.get("/style.css", stylesheet);
  apiRoutes(app, service);
  checkoutRoutes(app, service);
  controlRoutes(app, service);
  dashboardRoutes(app, service, stop.signal);
  app.notFound((c) => refusal(c, new ServiceProblem(404, "Not Found", "the sandbox has no such address")));
  app.onError((error, c) => {
    if (error instanceof ServiceProblem) return refusal(c, error);
    throw error;
  });
  return {
    handler: handlerOf((request) => app.fetch(request)),
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

/** Browsers say that they show HTML; programs do not. */
async function refusal(c: Context, problem: ServiceProblem): Promise<Response> {
  const reply = problem.toResponse();
  if (!(c.req.header("accept")?.includes("text/html") ?? false)) return reply;
  const headers = { ...pageHeaders(), "Content-Type": "text/html; charset=utf-8" };
  return new Response(String(await problemPage(problem)), { status: reply.status, headers });
}
