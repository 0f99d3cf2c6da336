/** How each framework gives access to the bytes of a body, for everybody whose body was parsed before it was verified. */

export type Framework = "express" | "fastify" | "next" | "hono";

export const RAW_BODY_FIXES: Readonly<Record<Framework, string>> = {
  express: 'Express: express.raw({ type: "application/json" }) on this route, ahead of express.json()',
  fastify:
    'Fastify: addContentTypeParser("application/json", { parseAs: "buffer" }, (request, body, done) => done(null, body))',
  next: "Next.js: in a route handler, verify ahead of request.json(); under pages/api, export const config = { api: { bodyParser: false } }",
  hono: "Hono: verify ahead of c.req.json(); the bytes are in await c.req.arrayBuffer()",
};
