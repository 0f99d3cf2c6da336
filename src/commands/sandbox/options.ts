/** From the flags of `sandbox` to what it runs with, with every problem by its flag. */
import { parseDuration } from "../../domain/duration.ts";
import { PaylinkError, type Problem } from "../../domain/errors.ts";
import { isLoopback } from "../../domain/web-address.ts";
import { parseWhen } from "../../domain/when.ts";
import { SCHEDULE } from "../../sandbox/deliveries.ts";
import { FAULTS, type Fault } from "../../sandbox/faults.ts";
import type { SandboxFlags } from "./command.ts";

export interface SandboxOptions {
  readonly host: string;
  readonly port: number;
  readonly db: string | undefined;
  readonly reset: boolean;
  readonly seed: number | undefined;
  readonly clock: Date | undefined;
  readonly schedule: readonly number[];
  readonly fault: Fault | undefined;
  readonly allowRemote: boolean;
}

/** Throws one `usage` failure with every problem. */
export function sandboxOptions(flags: SandboxFlags, now: Date): SandboxOptions {
  const problems: Problem[] = [];
  const complain = (at: string, message: string): undefined => void problems.push({ at, message });
  const allowRemote = flags.allowRemote ?? false;
  const { host } = flags;
  if (!allowRemote && !isLoopback(host.includes(":") ? `[${host}]` : host))
    complain("--host", "must stay on loopback, unless --allow-remote is given");
  const clock = flags.clock === undefined ? undefined : parseWhen(flags.clock, now);
  if (clock?.ok === false) complain("--clock", clock.message);
  const fault = FAULTS.find((name) => name === flags.deliver);
  if (flags.deliver !== undefined && fault === undefined)
    complain("--deliver", `must be one of ${FAULTS.join(", ")}`);
  const options = {
    host,
    port: wholeNumber(flags.port, 65535) ?? complain("--port", "must be a whole number from 0 to 65535") ?? 0,
    db: flags.db,
    reset: flags.reset ?? false,
    seed:
      flags.seed === undefined
        ? undefined
        : (wholeNumber(flags.seed, Number.MAX_SAFE_INTEGER) ?? complain("--seed", "must be a whole number")),
    clock: clock?.ok === true ? clock.value : undefined,
    schedule: flags.retry === undefined ? SCHEDULE : parseSchedule(flags.retry, complain),
    fault,
    allowRemote,
  };
  if (problems.length > 0) throw new PaylinkError("usage", "The sandbox did not start.", { problems });
  return options;
}

function parseSchedule(text: string, complain: (at: string, message: string) => undefined): number[] {
  if (text === "none") return [];
  return text.split(",").map((part) => {
    const wait = parseDuration(part);
    if (!wait.ok) complain("--retry", `${part.trim()} ${wait.message}; or none`);
    return wait.ok ? wait.value.milliseconds : 0;
  });
}

function wholeNumber(text: string, most: number): number | undefined {
  return /^\d{1,16}$/.test(text) && Number(text) <= most ? Number(text) : undefined;
}
