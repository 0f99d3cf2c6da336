/** Finds a `listen` that runs on this machine and stores its events where this command reads them. */
import type { Context } from "../context.ts";
import { PaylinkError } from "../domain/errors.ts";
import type { Listener } from "../receiver/event-store.ts";
import type { RequestFlags } from "../service/request.ts";
import type { ResolvedSettings } from "../settings/resolved-settings.ts";

export type ListenerContext = Pick<Context, "events" | "hasEvents" | "serve">;

/** The address of a running `listen`, for links without a callback; undefined if every link has one. */
export async function unusedListener(
  { callbackUrl, failureCallbackUrl }: RequestFlags,
  settings: ResolvedSettings,
  context: ListenerContext,
): Promise<string | undefined> {
  const callbacks = [
    callbackUrl,
    failureCallbackUrl,
    settings.get("callbackUrl"),
    settings.get("failureCallbackUrl"),
  ];
  if (callbacks.some((callback) => callback !== undefined)) return undefined;
  try {
    for (const listener of await storedListeners(context))
      if (await isRunning(listener, context.serve)) return listener.address;
  } catch {
    // It only serves a warning: a store that cannot be read is no reason to end the command.
  }
  return undefined;
}

async function storedListeners({ events, hasEvents }: ListenerContext): Promise<Listener[]> {
  if (!(await hasEvents())) return [];
  const store = await events();
  try {
    return await store.listeners();
  } finally {
    await store.close();
  }
}

/** A listener that was killed is still in the store, but its port is free. */
export async function isRunning({ bound }: Listener, serve: Context["serve"]): Promise<boolean> {
  const { hostname, port } = new URL(bound);
  try {
    const server = await serve(async () => ({ status: 503, headers: [], body: new Uint8Array() }), {
      host: hostname.replace(/^\[|\]$/g, ""),
      port: Number(port || 80),
      maxBody: 0,
    });
    await server.close();
    return false;
  } catch (error) {
    if (error instanceof PaylinkError && error.code === "port_in_use") return true;
    throw error;
  }
}
