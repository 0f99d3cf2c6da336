/** The inspector as a server: three pages on the event store and their actions, for one person on this machine. */
import { plural } from "../values/plural.ts";
import { isSuccess } from "../http/message.ts";
import { Hono, type Context } from "hono";
import { csrf } from "hono/csrf";
import { HTTPException } from "hono/http-exception";
import { timeout } from "hono/timeout";
import { comparableText } from "../values/comparable-text.ts";
import { PaylinkError } from "../domain/errors.ts";
import { within } from "../values/time.ts";
import type { StoredEvent } from "../events/history.ts";
import type { EventStore } from "../store/event-store.ts";
import type { Serve } from "../http/exchange.ts";
import { handlerFromFetch } from "../http/fetch-handler.ts";
import type { PageAccess } from "../pages/access.ts";
import { doneAt, localPath } from "../pages/components.ts";
import { capturedRequest } from "../pages/exchange.ts";
import { serveFiles } from "../pages/files.ts";
import { kept } from "../pages/kept.ts";
import { download, htmlReply, pageHeaders } from "../pages/page.ts";
import type { Named } from "../render/hint.ts";
import { safeText } from "../render/safe-text.ts";
import { type Forward, type NewEvent, type Rejection, type RunKeys } from "../events/event.ts";
import { BODY_FILE } from "./curl.ts";
import { eventCsv, exportedRows } from "./export.ts";
import { eventPage, rejectionPage } from "./event-page.ts";
import { COUNT_LIMIT, eventNotFoundPage, type InspectorView } from "./frame.ts";
import { eventsPage } from "./lists.ts";
import { orderPage, orderPayments } from "./order.ts";
import { eventFilters, queryFrom } from "./query.ts";
import { queuePage } from "./queue.ts";
import { eventName } from "./rows.ts";

/** What is sent from the pages. Resolves with the problem of the target if nothing was sent. */
export interface EventSending {
  /** Where it goes, unless a person names another target; "" for none. */
  readonly target: string;
  /** Whether events are signed anew. */
  readonly signs: boolean;
  readonly send: (event: StoredEvent, to: string) => Promise<Forward | string>;
}

export interface InspectorParts {
  readonly store: EventStore;
  readonly profile: string | undefined;
  readonly named: Named;
  readonly access: PageAccess;
  readonly now: () => Date;
  /** The command that makes a first webhook. */
  readonly advice: string;
  /** Judges a rejection with the keys of today, as of its receipt. Undefined if it does not verify. */
  readonly verifyNow: (rejection: Rejection) => Promise<NewEvent | undefined>;
  /** The keys of this run: events of others are shown, and nothing is done to them but skipping. */
  readonly keys: () => Promise<RunKeys>;
  readonly sending: EventSending;
  /** Called with each action that was done. */
  readonly observe: (action: string, what: string) => void;
}

