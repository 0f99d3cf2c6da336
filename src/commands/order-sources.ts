/** What says how orders stand, for the commands that ask the service and what arrived: the account at the service, the event store, and the keys whose events count. */
import type { Context } from "../context.ts";
import { PaylinkError } from "../domain/errors.ts";
import type { RunKeys } from "../events/event.ts";
import type { ListedYear } from "../reconcile/service-links.ts";
import type { ResolvedSettings } from "../settings/resolved-settings.ts";
import type { EventStore } from "../store/event-store.ts";
import { openRunKeys } from "./judge-again.ts";
import { serviceKeys } from "./shared-flags.ts";

export interface OrderSources {
  readonly year: ListedYear;
  readonly store: EventStore;
  /** Only events that one of these has verified count; undefined without a key, when all do. */
  readonly keys: RunKeys | undefined;
  readonly settings: ResolvedSettings;
}

export interface SourceValues {
  /** Empty: those of the settings. */
  readonly key: readonly string[];
  readonly db: string | undefined;
  /** Undefined: that of the settings. */
  readonly terminalId: string | undefined;
}

/** Throws `no_profile`, `no_token` or `usage` without an account that can be asked, and if a key or the store cannot be read. */
export async function openOrderSources(
  context: Context,
  { key, db, terminalId: given }: SourceValues,
): Promise<OrderSources> {
  const settings = await context.settings();
  const api = await context.api();
  const terminalId = given ?? settings.get("terminalId");
  if (terminalId === undefined)
    throw new PaylinkError(
      "usage",
      "No terminal is configured, and a service lists the links of one terminal.",
      {
        problems: [{ at: "--terminal-id", message: "is required: give it, or store it as terminalId" }],
      },
    );
  const { keySources } = serviceKeys(key, settings, undefined);
  const keys = keySources.length === 0 ? undefined : await openRunKeys(context, key, "verify");
  const store = await context.events(db);
  return { year: { listLinks: api.listLinks, terminalId, now: context.now() }, store, keys, settings };
}
