/** A sender with real sockets, closed at the end of the test. */
import { onTestFinished } from "vitest";
import { createSender, type SenderParts } from "../../src/http/send.ts";
import type { Send } from "../../src/http/exchange.ts";

export const USER_AGENT = "paylink/0.0.0";

export function openSender(parts: Partial<SenderParts> = {}): Send {
  const sender = createSender({
    httpsProxy: undefined,
    noProxy: undefined,
    userAgent: USER_AGENT,
    ...parts,
  });
  onTestFinished(() => sender.close());
  return sender.send;
}
