/** The sandbox's controls: what its dashboard's buttons and the subcommands of `paylink sandbox` do. */
import type { Context, Hono } from "hono";
import { parseDuration } from "../domain/duration.ts";
import type { JsonObject } from "../domain/json.ts";
import { requestFields } from "../domain/payment-link.ts";
import { setAt } from "../domain/json-paths.ts";
import { fieldFromText } from "../domain/payment-link-text.ts";
import type { Problem } from "../domain/errors.ts";
import { json, keepLink } from "./api-routes.ts";
import { ServiceProblem } from "./problem.ts";
import type { Service } from "./service.ts";

export function controlRoutes(app: Hono, service: Service): void {
  app.post("/sandbox/advance", (c) => advance(c, service));
  app.post("/sandbox/rotate-key", () => json({ keyid: service.parts.keys.rotate() }));
  app.post("/sandbox/links", (c) => create(c, service));
  app.post("/sandbox/links/:id/cancel", (c) => cancel(c, service));
  app.post("/sandbox/deliveries/:id/resend", (c) => resend(c, service));
}

const formOf = async (c: Context): Promise<URLSearchParams> => new URLSearchParams(await c.req.text());

async function advance(c: Context, { parts, deliveries }: Service): Promise<Response> {
  const duration = parseDuration((await formOf(c)).get("duration") ?? "");
  if (!duration.ok)
    throw new ServiceProblem(422, "Unprocessable Content", `duration ${duration.message}`, [
      { at: "duration", message: duration.message },
    ]);
  await deliveries.advance(duration.value.milliseconds);
  return json({ now: parts.clock.now().toISOString() });
}

/** The dashboard's form: the names of its fields are the request's own, with dots. */
async function create(c: Context, service: Service): Promise<Response> {
  const form = await formOf(c);
  const problems: Problem[] = [];
  const request: JsonObject = form.get("reusable") === null ? {} : { linkOptions: {} };
  for (const field of requestFields()) {
    const text = form.get(field)?.trim() ?? "";
    if (text === "") continue;
    const parsed = fieldFromText(field, text, service.parts.clock.now());
    if (parsed.ok) setAt(request, field, parsed.value);
    else problems.push({ at: field, message: parsed.message });
  }
  if (problems.length > 0) throw new ServiceProblem(400, "Bad Request", "the form cannot be read", problems);
  const link = await keepLink(service, request, c.req.url);
  return c.redirect(`/?created=${encodeURIComponent(link.id)}`, 303);
}

async function cancel(c: Context, { parts, tell }: Service): Promise<Response> {
  const link = parts.ledger.findLink(c.req.param("id") ?? "");
  if (link === undefined) throw new ServiceProblem(404, "Not Found", "no payment link has this id");
  const cancelled = { ...link, cancelledDate: link.cancelledDate ?? parts.clock.now() };
  await parts.ledger.write(() => parts.ledger.saveLink(cancelled));
  tell({ type: "cancelled", link });
  return c.redirect("/", 303);
}

async function resend(c: Context, { parts, deliveries }: Service): Promise<Response> {
  const delivery = parts.ledger.findDelivery(c.req.param("id") ?? "");
  if (delivery === undefined) throw new ServiceProblem(404, "Not Found", "no delivery has this id");
  await parts.ledger.write(() => parts.ledger.resend(delivery.id, parts.clock.now().getTime()));
  deliveries.wake(delivery.url);
  return c.redirect(`/#delivery-${delivery.id}`, 303);
}
