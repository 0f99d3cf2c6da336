/** How each framework gives access to the bytes of a body, for the hint about a body that was parsed before verifying. */

export type Framework = "express" | "fastify" | "next" | "hono";

export const RAW_BODY_FIXES: Readonly<Record<Framework, string>> = {
  express: 'Express: express.raw({ type: "application/json" }) on this route, before express.json()',
  fastify:
    'Fastify: addContentTypeParser("application/json", { parseAs: "buffer" }, (request, body, done) => done(null, body))',
  next: "Next.js: in a route handler, verify before request.json(); under pages/api, export const config = { api: { bodyParser: false } }",
  hono: "Hono: verify before c.req.json(); the bytes are in await c.req.arrayBuffer()",
};
