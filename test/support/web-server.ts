/** Serves a handler of Web requests over node:http, as the servers of Hono and Next.js do. */
import { createServer, type IncomingMessage, type Server } from "node:http";
import { Readable } from "node:stream";

export type WebHandler = (request: Request) => Response | Promise<Response>;

export const webServer = (handle: WebHandler): Server =>
  createServer((incoming, outgoing) => {
    handOn(incoming, handle)
      .then(async (answer) =>
        outgoing.writeHead(answer.status, Object.fromEntries(answer.headers)).end(await answer.text()),
      )
      .catch(() => outgoing.writeHead(500).end());
  });

async function handOn(incoming: IncomingMessage, handle: WebHandler): Promise<Response> {
  const { method = "", url = "", headers, rawHeaders } = incoming;
  const pairs = rawHeaders.flatMap((name, at): [string, string][] =>
    at % 2 === 0 ? [[name, rawHeaders[at + 1] ?? ""]] : [],
  );
  const body = method === "GET" ? null : Readable.toWeb(incoming);
  return handle(
    new Request(`http://${headers.host ?? ""}${url}`, { method, headers: pairs, body, duplex: "half" }),
  );
}
