/** The flags that say which signatures are accepted, as the policy that webhooks are verified by. */
import { accepted, refused, type Parsed } from "../domain/parse-result.ts";
import { parseComponent, type Component } from "../signatures/components.ts";
import { DEFAULT_POLICY, type Policy } from "../signatures/policy.ts";
import type { FlagReader, ReadValue } from "./flag-reader.ts";
import { parseMilliseconds } from "./flag-values.ts";

export interface PolicyFlags {
  readonly tolerance: string;
  readonly require?: readonly string[];
  readonly requireCreated?: boolean;
}

export function readPolicy(
  reader: FlagReader,
  { tolerance, require, requireCreated = false }: PolicyFlags,
): ReadValue<Policy> {
  const maxAge = reader.read("--tolerance", tolerance, parseMilliseconds);
  const required = reader.readAll("--require", require, parseRequired);
  return {
    get value() {
      return { ...DEFAULT_POLICY, requireCreated, maxAge: maxAge.value / 1000, required: required.value };
    },
  };
}

function parseRequired(text: string): Parsed<Component> {
  const parsed = parseComponent(text);
  return parsed.ok ? accepted(parsed.component) : refused(parsed.reason);
}
