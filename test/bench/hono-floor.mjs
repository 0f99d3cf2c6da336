/** The floor of the sandbox's benchmark: bare hono, the same validation, and one durable write for each link. */
import { Hono } from "hono";
import { stringifyJson } from "../../src/values/json.ts";
import { parseJson } from "../../src/values/parse-json.ts";
import { checkRequest } from "../../src/domain/payment-link.ts";
import { serve } from "../../src/http/serve.ts";
import { handlerFromFetch } from "../../src/http/fetch-handler.ts";
import { openDatabase } from "../../src/store/sqlite/open.ts";

const database = openDatabase(process.argv[2] ?? "floor.db", [
  "CREATE TABLE links (id TEXT PRIMARY KEY, request TEXT)",
]);
const insert = database.prepare("INSERT INTO links VALUES (?, ?)");
const app = new Hono();
app.post("/v1/payment-links", async (c) => {
  const json = parseJson(await c.req.text());
  const { request } = checkRequest(json.ok ? json.value.value : null, new Date());
  if (request === null) return c.body("", 400);
  const id = crypto.randomUUID();
  insert.run(id, stringifyJson(request));
  return c.body(stringifyJson({ id, ...request, status: "active" }), 200, {
    "Content-Type": "application/json",
  });
});
const server = await serve(
  handlerFromFetch((request) => app.fetch(request)),
  { host: "127.0.0.1", port: 0, maxBody: 1 << 20 },
);
process.stdout.write(`${JSON.stringify({ type: "ready", url: server.url })}\n`);
// Closing it here keeps the database referenced: its statements alone do not save it from garbage collection.
process.once("SIGTERM", () => {
  database.close();
  process.exit();
});
