/** The sandbox as a server: its routes behind the checks that every request passes, in process or on a port. */
import { Hono, type Context } from "hono";
import { HTTPException } from "hono/http-exception";
import { localAddress } from "../values/addresses.ts";
import { hasCode } from "../values/system-reason.ts";
import type { Serve } from "../http/exchange.ts";
import { handlerFromFetch } from "../http/fetch-handler.ts";
import { createPageAccess, requireHost, requireSamePage } from "../pages/access.ts";
import { htmlReply, pageHeaders } from "../pages/page.ts";
import { dashboardCookie, dashboardHost, isAllowed, requireControlAccess, requireToken } from "./access.ts";
import { apiRoutes } from "./api.ts";
import { problemPage } from "./checkout/messages.ts";
import { checkoutRoutes } from "./checkout/routes.ts";
import { controlRoutes, dashboardRoutes } from "./dashboard/routes.ts";
import { accepts, ServiceProblem, unwritableLedger } from "./replies.ts";
import { createRuntime } from "./runtime.ts";
import type { SandboxSetup } from "./setup.ts";

export function createSandbox(setup: SandboxSetup) {
  const runtime = createRuntime(setup);
  const { tokens } = runtime;
  const host = setup.plainHost ? undefined : dashboardHost(setup.merchant);
  const pages = createPageAccess({
    name: "paylink-sandbox",
    host,
    isShared: (hostname) => isAllowed(hostname, setup),
    session: dashboardCookie(setup.merchant),
    newKey: setup.newId,
    used: (origin) => setup.observe({ type: "dashboard", url: pages.newAddress(origin) }),
  });
  // The service has the same addresses with a slash at their end.
  const app = new Hono({ strict: false });
  app.use(
    requireHost((hostname) => hostname === host || isAllowed(hostname, setup), WRONG_HOST),
    requireSamePage,
  );
  app.use("/v1/*", requireToken(tokens));
  apiRoutes(app, runtime);
  app.use(...pageHeaders, pages.exchange);
  app.use("/sandbox/*", requireControlAccess(tokens, pages));
  checkoutRoutes(app, runtime);
  controlRoutes(app, runtime);
  dashboardRoutes(app, runtime, pages);
  app.notFound((c) => problemReply(c, new ServiceProblem(404, "the sandbox has no such address")));
  app.onError((error, c) => {
    if (error instanceof ServiceProblem) return problemReply(c, error);
    if (error instanceof HTTPException) return problemReply(c, problemFrom(error));
    if (hasCode(error, "file_unwritable")) {
      setup.faulted(error);
      return problemReply(c, unwritableLedger(error));
    }
    throw error;
  });
  return {
    handler: runtime.requests.recording(
      handlerFromFetch((request) => app.fetch(request)),
      runtime.faults,
    ),
    /** A new address of the dashboard, for one browser; `url` is that of the server. */
    dashboardAt: pages.newAddress,
    /** Posts the webhooks left from an earlier run. Call it once the sandbox answers requests. */
    start: () => runtime.deliveries.wake(),
    /** Resolves when no webhook is due or being posted. */
    idle: () => runtime.deliveries.idle(),
    close: async () => {
      await runtime.deliveries.close();
      setup.ledger.close();
    },
  };
}

const WRONG_HOST =
  "the sandbox answers only to the loopback names of this machine, and to those of --allow-host";

/** A refusal by a check that all pages share. */
const problemFrom = ({ status, message }: HTTPException): ServiceProblem =>
  status === 421
    ? new ServiceProblem(421, message)
    : new ServiceProblem(403, "the request came from a page of another origin");

/** A page for browsers, which accept HTML; problem details for programs. */
async function problemReply(c: Context, problem: ServiceProblem): Promise<Response> {
  return accepts(c, "text/html") ? htmlReply(problemPage(problem), problem.status) : problem.toResponse();
}

/** The longest body of a request, in bytes. */
const MAX_REQUEST = 1024 * 1024;

export type RunningSandbox = Awaited<ReturnType<typeof startSandbox>>;

export async function startSandbox(
  setup: SandboxSetup & { readonly serve: Serve; readonly host: string; readonly port: number },
) {
  const { serve, host, port, faulted } = setup;
  const sandbox = createSandbox(setup);
  const server = await serve(sandbox.handler, { host, port, maxBody: MAX_REQUEST, faulted }).catch(
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
    /** For one browser, which gets a cookie for the key in it. */
    dashboardUrl: sandbox.dashboardAt(localAddress(server.url)),
    idle: sandbox.idle,
    /** Answers open requests, finishes the attempts in progress, and leaves the other deliveries on disk. */
    close: async (): Promise<void> => {
      await server.close();
      await sandbox.close();
    },
  };
}
