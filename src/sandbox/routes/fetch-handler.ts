/** Converts the project's HTTP messages to and from the Request and Response that hono works with. */
import type { Handler } from "../../http/exchange.ts";
import { targetUri, type HeaderLine, type HttpRequest } from "../../http/message.ts";
import { ServiceProblem } from "../service-problem.ts";

/** Serves a hono application, or any other function of Request. */
export function handlerFromFetch(fetch: (request: Request) => Response | Promise<Response>): Handler {
  return async (message) => {
    const request = requestFromMessage(message);
    const response = await (request === undefined ? badRequest() : fetch(request));
    const reply = { status: response.status, headers: headerLines(response.headers) };
    const streamed = response.headers.get("content-type")?.startsWith("text/event-stream") ?? false;
    if (streamed && response.body !== null) return { ...reply, body: response.body };
    return { ...reply, body: new Uint8Array(await response.arrayBuffer()) };
  };
}

/** Undefined for what Request does not accept: no host, a target that is not a path, a GET with a body, TRACE. */
function requestFromMessage(message: HttpRequest): Request | undefined {
  const body = message.body.length > 0 ? { body: Buffer.from(message.body) } : {};
  const headers = message.headers.map(([name, value]): [string, string] => [name, value]);
  try {
    return new Request(targetUri(message), { method: message.method, headers, ...body });
  } catch {
    return undefined;
  }
}

const badRequest = (): Response =>
  new ServiceProblem(
    400,
    "Bad Request",
    "the request has no host, or an invalid method, target or body",
  ).toResponse();

const headerLines = (headers: Headers): HeaderLine[] => [...headers].map(([name, value]) => [name, value]);
