/** The client of a service with real sockets and retries that do not wait. */
import { createApi, type ApiParts } from "../../src/service/client.ts";
import { withRetries, type Wait } from "../../src/service/retries.ts";
import { fixedToken, tokensByCredentials, type TokenSource } from "../../src/service/tokens.ts";
import { TRANSACTION_PATH } from "../../src/domain/known-services.ts";
import { SYSTEM_TIMERS } from "../../src/values/timers.ts";
import { NOT_SHARED } from "../../src/settings/token-files.ts";
import { openSender } from "./sender.ts";

const NOW = new Date("2026-11-21T10:00:00Z");
export const TOKEN = "secret-token-1";

export function apiAt(
  baseUrl: string,
  options: Partial<Pick<ApiParts, "tokens" | "timeout" | "transactionUrl">> = {},
) {
  const waits: Wait[] = [];
  const send = withRetries({
    send: openSender(),
    now: () => NOW,
    timers: SYSTEM_TIMERS,
    random: () => 0.5,
    pause: async () => undefined,
    waiting: (wait) => waits.push(wait),
    timeLeft: () => Number.POSITIVE_INFINITY,
  });
  const api = createApi({
    send,
    now: () => NOW,
    sent: () => NOW,
    awaiting: () => undefined,
    baseUrl,
    tokens: fixedToken(TOKEN),
    timeout: 30_000,
    transactionUrl: TRANSACTION_PATH,
    ...options,
  });
  return { api, waits };
}

/** The tokens of client credentials, from this endpoint. */
export function tokensAt(tokenUrl: string): TokenSource {
  return tokensByCredentials({
    credentials: { tokenUrl, clientId: "shop", clientSecret: "s3cret", scope: "pay_by_link", auth: "post" },
    send: openSender(),
    now: () => NOW,
    timeout: 30_000,
    pause: async () => undefined,
    shared: NOT_SHARED,
  });
}
