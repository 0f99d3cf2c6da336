/** The dashboard's addresses: the page, its script, and the events that tell it to look again. */
import type { Context, Hono } from "hono";
import { dashboardPage } from "./dashboard.ts";
import { DASHBOARD_SCRIPT } from "./dashboard-script.ts";
import { pageHeaders } from "./page.ts";
import type { Service } from "./service.ts";

/** Rows that each list shows: the newest; the filter finds the others. */
const SHOWN = 50;
/** A comment this often, in milliseconds, finds out who has gone. */
const HEARTBEAT = 15_000;

export function dashboardRoutes(app: Hono, service: Service, stop: AbortSignal): void {
  app.get("/", (c) => dashboard(c, service));
  app.get("/dashboard.js", () => {
    const headers = { ...pageHeaders(), "Content-Type": "text/javascript; charset=utf-8" };
    return new Response(DASHBOARD_SCRIPT, { headers });
  });
  app.get("/sandbox/events", () => events(service, stop));
}

function dashboard(c: Context, { parts }: Service): Response | Promise<Response> {
  const { ledger, merchant, clock } = parts;
  const { text = "", outcome = "", state = "", created = "" } = c.req.query();
  const content = dashboardPage({
    merchantName: merchant.merchantName,
    terminalId: merchant.terminals[0] ?? "",
    now: clock.now(),
    links: ledger.links({ text, limit: SHOWN }),
    payments: ledger.payments({ text, state: outcome, limit: SHOWN }),
    deliveries: ledger
      .deliveries({ text, state, limit: SHOWN })
      .map((delivery) => ({ delivery, attempts: ledger.attemptsOf(delivery.id) })),
    text,
    outcome,
    state,
    created: ledger.findLink(created),
  });
  return c.html(content, 200, pageHeaders());
}

/** Server-sent events that say no more than "something happened": the page asks for what it shows. */
function events(service: Service, stop: AbortSignal): Response {
  const encoder = new TextEncoder();
  let leave = (): void => undefined;
  const body = new ReadableStream<Uint8Array>({
    start: (stream) => {
      const say = (text: string): void => stream.enqueue(encoder.encode(text));
      const unwatch = service.watch(() => say("data: changed\n\n"));
      const heartbeat = setInterval(() => say(": still here\n\n"), HEARTBEAT);
      const end = (): void => {
        leave();
        stream.close();
      };
      leave = () => {
        clearInterval(heartbeat);
        unwatch();
        stop.removeEventListener("abort", end);
      };
      stop.addEventListener("abort", end);
      say("retry: 1000\n\n");
    },
    cancel: () => leave(),
  });
  return new Response(body, {
    headers: { "Content-Type": "text/event-stream", "Cache-Control": "no-store" },
  });
}
