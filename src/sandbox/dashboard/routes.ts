/** The dashboard's addresses: its pages and their files, and its buttons with `paylink sandbox advance` and `rotate-key`. */
import { requestFields } from "../../domain/payment-link-field-lookup.ts";
import type { Context, Hono } from "hono";
import type { Problem } from "../../domain/errors.ts";
import { parseApiFault } from "../api-faults.ts";
import { JsonNumber, setAt, type JsonObject } from "../../values/json.ts";
import { fieldFromText } from "../../domain/payment-link-values.ts";
import { checkRequest } from "../../domain/payment-link.ts";
import { refused, type Parsed } from "../../values/parse-result.ts";
import { formatInstant, parseWhen } from "../../values/time.ts";
import { cardFor } from "../../sender/test-cards.ts";
import type { PageAccess } from "../../pages/access.ts";
import dashboardStyle from "../../pages/browser/dashboard.css?raw";
import { doneAt, localPath } from "../../pages/components.ts";
import { capturedRequest } from "../../pages/exchange.ts";
import { serveFiles } from "../../pages/files.ts";
import { download, htmlReply, type Page } from "../../pages/page.ts";
import type { Faults } from "../faults.ts";
import { addLink, cancelLink } from "../links.ts";
import { acceptPayment } from "../payments.ts";
import { checkoutUrl } from "../access.ts";
import { accepts, formBody, jsonReply, ServiceProblem } from "../replies.ts";
import type { SandboxRuntime } from "../runtime.ts";
import { HOME, linkPath, viewOf, type DashboardView } from "./components.ts";
import { deliveryPage, postedRequest } from "./delivery.ts";
import { paymentPage } from "./details.ts";
import { notFoundPage } from "./frame.ts";
import { homePage } from "./home.ts";
import { linkPage, newLinkPage, sampleForm } from "./link.ts";
import { listPage, searchPage } from "./list-page.ts";
import { DELIVERY_LIST, LINK_LIST, PAYMENT_LIST, REQUEST_LIST } from "./lists.ts";
import { requestPage } from "./request.ts";

/** What only a browser with the cookie may read. */
const PAGES = ["/", "/deliveries/*", "/payments/*", "/links/*", "/requests/*", "/search"];

const OPEN_DASHBOARD =
  "the dashboard opens at the last address that paylink sandbox printed in its terminal: each address works once, for one browser";

export function dashboardRoutes(app: Hono, runtime: SandboxRuntime, pages: PageAccess): void {
  for (const path of PAGES)
    app.use(path, async (c, next) => {
      if (!pages.isHeldBy(c)) throw new ServiceProblem(403, OPEN_DASHBOARD);
      return next();
    });
  const view = (c: Context): DashboardView => viewOf(c, runtime);
  app.get("/", (c) => htmlReply(homePage(view(c))));
  app.get("/deliveries", async (c) => htmlReply(await listPage(view(c), DELIVERY_LIST, c.req.query())));
  app.get("/payments", async (c) => htmlReply(await listPage(view(c), PAYMENT_LIST, c.req.query())));
  app.get("/links", async (c) => htmlReply(await listPage(view(c), LINK_LIST, c.req.query())));
  app.get("/requests", async (c) => htmlReply(await listPage(view(c), REQUEST_LIST, c.req.query())));
  app.get("/search", (c) => htmlReply(searchPage(view(c), c.req.query("text") ?? "")));
  app.get("/links/new", (c) => htmlReply(newLinkPage(view(c))));
  const detail = (
    what: string,
    path: string,
    show: (view: DashboardView, id: string, c: Context) => Page | undefined,
  ) =>
    app.get(path, (c) => {
      const shown = view(c);
      return detailReply(shown, what, show(shown, c.req.param("id") ?? "", c));
    });
  detail("link", "/links/:id", (shown, id) => linkPage(shown, id));
  detail("request", "/requests/:id", requestPage);
  detail("payment", "/payments/:id", paymentPage);
  detail("delivery", "/deliveries/:id", (shown, id, c) =>
    deliveryPage(shown, runtime, id, Number(c.req.query("attempt"))),
  );
  serveFiles(app, "dashboard", dashboardStyle);
  app.get("/deliveries/:id/attempts/:number/:file{body|request}", (c) => downloadAttempt(view(c), c));
}

/** The page, or one that says that the sandbox has no such thing. */
const detailReply = (
  view: DashboardView,
  what: string,
  page: Page | undefined,
  status = 200,
): Promise<Response> =>
  page === undefined ? htmlReply(notFoundPage(view, what), 404) : htmlReply(page, status);

/** What was posted in an attempt, as a file: a browser must not show it as a page. */
function downloadAttempt(view: DashboardView, c: Context): Response | Promise<Response> {
  const { id = "", number, file } = c.req.param();
  const delivery = view.ledger.findDelivery(id);
  const attempt = delivery && view.ledger.findAttempt(id, Number(number));
  const request = attempt && postedRequest(delivery, attempt);
  if (request === undefined) return htmlReply(notFoundPage(view, "attempt"), 404);
  return file === "request"
    ? download("webhook-request.json", capturedRequest(request))
    : download("webhook.json", request.body);
}

