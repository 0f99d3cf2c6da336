/** A server that answers with whatever bytes a test wants, or with none: what no HTTP library would send. */
import { createServer, type Socket } from "node:net";
import { onTestFinished } from "vitest";
import { listenOnFreePort } from "./ports.ts";

export interface RawServer {
  readonly url: string;
  readonly port: number;
  /** Every complete request, head and body, in order. */
  readonly requests: readonly string[];
}

/** `answer` is called once for each whole request, with its number from 1; `greet` once for each connection. */
export async function rawServer(
  answer: (socket: Socket, count: number) => void,
  greet?: (socket: Socket) => void,
): Promise<RawServer> {
  const requests: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    let text = "";
    socket.on("error", () => undefined);
    greet?.(socket);
    socket.on("data", (chunk: Buffer) => {
      text += chunk.toString("latin1");
      for (let length = wholeLength(text); length !== undefined; length = wholeLength(text)) {
        requests.push(text.slice(0, length));
        text = text.slice(length);
        answer(socket, requests.length);
      }
    });
  });
  const port = await listenOnFreePort(server);
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
  });
  return { url: `http://127.0.0.1:${port}`, port, requests };
}

function wholeLength(text: string): number | undefined {
  const head = text.indexOf("\r\n\r\n");
  if (head < 0) return undefined;
  const [, length = "0"] = /\r\ncontent-length: *(\d+)/i.exec(text.slice(0, head + 2)) ?? [];
  const whole = head + 4 + Number(length);
  return text.length < whole ? undefined : whole;
}

export function reply(
  status: number,
  body: string,
  headers: Readonly<Record<string, string>> = { "Content-Type": "application/json" },
): (socket: Socket) => void {
  const lines = Object.entries({ ...headers, "Content-Length": String(Buffer.byteLength(body)) });
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join("");
  return (socket) => socket.write(`HTTP/1.1 ${status} X\r\n${head}\r\n${body}`);
}

/** The body of a 503 by the service itself: a gateway has no code of the service. */
export const MAINTENANCE = '{"code":503,"message":"maintenance"}';
