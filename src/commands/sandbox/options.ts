/** Turns the flags of `sandbox` into what it runs with. */
import { accepted, refused, type Parsed } from "../../domain/parse-result.ts";
import { hostnameOf, isLoopback } from "../../domain/addresses.ts";
import { parseWhen } from "../../domain/time.ts";
import { FAULTS, SCHEDULE, type Fault } from "../../sandbox/deliveries.ts";
import { textProblem } from "../../sandbox/customer.ts";
import { DUPLICATE_INVOICES, type DuplicateInvoices } from "../../sandbox/service.ts";
import { SERVICE_COVER, type SignatureForm } from "../../check/signature-form.ts";
import { createFlagReader } from "../flag-reader.ts";
import { parseChoice, parseCount, parseCover, parseDelays, parsePort } from "../flag-values.ts";
import type { SandboxFlags } from "./flags.ts";

export interface SandboxOptions {
  readonly host: string;
  readonly port: number;
  /** Instead of the name in the sandbox's identity. */
  readonly merchantName: string | undefined;
  /** The file of the ledger; undefined is the usual place. */
  readonly database: string | undefined;
  readonly reset: boolean;
  readonly seed: number | undefined;
  /** The time at which the clock is stopped. */
  readonly clock: Date | undefined;
  /** Milliseconds between the attempts of a delivery. */
  readonly schedule: readonly number[];
  readonly fault: Fault | undefined;
  readonly allowRemote: boolean;
  /** How webhooks are signed. */
  readonly form: SignatureForm;
  readonly duplicateInvoices: DuplicateInvoices;
  /** As `URL.hostname` spells them. */
  readonly allowedHosts: readonly string[];
  readonly insecure: boolean;
}

/** Throws one `usage` error with every problem. */
export function sandboxOptions(flags: SandboxFlags, now: Date): SandboxOptions {
  const reader = createFlagReader();
  const { host, allowRemote = false } = flags;
  const merchantName = reader.read("--merchant-name", flags.merchantName, parseName);
  const port = reader.read("--port", flags.port, parsePort);
  const seed = reader.read("--seed", flags.seed, parseCount(0, Number.MAX_SAFE_INTEGER));
  const clock = reader.read("--clock", flags.clock, (text) => parseWhen(text, now));
  const schedule = reader.read("--retry", flags.retry, parseDelays);
  const fault = reader.read("--deliver", flags.deliver, parseChoice(FAULTS));
  const cover = reader.read("--cover", flags.cover, parseCover);
  const duplicateInvoices = reader.read(
    "--duplicate-invoices",
    flags.duplicateInvoices,
    parseChoice(DUPLICATE_INVOICES),
  );
  const named = reader.readAll("--allow-host", flags.allowHost, parseHost);
  const own = hostnameOf(host);
  const isLocal = isLoopback(own);
  if (!allowRemote && flags.allowHost === undefined && !isLocal)
    reader.problem(
      "--host",
      `must be on loopback unless --allow-host or --allow-remote is given (got "${host}")`,
    );
  reader.finish("The sandbox did not start.");
  return {
    host,
    port: port.value,
    merchantName: merchantName.value,
    database: flags.db,
    reset: flags.reset ?? false,
    seed: seed.value,
    clock: clock.value,
    schedule: schedule.value ?? SCHEDULE,
    fault: fault.value,
    allowRemote,
    form: { cover: cover.value ?? SERVICE_COVER, created: flags.created },
    duplicateInvoices: duplicateInvoices.value,
    // The address that it is bound to is in the profile that it registers.
    allowedHosts: isLocal ? named.value : [...named.value, own.toLowerCase()],
    insecure: flags.insecure ?? false,
  };
}

const LONGEST_NAME = 60;

function parseName(text: string): Parsed<string> {
  const name = text.trim();
  const problem = name === "" ? "must not be empty" : textProblem(name, LONGEST_NAME);
  return problem === undefined ? accepted(name) : refused(problem);
}

function parseHost(text: string): Parsed<string> {
  const isName = /^(?:[a-z0-9_.-]+|\[[0-9a-f:.]+\])$/i.test(text) && URL.canParse(`http://${text}`);
  return isName
    ? accepted(new URL(`http://${text}`).hostname)
    : refused("must be a host name or an address without scheme and port, such as shop");
}
