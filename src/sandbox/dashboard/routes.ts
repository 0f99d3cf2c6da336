/** The dashboard's addresses: its pages and their files, its buttons with `paylink sandbox advance` and `rotate-key`, and the stream of changes. */
import type { Context, Hono } from "hono";
import type { Problem } from "../../domain/errors.ts";
import { setAt, type JsonObject } from "../../domain/json.ts";
import { fieldFromText } from "../../domain/payment-link-values.ts";
import { checkRequest, requestFields } from "../../domain/payment-link.ts";
import { refused, type Parsed } from "../../domain/parse-result.ts";
import { formatInstant, parseWhen } from "../../domain/time.ts";
import { cardFor } from "../../domain/test-cards.ts";
import dashboardScript from "../browser/dashboard.js?raw";
import liveScript from "../browser/live.js?raw";
import { addLink, cancelLink } from "../links.ts";
import { fileReply, htmlReply, pageHeaders, STYLE, type Page } from "../page.ts";
import { acceptPayment, paymentInputFromForm } from "../payments.ts";
import { accepts, checkoutUrl, formBody, jsonReply, ServiceProblem } from "../replies.ts";
import type { Service } from "../service.ts";
import { clockPage } from "./clock.ts";
import { capturedRequest, deliveryPage, requestOf } from "./delivery.ts";
import { paymentPage } from "./details.ts";
import { notFoundPage } from "./frame.ts";
import { homePage } from "./home.ts";
import { linkPage, newLinkPage, sampleForm } from "./link.ts";
import { DELIVERIES, LINKS, listPage, PAYMENTS, REQUESTS, requestPage, searchPage } from "./lists.ts";
import { linkPath, localPath, pageAddress, paymentPath, viewOf, type View } from "./parts.ts";
import { tamperingNamed } from "./outcome.ts";
import { DASHBOARD_STYLE } from "./style.ts";

export function dashboardRoutes(app: Hono, service: Service): void {
  const view = (c: Context): View => viewOf(c, service, c.req.query("key"));
  app.get("/", (c) => htmlReply(homePage(view(c))));
  app.get("/deliveries", (c) => htmlReply(listPage(view(c), DELIVERIES, c.req.query())));
  app.get("/payments", (c) => htmlReply(listPage(view(c), PAYMENTS, c.req.query())));
  app.get("/links", (c) => htmlReply(listPage(view(c), LINKS, c.req.query())));
  app.get("/requests", (c) => htmlReply(listPage(view(c), REQUESTS, c.req.query())));
  app.get("/search", (c) => htmlReply(searchPage(view(c), c.req.query("text") ?? "")));
  app.get("/clock", (c) => htmlReply(clockPage(view(c))));
  app.get("/links/new", (c) => htmlReply(newLinkPage(view(c))));
  const detail = (
    what: string,
    path: string,
    show: (view: View, id: string, c: Context) => Page | undefined,
  ) =>
    app.get(path, (c) => {
      const shown = view(c);
      return detailReply(shown, what, show(shown, c.req.param("id") ?? "", c));
    });
  detail("link", "/links/:id", (shown, id) => linkPage(shown, id));
  detail("request", "/requests/:id", requestPage);
  detail("payment", "/payments/:id", paymentPage);
  detail("delivery", "/deliveries/:id", (shown, id, c) =>
    deliveryPage(shown, service, id, Number(c.req.query("attempt"))),
  );
  app.get("/dashboard.css", () => fileReply(STYLE + DASHBOARD_STYLE, "text/css"));
  app.get("/deliveries/:id/attempts/:number/:file{body|request}", (c) => downloadAttempt(view(c), c));
  app.get("/dashboard.js", () => fileReply(dashboardScript, "text/javascript"));
  app.get("/live.js", () => fileReply(liveScript, "text/javascript"));
}

/** A page, or that there is no such thing. */
const detailReply = (view: View, what: string, page: Page | undefined, status = 200): Promise<Response> =>
  page === undefined ? htmlReply(notFoundPage(view, what), 404) : htmlReply(page, status);

