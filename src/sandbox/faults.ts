/** Makes the API fail on purpose: the faults that are set, how often each still applies, and what it does to an answer. */
import { setTimeout as sleep } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import type { ApiFault } from "./api-faults.ts";
import { operationAt, type OperationName } from "../domain/operations.ts";
import type { Handler } from "../http/exchange.ts";
import type { HttpReply, HttpRequest } from "../http/message.ts";

/** An answer of the API, with the fault that was applied to it. */
export interface FaultedReply {
  readonly reply: HttpReply;
  readonly fault: ApiFault | undefined;
}

export type Faults = ReturnType<typeof createFaults>;

/** The first fault of an operation that is not used up applies. */
export function createFaults(initial: readonly ApiFault[]) {
  let set = initial;
  const apply = ({ method, target }: HttpRequest): ApiFault | undefined => {
    const [path = ""] = target.split("?", 1);
    const operation = operationAt(method, path);
    const fault = set.find((one) => one.operation === operation);
    if (fault?.count != null)
      set = set.flatMap((one) => {
        if (one !== fault) return [one];
        return fault.count === 1 ? [] : [{ ...fault, count: (fault.count ?? 0) - 1 }];
      });
    return fault;
  };
  return {
    list: (): readonly ApiFault[] => set,
    /** Another fault of an operation replaces the one before. */
    add: (faults: readonly ApiFault[]): void => {
      set = [...set.filter(({ operation }) => faults.every((one) => one.operation !== operation)), ...faults];
    },
    clear: (): void => void (set = []),
    /** The API's answer, changed by the fault that applies to the request. */
    answer: async (message: HttpRequest, handler: Handler): Promise<FaultedReply> => {
      const fault = apply(message);
      return { fault, reply: await faultedReply(fault, message, handler) };
    },
  };
}

async function faultedReply(
  fault: ApiFault | undefined,
  message: HttpRequest,
  handler: Handler,
): Promise<HttpReply> {
  switch (fault?.kind.type) {
    case undefined:
    case "lost":
      return handler(message);
    case "late": {
      const reply = await handler(message);
      // A sandbox that ends does not wait for it.
      await sleep(fault.kind.milliseconds, undefined, { ref: false });
      return reply;
    }
    case "gzip": {
      const { status, headers, body } = await handler(message);
      return { status, headers: [...headers, ["Content-Encoding", "gzip"]], body: gzipSync(body) };
    }
    case "html":
      return {
        status: 503,
        headers: [["Content-Type", "text/html; charset=utf-8"]],
        body: bytesOf(ERROR_PAGE),
      };
    case "status":
      return errorReply(fault.operation, fault.kind.status);
  }
}

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

const ERROR_PAGE =
  "<html><head><title>503 Service Temporarily Unavailable</title></head><body><h1>503 Service Temporarily Unavailable</h1></body></html>\n";

/** Seconds that a client is asked to wait. */
const RETRY_AFTER_SECONDS = "1";

/** The service's own error; of the token endpoint, that of RFC 6749 5.2. */
function errorReply(operation: OperationName, status: number): HttpReply {
  const message = `a fault that was set on this sandbox: ${operation}=${status}`;
  const body =
    operation === "token"
      ? { error: status < 500 ? "invalid_client" : "server_error", error_description: message }
      : { code: status, message };
  return {
    status,
    headers: [
      ["Content-Type", "application/json"],
      ...(status === 429 ? ([["Retry-After", RETRY_AFTER_SECONDS]] as const) : []),
      ...(status === 401 ? ([["WWW-Authenticate", "Bearer"]] as const) : []),
    ],
    body: bytesOf(JSON.stringify(body)),
  };
}
