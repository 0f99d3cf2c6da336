/** Recognises a stopped sandbox: an exchange that fails at the address where the sandbox was registered. */
import { isLoopback, parseWebAddress } from "../domain/addresses.ts";
import { SandboxNotRunning, SendError, SendTimeout } from "../http/exchange.ts";
import type { HttpRequest } from "../http/message.ts";

/** The failure to throw instead; `registered` gives the base URL of the sandbox's profile. */
export async function nameStoppedSandbox(
  error: unknown,
  { scheme, authority }: HttpRequest,
  registered: () => Promise<string | undefined>,
): Promise<unknown> {
  if (!(error instanceof SendError) || error.sent || error instanceof SendTimeout) return error;
  const asked = parseWebAddress(`${scheme}://${authority}`);
  if (asked === undefined || !isLoopback(asked.hostname)) return error;
  const sandbox = parseWebAddress((await registered()) ?? "");
  return sandbox !== undefined && isLoopback(sandbox.hostname) && asked.port === sandbox.port
    ? new SandboxNotRunning("the sandbox is not running", false, error)
    : error;
}
