/** The operations on payment links: create, list, details, update and cancel. */
import type { Context, Hono } from "hono";
import { type Json } from "../../domain/json.ts";
import { parseJson } from "../../domain/parse-json.ts";
import { linkResponse, type Link } from "../links.ts";
import { addLink, cancelLink, listLinks, ownLink, updateLink } from "../operations.ts";
import { ServiceProblem } from "../service-problem.ts";
import type { Service } from "../service.ts";
import { jsonReply } from "./api-routes.ts";

const LINKS = "/v1/payment-links";

export function linkRoutes(app: Hono, service: Service): void {
  const shown = (c: Context, link: Link) => linkResponse(link, checkoutUrl(c), service.parts.clock.now());
  app.post(LINKS, async (c) => {
    const link = await addLink(service, await jsonBody(c), checkoutUrl(c));
    return jsonReply(shown(c, link));
  });
  app.get(LINKS, (c) => {
    const { totalCount, records } = listLinks(service, c.req.query());
    return jsonReply({ totalCount, records: records.map((link) => shown(c, link)) });
  });
  app.get(`${LINKS}/:id`, (c) => jsonReply(shown(c, ownLink(service, c.req.param("id")))));
  app.patch(`${LINKS}/:id`, async (c) => {
    const changes = await jsonBody(c);
    return jsonReply(shown(c, await updateLink(service, c.req.param("id"), changes)));
  });
  app.post(`${LINKS}/:id/cancel`, async (c) =>
    jsonReply(shown(c, await cancelLink(service, c.req.param("id")))),
  );
}

/** The checkout's URL at the address that the client used for the sandbox. */
export const checkoutUrl = (c: Context): string => new URL("/pay", c.req.url).href;

async function jsonBody(c: Context): Promise<Json> {
  const [mediaType = ""] = (c.req.header("content-type") ?? "").split(";", 1);
  if (mediaType.trim().toLowerCase() !== "application/json")
    throw new ServiceProblem(415, "Unsupported Media Type", "Content-Type must be application/json");
  const parsed = parseJson(await c.req.text());
  if (!parsed.ok) throw new ServiceProblem(400, "Bad Request", `the body ${parsed.message}`);
  return parsed.value.value;
}
