/** The result of one check of an account, and the parts of an account that checks look at. */
import { PaylinkError, type CommandLine, type Hint } from "../domain/errors.ts";
import type { ResolvedSettings } from "../settings/resolved-settings.ts";
import type { ConfigKey } from "../settings/setting-table.ts";

export type CheckState = "ok" | "warning" | "failed" | "skipped";

export interface Check {
  readonly check: string;
  readonly state: CheckState;
  readonly detail: string;
  /** What to do about it. */
  readonly remedies: readonly Hint[];
  /** Only a failed check has one; its code gives the exit code. */
  readonly failure?: PaylinkError;
}

/** An account, stored or not. */
export interface Account {
  readonly settings: ResolvedSettings;
  /** How the user sets a value: with `login` or `config set`. */
  readonly fix: (key: ConfigKey, value: string) => CommandLine;
}

export const passed = (check: string, detail: string): Check => ({
  check,
  state: "ok",
  detail,
  remedies: [],
});

/** Not configured and not needed, or not checked because an earlier check failed. */
export const skipped = (check: string, detail: string, ...remedies: readonly Hint[]): Check => ({
  check,
  state: "skipped",
  detail,
  remedies,
});

export const warned = (check: string, detail: string, ...remedies: readonly Hint[]): Check => ({
  check,
  state: "warning",
  detail,
  remedies,
});

/** `remedies` replace the failure's own hints. */
export const failed = (check: string, failure: PaylinkError, ...remedies: readonly Hint[]): Check => ({
  check,
  state: "failed",
  detail: failure.message,
  remedies: remedies.length > 0 ? remedies : failure.hints,
  failure,
});

/** The failure as a value. Bugs and interruptions are thrown. */
export async function attempt<T>(action: Promise<T>): Promise<T | PaylinkError> {
  return action.catch((error: unknown) => {
    if (error instanceof PaylinkError && error.exit < 100 && error.code !== "internal") return error;
    throw error;
  });
}