/** What was posted in an attempt, as a file: a browser must not show it as a page. */
function downloadAttempt(view: View, c: Context): Response | Promise<Response> {
  const { id = "", number, file } = c.req.param();
  const delivery = view.ledger.findDelivery(id);
  const attempt = delivery && view.ledger.findAttempt(id, Number(number));
  const request = attempt && requestOf(delivery, attempt);
  if (request === undefined) return htmlReply(notFoundPage(view, "such attempt"), 404);
  const isWhole = file === "request";
  const name = isWhole ? "webhook-request.json" : "webhook.json";
  const headers = { ...pageHeaders(), "Content-Disposition": `attachment; filename="${name}"` };
  return new Response(isWhole ? capturedRequest(request) : Buffer.from(request.body), {
    headers: { ...headers, "Content-Type": "application/octet-stream" },
  });
}

export function controlRoutes(app: Hono, service: Service, stop: AbortSignal): void {
  app.get("/sandbox/events", () => eventStream(service, stop));
  app.post("/sandbox/advance", (c) => advanceClock(c, service));
  app.post("/sandbox/rotate-key", (c) => rotateKey(c, service));
  app.post("/sandbox/sample", async (c) => {
    const [terminalId = ""] = service.merchant.terminals;
    const request = requestFromForm(sampleForm(terminalId), service.clock.now());
    const { id } = await addLink(service, request, checkoutUrl(c));
    await acceptPayment(service, id, { card: cardFor("approved") });
    return redirectBack(c, service, "sampled", "/");
  });
  app.post("/sandbox/links", (c) => createFromForm(c, service));
  app.post("/sandbox/links/:id/cancel", async (c) => {
    await cancelLink(service, c.req.param("id"));
    return redirectBack(c, service, "cancelled");
  });
  app.post("/sandbox/links/:id/pay", (c) => payLink(c, service));
  app.post("/sandbox/deliveries/resend-failed", async (c) => {
    await service.deliveries.resendFailed();
    return redirectBack(c, service, "resent-all");
  });
  app.post("/sandbox/deliveries/:id/resend", async (c) => {
    await service.deliveries.resend(c.req.param("id"));
    return redirectBack(c, service, "resent");
  });
  app.post("/sandbox/deliveries/:id/tamper", async (c) => {
    const tampering = tamperingNamed((await formBody(c)).get("tampering"));
    if (tampering === undefined) throw new ServiceProblem(400, "no such tampering can be sent");
    service.deliveries.tamper(c.req.param("id"), tampering);
    return redirectBack(c, service, "tampered");
  });
}

/** Redirects to the page that the form was on, or to `path`, with the key that the controls need. */
async function redirectBack(
  c: Context,
  { notices }: Service,
  done: string,
  path?: string,
): Promise<Response> {
  const form = await formBody(c);
  const key = form.get("key") ?? undefined;
  return c.redirect(
    pageAddress({ key }, path ?? localPath(form.get("back")), { done: notices.add(done) }),
    303,
  );
}

/** Answers a page of the dashboard with a redirect, and a command with a value. */
const answered = async (c: Context, service: Service, done: string, value: JsonObject): Promise<Response> =>
  (await formBody(c)).has("back") ? redirectBack(c, service, done) : jsonReply(value);

/** Later dates have no four-digit year, and their times are not ISO 8601 as the specification has them. */
const LATEST = Date.parse("9990-01-01T00:00:00Z");

/** `when` is a time or a duration; the field of a page for a date and time has its time zone apart. */
function timeToMoveTo(form: URLSearchParams, now: Date): Parsed<Date> {
  const when = parseWhen(`${form.get("when") ?? ""}${form.get("zone") ?? ""}`, now);
  if (!when.ok) return when;
  if (when.value < now)
    return refused(`must not be before ${formatInstant(now)}: the clock only moves forward`);
  return when.value.getTime() < LATEST ? when : refused("must not be after the year 9989");
}

async function advanceClock(c: Context, service: Service): Promise<Response> {
  const { clock, deliveries, announce } = service;
  const form = await formBody(c);
  const now = clock.now();
  const when = timeToMoveTo(form, now);
  if (!when.ok) {
    const { message } = when;
    const problem = new ServiceProblem(422, `the time ${message}`, [{ at: "when", message }]);
    if (!form.has("back") || !accepts(c, "text/html")) throw problem;
    const view = viewOf(c, service, form.get("key") ?? undefined, "/clock");
    return htmlReply(clockPage(view, { entered: form, problem }), problem.status);
  }
  await deliveries.advance(when.value.getTime() - now.getTime());
  announce();
  return answered(c, service, "advanced", { now: clock.now().toISOString() });
}

