/** Names the profile and the service of a result: `profile default · api.dnapayments.com · LIVE`. */
import type { Paint } from "./paint.ts";
import { serviceLabel } from "../domain/known-services.ts";
import { parseWebAddress } from "../domain/addresses.ts";
import { safeText } from "./safe-text.ts";

/** The settings that a result came from. */
export interface NamedService {
  /** Undefined without a profile: all values come from flags and environment. */
  readonly profile: string | undefined;
  get(key: "baseUrl"): string | undefined;
}

export function renderServiceName(service: NamedService, paint: Paint): string {
  const { profile } = service;
  const baseUrl = service.get("baseUrl") ?? "";
  const label = serviceLabel(baseUrl);
  const name = profile === undefined ? "no profile" : `profile ${safeText(profile)}`;
  const host = safeText(parseWebAddress(baseUrl)?.host ?? baseUrl);
  return `${paint.dim(`${name} · ${host} ·`)} ${label === "LIVE" ? paint.yellow(label) : paint.dim(label)}`;
}