export function createInspector(parts: InspectorParts) {
  const { now, sending, observe, access } = parts;
  const store: EventStore = {
    ...parts.store,
    totals: kept(parts.store.totals, now),
    bars: kept(parts.store.bars, now),
    paths: kept(parts.store.paths, now),
    orders: (events) => parts.store.orders(events, () => within(VERIFY_TIMEOUT, parts.keys(), () => [])),
  };
  const app = new Hono();
  const view = async (c: Context): Promise<InspectorView> => {
    const { pathname, search } = new URL(c.req.url);
    const found = await within(VERIFY_TIMEOUT, parts.keys(), () => []);
    const keys = found.length === 0 ? undefined : found;
    const [pending, failed] = await Promise.all([
      store.count({ state: "pending", keys }, COUNT_LIMIT),
      store.count({ state: "failed", keys }, COUNT_LIMIT),
    ]);
    return {
      now: now(),
      profile: parts.profile,
      named: parts.named,
      place: store.place,
      keys,
      pending,
      failed,
      target: sending.target,
      here: localPath(pathname + search, "/"),
      done: c.req.query("done"),
    };
  };
  app.use(async (c, next) => {
    if (!access.isHere(c)) throw new HTTPException(421, { message: OPEN_INSPECTOR });
    return next();
  });
  app.use(...pageHeaders, csrf(), access.exchange);
  app.use(async (c, next) => {
    if (!access.isHeldBy(c)) throw new HTTPException(403, { message: OPEN_INSPECTOR });
    return next();
  });
  serveFiles(app, "inspector");
  // A file may take longer than a page.
  app.get("/export.csv", async (c) => {
    const { query, problem } = queryFrom(eventFilters(c.req.query()), await view(c));
    if (problem !== undefined) return textRefusal(400, problem);
    return download("paylink-events.csv", eventCsv(await exportedRows(store, query)));
  });
  app.get("*", timeout(READ_TIMEOUT, new HTTPException(503, { message: TOO_SLOW })));
  app.get("/", async (c) => htmlReply(await eventsPage(await view(c), store, c.req.query(), parts.advice)));
  app.get("/queue", async (c) => htmlReply(await queuePage(await view(c), store)));
  app.get("/orders/:number", async (c) => {
    const shown = await view(c);
    const number = comparableText(c.req.param("number"));
    const order = await orderPayments(store, number, shown);
    if (order !== undefined) return htmlReply(orderPage(shown, order));
    // The list finds the payments of a reusable link by its number, each an order of its own.
    const isBeginning = (await store.count({ order: number }, 1)) > 0;
    return isBeginning ? c.redirect(`/?${new URLSearchParams({ text: number }).toString()}`) : c.notFound();
  });
  app.get("/events/:id", async (c) => {
    const found = await store.findOne(c.req.param("id"));
    const shown = await view(c);
    return htmlReply(
      found.type === "event"
        ? eventPage(shown, found, {
            history: await store.history(found.id),
            order:
              found.reference === ""
                ? undefined
                : await orderPayments(store, found.reference, shown, found.key),
            signs: sending.signs,
          })
        : rejectionPage(
            shown,
            found,
            (await within(VERIFY_TIMEOUT, parts.verifyNow(found), () => undefined)) !== undefined,
          ),
    );
  });
  app.get("/events/:id/:file{body|request}", async (c) => {
    const { request, receivedAt } = await store.findOne(c.req.param("id"));
    if (request === null) return c.notFound();
    return c.req.param("file") === "body"
      ? download(BODY_FILE, request.body)
      : download("webhook-request.json", capturedRequest(request, receivedAt));
  });

  const formOf = async (c: Context): Promise<URLSearchParams> => new URLSearchParams(await c.req.text());
  /** Reports an action, and leads back to the page that its form was on. */
  const finish = async (c: Context, done: string, what: string): Promise<Response> => {
    observe(done.replace(/-\d+$/, ""), what);
    const back = localPath((await formOf(c)).get("back"), "/");
    return c.redirect(doneAt(back, done), 303);
  };
  const eventIn = async (c: Context): Promise<StoredEvent | undefined> => {
    const found = await store.findOne(c.req.param("id") ?? "");
    return found.type === "event" ? found : undefined;
  };
  app.post("/events/:id/:order{retry|skip}", async (c) => {
    const event = await eventIn(c);
    if (event === undefined) return c.notFound();
    const order = c.req.param("order") === "skip" ? "skip" : "retry";
    const events = { ids: [event.id] };
    const changed = await (order === "skip" ? store.skip(events) : store.retry(events, await parts.keys()));
    return finish(c, changed.length === 0 ? "busy" : order, eventName(event));
  });
  app.post("/events/:id/send", async (c) => {
    const event = await eventIn(c);
    if (event === undefined) return c.notFound();
    if (!(await parts.keys()).includes(event.key)) return finish(c, "other-key", eventName(event));
    const forward = await sending.send(event, (await formOf(c)).get("to")?.trim() || sending.target);
    if (typeof forward === "string") return finish(c, "target", eventName(event));
    await store.replayed(event.id, forward, false);
    return finish(c, isSuccess(forward.status) ? "sent" : "unsent", eventName(event));
  });
  app.post("/events/:id/accept", async (c) => {
    const found = await store.findOne(c.req.param("id"));
    if (found.type !== "rejected") return c.notFound();
    const event = await parts.verifyNow(found);
    if (event !== undefined) await store.accept(event);
    return finish(c, event === undefined ? "refused" : "accepted", found.id);
  });
  app.post("/retry-all", async (c) => {
    const { length: count } = await store.retry({}, await parts.keys());
    return finish(c, `retry-${count}`, plural(count, "event"));
  });

  app.notFound(async (c) => htmlReply(eventNotFoundPage(await view(c)), 404));
  app.onError((error, c) => {
    if (error instanceof HTTPException) return textRefusal(error.status, error.message || WRONG_PAGE);
    if (error instanceof PaylinkError && error.code === "event_not_found") return c.notFound();
    if (error instanceof PaylinkError) return textRefusal(503, error.message);
    throw error;
  });
  return handlerFromFetch((request) => app.fetch(request));
}

/** Milliseconds. If the address of the keys hangs, the page is shown without them, and its next update asks again. */
const VERIFY_TIMEOUT = 1_000;

/** Milliseconds for a page; a server ends what is still being read by then. */
export const READ_TIMEOUT = 5_000;
const TOO_SLOW = `The store did not answer in ${READ_TIMEOUT / 1000} s. Reload the page to try again.`;
const OPEN_INSPECTOR =
  "Open the last address that paylink inspect printed in its terminal: each address works once, for one browser.";
const WRONG_PAGE = "The request came from a page of another origin.";

/** A client without access learns nothing, not even which store this is. */
const textRefusal = (status: number, words: string): Response =>
  new Response(`${safeText(words)}\n`, { status, headers: { "Content-Type": "text/plain; charset=utf-8" } });

/** Bytes; a form has a target and an address of a page. */
const MAX_FORM = 64 * 1024;

export async function startInspector(
  parts: InspectorParts & {
    readonly serve: Serve;
    readonly port: number;
    readonly faulted: (error: unknown) => void;
  },
) {
  const { serve, port, faulted } = parts;
  const server = await serve(createInspector(parts), { host: "127.0.0.1", port, maxBody: MAX_FORM, faulted });
  return { url: server.url, close: () => server.close() };
}
