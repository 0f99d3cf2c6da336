/** Controls a running sandbox, and asks it for the time of its clock. */
import { type Send, SendError } from "../http/exchange.ts";
import { addressOf } from "../http/message.ts";
import { isJsonObject, memberOf } from "../domain/json.ts";
import { parseJson } from "../domain/parse-json.ts";
import { parseInstant } from "../domain/time.ts";
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
    throw failureOf(error, "control");
  });
  if (reply.status !== 200) throw refusalOf(reply, "control");
  return new TextDecoder().decode(reply.body);
}

/** Milliseconds: a sandbox answers at once, and without an answer the machine's time is good enough. */
const CLOCK_TIMEOUT = 2000;

/** The time at a sandbox whose clock was stopped or moved; undefined if it follows the machine's, or does not answer. */
export async function ownTime(send: Send, baseUrl: URL): Promise<Date | undefined> {
  const request = {
    method: "GET",
    ...addressOf(baseUrl),
    target: "/sandbox/clock",
    headers: [["Accept", "application/json"]] as const,
    body: new Uint8Array(),
  };
  // Not as a timeout of the exchange: the connection then serves the requests that follow (startup bench).
  const signal = AbortSignal.timeout(CLOCK_TIMEOUT);
  const reply = await send(request, { signal }).catch((error: unknown) => {
    if (error instanceof SendError || signal.aborted) return undefined;
    throw error;
  });
  if (reply?.status !== 200) return undefined;
  const parsed = parseJson(new TextDecoder().decode(reply.body));
  if (!parsed.ok || !isJsonObject(parsed.value.value)) return undefined;
  const clock = parsed.value.value;
  const now = memberOf(clock, "now");
  return memberOf(clock, "own") === true && typeof now === "string" ? parseInstant(now) : undefined;
}
