/** Between the project's HTTP messages and the Request and Response that hono works with. */
import type { Handler } from "../http/exchange.ts";
import { targetUri, type HeaderLine, type HttpRequest } from "../http/message.ts";
import { ServiceProblem } from "./problem.ts";

/** Serves a hono application (or any other function of Request) as a handler of messages. */
export function handlerOf(fetch: (request: Request) => Response | Promise<Response>): Handler {
  return async (message) => {
    const request = requestOf(message);
    const response = await (request === undefined ? notUnderstood() : fetch(request));
    const reply = { status: response.status, headers: linesOf(response.headers) };
    const streamed = response.headers.get("content-type")?.startsWith("text/event-stream") ?? false;
    if (streamed && response.body !== null) return { ...reply, body: response.body };
    return { ...reply, body: new Uint8Array(await response.arrayBuffer()) };
  };
}

/** Undefined where there is no such Request: no host, a target that is no path, a GET with a body, TRACE. */
function requestOf(message: HttpRequest): Request | undefined {
  const body = message.body.length > 0 ? { body: Buffer.from(message.body) } : {};
  const headers = message.headers.map(([name, value]): [string, string] => [name, value]);
  try {
    return new Request(targetUri(message), { method: message.method, headers, ...body });
  } catch {
    return undefined;
  }
}

const notUnderstood = (): Response =>
  new ServiceProblem(
    400,
    "Bad Request",
    "the request has no host, or a target or body that cannot be",
  ).toResponse();

const linesOf = (headers: Headers): HeaderLine[] => [...headers].map(([name, value]) => [name, value]);
