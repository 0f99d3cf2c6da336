/** The sandbox's controls, for the commands that turn them. */
import type { Send } from "../http/exchange.ts";
import { addressOf } from "../http/message.ts";
import { failureOf, refusalOf } from "./refusals.ts";

interface Target {
  readonly baseUrl: URL;
  readonly token: string;
}

/** Milliseconds: a clock that is moved far waits for every attempt on the way. */
const TIMEOUT = 600_000;

/** Posts to one of the controls and gives the sandbox's own JSON. */
export async function control(
  send: Send,
  { baseUrl, token }: Target,
  path: string,
  form: Readonly<Record<string, string>>,
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
    { timeout: TIMEOUT },
  ).catch((error: unknown) => {
    throw failureOf(error, "reads");
  });
  if (reply.status !== 200) throw refusalOf(reply, "reads");
  return new TextDecoder().decode(reply.body);
}
