/** Serves a function of Request, such as a hono application. */
import type { Handler } from "./exchange.ts";
import { targetUri, type HeaderLine, type HttpRequest } from "./message.ts";

/** What Request does not accept (no host, a target that is not a path, a GET with a body, TRACE) is a 400 without a body. */
export function handlerFromFetch(fetch: (request: Request) => Response | Promise<Response>): Handler {
  return async (message) => {
    const request = requestFromMessage(message);
    const response = request === undefined ? new Response(null, { status: 400 }) : await fetch(request);
    return {
      status: response.status,
      headers: linesOfHeaders(response.headers),
      body: new Uint8Array(await response.arrayBuffer()),
    };
  };
}

function requestFromMessage(message: HttpRequest): Request | undefined {
  const body = message.body.length > 0 ? { body: Buffer.from(message.body) } : {};
  const headers = message.headers.map(([name, value]): [string, string] => [name, value]);
  try {
    return new Request(targetUri(message), { method: message.method, headers, ...body });
  } catch {
    return undefined;
  }
}

const linesOfHeaders = (headers: Headers): HeaderLine[] => [...headers].map(([name, value]) => [name, value]);
