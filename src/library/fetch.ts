/** Fetches keys with the runtime's `fetch`, within a limit of time and size, and without following redirects. */
import { systemReason } from "../domain/system-reason.ts";
import { SendError, type Send } from "../http/exchange.ts";
import { targetUri, type HeaderLine } from "../http/message.ts";
import { webBody } from "./request-body.ts";

/** Bytes; a key set has a few KiB. */
const MAX_REPLY = 1024 * 1024;

export const sendByFetch =
  (fetch: (url: string, init: RequestInit) => Promise<Response>): Send =>
  async (request, { timeout = 10_000 } = {}) => {
    const { method } = request;
    try {
      const response = await fetch(targetUri(request), {
        method,
        headers: request.headers.map(([name, value]): [string, string] => [name, value]),
        redirect: "manual",
        signal: AbortSignal.timeout(timeout),
      });
      const body = await webBody(response.body, response.bodyUsed, MAX_REPLY);
      if (body.kind !== "bytes") throw new SendError("its answer is incomplete or too large", true);
      const headers: HeaderLine[] = [];
      response.headers.forEach((value, name) => headers.push([name, value]));
      return { status: response.status, headers, body: body.bytes };
    } catch (error) {
      throw error instanceof SendError ? error : new SendError(reasonOf(error), true, error);
    }
  };

/** `fetch` hides its reason in the cause. */
const reasonOf = (error: unknown): string =>
  systemReason(error instanceof Error && error.cause !== undefined ? error.cause : error);
