/** Sends a control request to the sandbox, such as a new clock or a fault. */
import type { Send } from "../http/exchange.ts";
import { addressOf } from "../http/message.ts";
import { failureOf, refusalOf } from "./failures.ts";

interface Target {
  readonly baseUrl: URL;
  readonly token: string;
}

/** Milliseconds: advancing the clock far waits for every delivery attempt in between. */
const TIMEOUT = 600_000;

/** Returns the JSON of the sandbox unchanged. */
export async function control(
  send: Send,
  { baseUrl, token }: Target,
  path: string,
  form: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<string> {
  const reply = await send(
    {
      method: "POST",
      ...addressOf(baseUrl),
      target: path,
      headers: [
        ["Accept", "application/json"],
        ["Authorization", `Bearer ${token}`],
        ["Content-Type", "application/x-www-form-urlencoded"],
      ],
      body: new TextEncoder().encode(new URLSearchParams(form).toString()),
    },
    { timeout: TIMEOUT, signal },
  ).catch((error: unknown) => {
    throw failureOf(error, "reads");
  });
  if (reply.status !== 200) throw refusalOf(reply, "reads");
  return new TextDecoder().decode(reply.body);
}
