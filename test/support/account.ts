/** An account from the environment at a service with one answer, and a command line that creates a link there. */
import type { Send } from "../../src/http/exchange.ts";

/** Nothing listens at its address. */
export const ACCOUNT = {
  PAYLINK_BASE_URL: "http://127.0.0.1:1",
  PAYLINK_TOKEN: "token-1",
  PAYLINK_TERMINAL_ID: "1234567890",
  PAYLINK_CALLBACK_URL: "https://shop.example/webhooks",
};

/** `create`, with all that the account leaves open. */
export const CREATE = ["create", "--amount", "10", "--currency", "EUR", "--customer-name", "Ada Lovelace"];

/** The account at a service that answers so, and the requests that the service got, each with its time limit. */
export function answering(status: number, body = "", type?: string) {
  const requests: { line: string; body: unknown; timeout: number | undefined }[] = [];
  const send: Send = async (request, { timeout } = {}) => {
    const text = new TextDecoder().decode(request.body);
    const line = `${request.method} ${request.target}`;
    requests.push({ line, body: text === "" ? undefined : JSON.parse(text), timeout });
    const headers = type === undefined ? [] : [["Content-Type", type] as const];
    return { status, headers, body: new TextEncoder().encode(body) };
  };
  return { env: ACCOUNT, send, requests };
}

/** The network of a run that must not send anything. */
export const never: Send = () => Promise.reject(new Error("nothing should have been sent"));
