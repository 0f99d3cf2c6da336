/** `paylink sandbox`: serves the whole service on this machine, and registers itself as a profile. */
import { join } from "node:path";
import type { Context } from "../../context.ts";
import { PaylinkError } from "../../domain/errors.ts";
import { renderSandboxEvent } from "../../render/sandbox.ts";
import { createIds } from "../../sandbox/ids.ts";
import { createSandbox } from "../../sandbox/sandbox.ts";
import { readSigningKey } from "../../signatures/keys.ts";
import { openIdentity } from "../../store/sandbox-identity.ts";
import type { SandboxFlags } from "./command.ts";

/** The profile's name. */
const PROFILE = "sandbox";
/** Where `listen` listens when it is not told otherwise. */
const LISTENER = "http://127.0.0.1:4000/";
const MAX_BODY = 1024 * 1024;

export async function sandbox(context: Context, flags: SandboxFlags): Promise<void> {
  const { out, newId, now, send, serve, signal, settings, dataFolder } = context;
  const identity = openIdentity(join(dataFolder, "sandbox"), newId);
  const key = readSigningKey(identity.privateKey, identity.keyid);
  if (!key.ok) throw new PaylinkError("key_invalid", `The sandbox's own key cannot be read: ${key.reason}`);
  const service = createSandbox({
    merchant: identity,
    key: key.key,
    ids: createIds(newId),
    send,
    now,
    allowRemote: false,
    observe: (event) => out.data(renderSandboxEvent(event, now(), out)),
  });
  const faulted = (error: unknown): void => out.note(`${out.notePaint.red("✗")} ${String(error)}`);
  const port = /^\d{1,5}$/.test(flags.port) ? Number(flags.port) : 65536;
  if (port > 65535) throw new PaylinkError("usage", "--port must be a whole number from 0 to 65535.");
  const server = await serve(service.handler, { host: flags.host, port, maxBody: MAX_BODY, faulted });
  const baseUrl = server.url.replace(/\/$/, "");
  await (
    await settings()
  ).save(PROFILE, {
    baseUrl,
    token: identity.token,
    terminalId: identity.terminals[0] ?? "",
    currency: "EUR",
    customerName: "Sandbox Customer",
    callbackUrl: LISTENER,
    failureCallbackUrl: LISTENER,
    webhookKey: `${baseUrl}/.well-known/jwks.json`,
    tokenUrl: `${baseUrl}/oauth/token`,
    clientId: identity.clientId,
    clientSecret: identity.clientSecret,
  });
  if (out.json) out.data(JSON.stringify({ type: "ready", url: server.url }));
  else out.data(`Sandbox on ${out.paint.bold(server.url)}`);
  out.note(`No money moves. The profile ${PROFILE} points here; in another terminal:`);
  out.note("  paylink listen --port 4000\n  paylink create --amount 10 --currency EUR");
  await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
  await server.close();
  await service.close();
}
