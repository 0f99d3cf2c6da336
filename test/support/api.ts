/** The client of a service with real sockets and retries that do not wait. */
import { createApi, type ServiceForm } from "../../src/service/client.ts";
import { withRetries, type Wait } from "../../src/service/retries.ts";
import { fixedToken, type TokenSource } from "../../src/service/tokens.ts";
import { SPECIFIED_FORM } from "../../src/domain/known-services.ts";
import type { TlsFiles } from "../../src/http/exchange.ts";
import { openSender } from "./sender.ts";

const NOW = new Date("2026-11-21T10:00:00Z");
export const TOKEN = "secret-token-1";

interface Options extends Partial<ServiceForm> {
  readonly tokens?: TokenSource;
  readonly timeout?: number;
  readonly clientCertificate?: TlsFiles;
}

export function apiAt(baseUrl: string, options: Options = {}) {
  const waits: Wait[] = [];
  let ids = 0;
  const send = withRetries({
    send: openSender(),
    now: () => NOW,
    random: () => 0.5,
    pause: async () => undefined,
    waiting: (wait) => waits.push(wait),
    timeLeft: () => Number.POSITIVE_INFINITY,
  });
  const api = createApi({
    ...SPECIFIED_FORM,
    send,
    baseUrl,
    tokens: fixedToken(TOKEN),
    timeout: 30_000,
    newId: () => `id-${++ids}`,
    ...options,
  });
  return { api, waits };
}
