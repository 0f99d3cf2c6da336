/** The sandbox's controls: the dashboard's buttons, and `paylink sandbox advance` and `rotate-key`. */
import type { Context, Hono } from "hono";
import { parseDuration } from "../../domain/duration.ts";
import type { Problem } from "../../domain/errors.ts";
import { setAt } from "../../domain/json-paths.ts";
import type { JsonObject } from "../../domain/json.ts";
import { fieldFromText } from "../../domain/payment-link-text.ts";
import { requestFields } from "../../domain/payment-link.ts";
import { addLink, cancelLink, resendDelivery } from "../operations.ts";
import { ServiceProblem } from "../service-problem.ts";
import type { Service } from "../service.ts";
import { jsonReply } from "./api-routes.ts";
import { checkoutUrl } from "./link-routes.ts";

export function controlRoutes(app: Hono, service: Service): void {
  // The clock is no secret: `create` asks for it before it sends a token.
  app.get("/sandbox/clock", () => jsonReply(clockReply(service)));
  app.post("/sandbox/advance", (c) => advanceClock(c, service));
  app.post("/sandbox/rotate-key", () => jsonReply({ keyid: service.parts.keys.rotate() }));
  app.post("/sandbox/links", (c) => createFromForm(c, service));
  app.post("/sandbox/links/:id/cancel", async (c) => {
    await cancelLink(service, c.req.param("id"));
    return redirectToDashboard(c);
  });
  app.post("/sandbox/deliveries/:id/resend", async (c) => {
    const id = c.req.param("id");
    await resendDelivery(service, id);
    return redirectToDashboard(c, {}, `#delivery-${encodeURIComponent(id)}`);
  });
}

function clockReply({ parts: { clock } }: Service) {
  return { now: clock.now().toISOString(), own: clock.own };
}

const formBody = async (c: Context): Promise<URLSearchParams> => new URLSearchParams(await c.req.text());

/** With the key of the form, so that the dashboard keeps its controls. */
async function redirectToDashboard(
  c: Context,
  query: Readonly<Record<string, string>> = {},
  fragment = "",
): Promise<Response> {
  const key = (await formBody(c)).get("key");
  const parameters = new URLSearchParams({ ...(key === null ? {} : { key }), ...query });
  return c.redirect(`/?${parameters.toString()}${fragment}`, 303);
}

async function advanceClock(c: Context, { parts, deliveries }: Service): Promise<Response> {
  const duration = parseDuration((await formBody(c)).get("duration") ?? "");
  if (!duration.ok)
    throw new ServiceProblem(422, "Unprocessable Content", `duration ${duration.message}`, [
      { at: "duration", message: duration.message },
    ]);
  await deliveries.advance(duration.value.milliseconds);
  return jsonReply({ now: parts.clock.now().toISOString() });
}

/** The dashboard's form: its fields have the request's own names, with dots. */
async function createFromForm(c: Context, service: Service): Promise<Response> {
  const form = await formBody(c);
  const problems: Problem[] = [];
  const request: JsonObject = {};
  for (const field of requestFields()) {
    const text = form.get(field)?.trim() ?? "";
    if (text === "") continue;
    const parsed = fieldFromText(field, text, service.parts.clock.now());
    if (parsed.ok) setAt(request, field, parsed.value);
    else problems.push({ at: field, message: parsed.message });
  }
  if (problems.length > 0)
    throw new ServiceProblem(400, "Bad Request", "the form has invalid fields", problems);
  const link = await addLink(service, request, checkoutUrl(c));
  return redirectToDashboard(c, { created: link.id });
}
