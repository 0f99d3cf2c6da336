/** The dashboard's addresses: the page, its style sheet and script, and the events that make it refresh. */
import type { Context, Hono } from "hono";
import { DASHBOARD_SCRIPT, dashboardPage } from "../pages/dashboard-page.ts";
import { pageHeaders } from "../pages/page-frame.ts";
import { STYLE } from "../pages/style.ts";
import type { Service } from "../service.ts";

/** Rows in each list: the newest ones; the filter finds the others. */
const LIST_LENGTH = 50;
/** Milliseconds between comments in the stream, which reveal closed connections. */
const HEARTBEAT = 15_000;

export function dashboardRoutes(app: Hono, service: Service, stop: AbortSignal): void {
  app.get("/", (c) => dashboard(c, service));
  app.get(
    "/style.css",
    () => new Response(STYLE, { headers: { "Content-Type": "text/css; charset=utf-8" } }),
  );
  app.get("/dashboard.js", () => {
    const headers = { ...pageHeaders(), "Content-Type": "text/javascript; charset=utf-8" };
    return new Response(DASHBOARD_SCRIPT, { headers });
  });
  app.get("/sandbox/events", () => eventStream(service, stop));
}

function dashboard(c: Context, { parts, tokens }: Service): Response | Promise<Response> {
  const { ledger, merchant, clock } = parts;
  const { text = "", outcome = "", state = "", created = "", key = "" } = c.req.query();
  const list = { text, limit: LIST_LENGTH, now: clock.now() };
  const content = dashboardPage({
    merchantName: merchant.merchantName,
    terminalId: merchant.terminals[0] ?? "",
    now: clock.now(),
    links: ledger.links(list).rows,
    payments: ledger.payments({ ...list, state: outcome }).rows,
    deliveries: ledger
      .deliveries({ ...list, state })
      .rows.map((delivery) => ({ delivery, attempts: ledger.attemptsOf(delivery.id, 10) })),
    text,
    outcome,
    state,
    created: ledger.findLink(created),
    key: tokens.isDashboardKey(key) ? key : undefined,
  });
  return c.html(content, 200, pageHeaders());
}

/** Server-sent events without data: the page then fetches itself again. */
function eventStream(service: Service, stop: AbortSignal): Response {
  const encoder = new TextEncoder();
  let cleanUp = (): void => undefined;
  const body = new ReadableStream<Uint8Array>({
    start: (stream) => {
      const write = (text: string): void => stream.enqueue(encoder.encode(text));
      const unsubscribe = service.subscribe((change) => write(`data: ${JSON.stringify(change)}\n\n`));
      const heartbeat = setInterval(() => write(": heartbeat\n\n"), HEARTBEAT);
      const end = (): void => {
        cleanUp();
        stream.close();
      };
      cleanUp = () => {
        clearInterval(heartbeat);
        unsubscribe();
        stop.removeEventListener("abort", end);
      };
      stop.addEventListener("abort", end);
      write("retry: 1000\n\n");
    },
    cancel: () => cleanUp(),
  });
  return new Response(body, {
    headers: { "Content-Type": "text/event-stream", "Cache-Control": "no-store" },
  });
}
