/** Between the project's HTTP messages and the Request and Response that hono works with. */
import type { Handler } from "../http/exchange.ts";
import { targetUri, type HeaderLine } from "../http/message.ts";

/** Serves a hono application (or any other function of Request) as a handler of messages. */
export function handlerOf(fetch: (request: Request) => Response | Promise<Response>): Handler {
  return async (message) => {
    const body = message.body.length > 0 ? { body: Buffer.from(message.body) } : {};
    const headers = message.headers.map(([name, value]): [string, string] => [name, value]);
    const response = await fetch(
      new Request(targetUri(message), { method: message.method, headers, ...body }),
    );
    const reply = { status: response.status, headers: linesOf(response.headers) };
    const streamed = response.headers.get("content-type")?.startsWith("text/event-stream") ?? false;
    if (streamed && response.body !== null) return { ...reply, body: response.body };
    return { ...reply, body: new Uint8Array(await response.arrayBuffer()) };
  };
}

const linesOf = (headers: Headers): HeaderLine[] => [...headers].map(([name, value]) => [name, value]);
