/** The policy that webhooks are verified by, from the flags and settings. */
import { accepted, refused, type Parsed } from "../domain/parse-result.ts";
import { parseComponent, type Component } from "../signatures/components.ts";
import { DEFAULT_POLICY, type Policy } from "../signatures/policy.ts";
import type { ResolvedSettings } from "../settings/resolved-settings.ts";
import type { FlagReader, ReadValue } from "./flag-reader.ts";
import { parseMilliseconds } from "./flag-values.ts";

export interface PolicyFlags {
  readonly tolerance?: string;
  readonly require?: readonly string[];
  readonly requireCreated?: boolean | undefined;
}

export function readPolicy(
  reader: FlagReader,
  flags: PolicyFlags,
  settings: ResolvedSettings,
): ReadValue<Policy> {
  const tolerance = reader.read("--tolerance", settings.get("tolerance", flags.tolerance), parseMilliseconds);
  const required = reader.readAll("--require", flags.require, parseRequired);
  const requireCreated = settings.get("requireCreated", flags.requireCreated);
  return {
    get value() {
      const { value: milliseconds } = tolerance;
      return {
        ...DEFAULT_POLICY,
        ...(requireCreated === undefined ? {} : { requireCreated }),
        ...(milliseconds === undefined ? {} : { maxAge: milliseconds / 1000 }),
        required: required.value,
      };
    },
  };
}

function parseRequired(text: string): Parsed<Component> {
  const parsed = parseComponent(text);
  return parsed.ok ? accepted(parsed.component) : refused(parsed.reason);
}
