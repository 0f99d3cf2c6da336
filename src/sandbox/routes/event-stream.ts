/** The stream of server-sent events that tells an open dashboard which rows have changed. */
import type { Hono } from "hono";
import type { Service } from "../service.ts";

/** Milliseconds between comments in the stream: writing them reveals closed connections. */
const HEARTBEAT = 15_000;
/** Events that may wait for a slow reader. Beyond them it is disconnected, and fetches everything when it reconnects. */
const WAITING = 1_000;

export function eventRoutes(app: Hono, service: Service, stop: AbortSignal): void {
  app.get("/sandbox/events", () => eventStream(service, stop));
}

function eventStream(service: Service, stop: AbortSignal): Response {
  const encoder = new TextEncoder();
  let cleanUp = (): void => undefined;
  const body = new ReadableStream<Uint8Array>({
    start: (stream) => {
      const enqueue = (text: string): void => stream.enqueue(encoder.encode(text));
      const write = (text: string): void => {
        enqueue(text);
        if ((stream.desiredSize ?? 0) < -WAITING) disconnect();
      };
      const disconnect = (): void => {
        cleanUp();
        stream.close();
      };
      const unsubscribe = service.subscribe((change) => write(`data: ${JSON.stringify(change)}\n\n`));
      const heartbeat = setInterval(() => write(": heartbeat\n\n"), HEARTBEAT);
      const end = (): void => {
        // Lets pages show that the sandbox was stopped, not that the connection was lost.
        enqueue("event: stopped\ndata:\n\n");
        disconnect();
      };
      cleanUp = () => {
        clearInterval(heartbeat);
        unsubscribe();
        stop.removeEventListener("abort", end);
      };
      stop.addEventListener("abort", end);
      enqueue("retry: 1000\n\n");
    },
    cancel: () => cleanUp(),
  });
  return new Response(body, {
    headers: { "Content-Type": "text/event-stream", "Cache-Control": "no-store" },
  });
}
