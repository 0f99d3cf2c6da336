/** The service of the specification on this machine: tokens, links, checkout, transactions and signed webhooks. */
import { Hono } from "hono";
import type { Handler } from "../http/exchange.ts";
import { apiRoutes } from "./api-routes.ts";
import { checkoutRoutes } from "./checkout-routes.ts";
import { controlRoutes } from "./control-routes.ts";
import { dashboardRoutes } from "./dashboard-routes.ts";
import { controller, localHost } from "./guard.ts";
import { stylesheet } from "./page.ts";
import { ServiceProblem } from "./problem.ts";
import { createService, type SandboxParts } from "./service.ts";
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
  app.notFound(() => new ServiceProblem(404, "Not Found", "the sandbox has no such address").toResponse());
  app.onError((error) => {
    if (error instanceof ServiceProblem) return error.toResponse();
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
