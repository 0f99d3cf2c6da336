/** Turns the flags that decide which signatures are accepted into a policy. */
import { parseDuration } from "../domain/duration.ts";
import type { Problem } from "../domain/errors.ts";
import { parseComponent, type Component } from "../signatures/components.ts";
import { DEFAULT_POLICY, type Policy } from "../signatures/policy.ts";

export interface AcceptanceFlags {
  readonly tolerance: string;
  readonly require?: readonly string[];
  readonly requireCreated?: boolean;
}

export interface Acceptance {
  readonly policy: Policy;
  readonly problems: readonly Problem[];
}

export function acceptance({ tolerance, require = [], requireCreated = false }: AcceptanceFlags): Acceptance {
  const problems: Problem[] = [];
  const required: Component[] = [];
  for (const text of require) {
    const parsed = parseComponent(text);
    if (parsed.ok) required.push(parsed.component);
    else problems.push({ at: `--require ${text}`, message: parsed.reason });
  }
  const age = parseDuration(tolerance);
  if (!age.ok) problems.push({ at: "--tolerance", message: age.message });
  const maxAge = age.ok ? age.value.milliseconds / 1000 : DEFAULT_POLICY.maxAge;
  return { policy: { ...DEFAULT_POLICY, requireCreated, maxAge, required }, problems };
}