export function controlRoutes(app: Hono, runtime: SandboxRuntime): void {
  app.post("/sandbox/advance", (c) => advanceByForm(c, runtime));
  app.post("/sandbox/rotate-key", (c) => rotateKeyByForm(c, runtime));
  app.post("/sandbox/fail", (c) => setFaultsByForm(c, runtime));
  app.post("/sandbox/reset", (c) => reset(c, runtime));
  app.post("/sandbox/sample", async (c) => {
    const request = requestFromForm(sampleForm(runtime.merchant.terminalId), runtime.clock.now());
    const { id } = addLink(runtime, request, checkoutUrl(c, runtime));
    acceptPayment(runtime, id, { card: cardFor("approved") });
    return redirectBack(c, "sampled", "/");
  });
  app.post("/sandbox/links", (c) => createFromForm(c, runtime));
  app.post("/sandbox/links/:id/cancel", async (c) => {
    cancelLink(runtime, c.req.param("id"));
    return redirectBack(c, "cancelled");
  });
  // The service has no list of the payments of a link: `links show` asks for that of a reusable one here.
  app.get("/sandbox/links/:id/payments", (c) => {
    const query = { linkId: c.req.param("id"), limit: MOST_PAYMENTS, now: runtime.clock.now() };
    return jsonReply({ records: runtime.ledger.payments(query).rows.map(({ record }) => record) });
  });
  app.post("/sandbox/deliveries/resend-failed", async (c) => {
    runtime.deliveries.resendFailed();
    return redirectBack(c, "resent-all");
  });
  app.post("/sandbox/deliveries/:id/resend", async (c) => {
    runtime.deliveries.resend(c.req.param("id"));
    return redirectBack(c, "resent");
  });
}

const MOST_PAYMENTS = 1000;

/** Redirects to the page that the form was on, or to `path`. */
async function redirectBack(c: Context, done: string, path?: string): Promise<Response> {
  const back = path ?? localPath((await formBody(c)).get("back"), HOME);
  return c.redirect(doneAt(back, done), 303);
}

/** Answers a page of the dashboard with a redirect, and a command with a value. */
const answered = async (c: Context, done: string, value: JsonObject): Promise<Response> =>
  (await formBody(c)).has("back") ? redirectBack(c, done) : jsonReply(value);

/** Later dates have no four-digit year, and their times are not ISO 8601 as the specification has them. */
const LATEST = Date.parse("9990-01-01T00:00:00Z");

/** `when` is a time or a duration. */
function timeToMoveTo(form: URLSearchParams, now: Date): Parsed<Date> {
  const when = parseWhen(form.get("when") ?? "", now);
  if (!when.ok) return when;
  if (when.value < now)
    return refused(`must not be before ${formatInstant(now)}: the clock only moves forward`);
  return when.value.getTime() < LATEST ? when : refused("must not be after the year 9989");
}

async function advanceByForm(c: Context, { clock, deliveries }: SandboxRuntime): Promise<Response> {
  const now = clock.now();
  const when = timeToMoveTo(await formBody(c), now);
  if (!when.ok) {
    const { message } = when;
    throw new ServiceProblem(422, `the time ${message}`, [{ at: "when", message }]);
  }
  await deliveries.advance(when.value.getTime() - now.getTime());
  return answered(c, "advanced", { now: clock.now().toISOString() });
}

/** `fault` is as in `--fail`, and may be there several times; `clear` removes those that were set before. */
async function setFaultsByForm(c: Context, { faults }: SandboxRuntime): Promise<Response> {
  const form = await formBody(c);
  const texts = form.has("kind") ? [faultOfForm(form)] : form.getAll("fault");
  const parsed = texts.map(parseApiFault);
  const problems = parsed.flatMap((one) => (one.ok ? [] : [{ at: "fault", message: one.message }]));
  const [first] = problems;
  if (first !== undefined) throw new ServiceProblem(422, `the fault ${first.message}`, problems);
  if (form.has("clear")) faults.clear();
  faults.add(parsed.flatMap((one) => (one.ok ? [one.value] : [])));
  return answered(c, form.has("clear") ? "faults-cleared" : "fault-set", faultsDocument(faults));
}

/** The dashboard's form has a field for each part. */
function faultOfForm(form: URLSearchParams): string {
  const count = form.get("count")?.trim() ?? "";
  return `${form.get("operation")}=${form.get("kind")}${count === "" ? "" : `:${count}`}`;
}

const faultsDocument = (faults: Faults): JsonObject => ({
  faults: faults.list().map(({ operation, words, count }) => ({
    operation,
    fault: words,
    count: count === null ? null : new JsonNumber(String(count)),
  })),
});

/** As a new sandbox, at the time and with the keys that it has. */
async function reset(
  c: Context,
  { ledger, deliveries, requests, faults }: SandboxRuntime,
): Promise<Response> {
  await deliveries.idle();
  ledger.write(() => ledger.forget());
  requests.clear();
  faults.clear();
  return answered(c, "reset", {});
}

async function rotateKeyByForm(c: Context, { keys }: SandboxRuntime): Promise<Response> {
  return answered(c, "rotated", { keyid: keys.rotate() });
}

/** Reads the dashboard's form, whose fields have the names of the request, with dots. */
async function createFromForm(c: Context, runtime: SandboxRuntime): Promise<Response> {
  const form = await formBody(c);
  try {
    const link = addLink(runtime, requestFromForm(form, runtime.clock.now()), checkoutUrl(c, runtime));
    return await redirectBack(c, "created", linkPath(link.id));
  } catch (error) {
    if (!(error instanceof ServiceProblem) || !accepts(c, "text/html")) throw error;
    const view = viewOf(c, runtime, "/links/new");
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