async function rotateKey(c: Context, service: Service): Promise<Response> {
  const keyid = service.keys.rotate();
  service.announce();
  return answered(c, service, "rotated", { keyid });
}

/** Reads the dashboard's form, whose fields have the names of the request, with dots. */
async function createFromForm(c: Context, service: Service): Promise<Response> {
  const form = await formBody(c);
  try {
    const link = await addLink(service, requestFromForm(form, service.clock.now()), checkoutUrl(c));
    return await redirectBack(c, service, "created", linkPath(link.id));
  } catch (error) {
    if (!(error instanceof ServiceProblem) || !accepts(c, "text/html")) throw error;
    const view = viewOf(c, service, form.get("key") ?? undefined, "/links/new");
    return htmlReply(newLinkPage(view, { entered: form, problem: error }), error.status);
  }
}

/** Throws a 400 problem with every invalid field: those that cannot be read, and those that break a rule. */
function requestFromForm(form: URLSearchParams, now: Date): JsonObject {
  const unreadable: Problem[] = [];
  const request: JsonObject = {};
  for (const field of requestFields()) {
    const text = form.get(field)?.trim() ?? "";
    if (text === "") continue;
    const parsed = fieldFromText(field, text, now);
    if (parsed.ok) setAt(request, field, parsed.value);
    else unreadable.push({ at: field, message: parsed.message });
  }
  if (unreadable.length === 0) return request;
  const broken = checkRequest(request, now).problems.filter(
    ({ at }) => !unreadable.some((problem) => problem.at === at),
  );
  throw new ServiceProblem(400, "the form has invalid fields", [...unreadable, ...broken]);
}

/** Pays as the customer would; the dashboard then shows the payment. */
async function payLink(c: Context, service: Service): Promise<Response> {
  const form = await formBody(c);
  const id = c.req.param("id") ?? "";
  try {
    const { uti } = await acceptPayment(service, id, paymentInputFromForm(form));
    return await redirectBack(c, service, "paid", paymentPath(uti));
  } catch (error) {
    if (!(error instanceof ServiceProblem) || error.status !== 422 || !accepts(c, "text/html")) throw error;
    const view = viewOf(c, service, form.get("key") ?? undefined, linkPath(id));
    return detailReply(view, "link", linkPage(view, id, { entered: form, problem: error }), 422);
  }
}

/** Milliseconds between comments in the stream: writing them reveals closed connections. */
const HEARTBEAT = 15_000;
/** Events that may wait for a slow reader. Beyond them it is disconnected, and fetches everything when it reconnects. */
const WAITING = 1_000;

function eventStream({ subscribe }: Service, stop: AbortSignal): Response {
  const encoder = new TextEncoder();
  const closed = new AbortController();
  const body = new ReadableStream<Uint8Array>({
    start: (stream) => {
      const write = (text: string): void => stream.enqueue(encoder.encode(text));
      const close = (): void => {
        closed.abort();
        stream.close();
      };
      const tell = (text: string): void => {
        write(text);
        if ((stream.desiredSize ?? 0) < -WAITING) close();
      };
      const unsubscribe = subscribe(() => tell("data: changed\n\n"));
      const heartbeat = setInterval(() => tell(": heartbeat\n\n"), HEARTBEAT);
      const end = (): void => {
        // Lets pages show that the sandbox was stopped, not that the connection was lost.
        write("event: stopped\ndata:\n\n");
        close();
      };
      stop.addEventListener("abort", end);
      closed.signal.addEventListener("abort", () => {
        // Node 20 may forget a removal by the `signal` option: its garbage collector frees it.
        stop.removeEventListener("abort", end);
        clearInterval(heartbeat);
        unsubscribe();
      });
      write("retry: 1000\n\n");
    },
    cancel: () => closed.abort(),
  });
  return new Response(body, {
    headers: { "Content-Type": "text/event-stream", "Cache-Control": "no-store" },
  });
}
