/** Turns the flags of `listen` and the settings into what the receiver needs. */
import { hint, paylink, PaylinkError } from "../../domain/errors.ts";
import type { Outcome } from "../../domain/transaction.ts";
import { hostnameOf, isLoopback } from "../../domain/addresses.ts";
import type { HeaderLine } from "../../http/message.ts";
import { publicAddress, type ReceiverAddress } from "../../receiver/address.ts";
import type { Route } from "../../receiver/forward.ts";
import type { Policy } from "../../signatures/policy.ts";
import type { ResolvedSettings } from "../../settings/resolved-settings.ts";
import { createFlagReader, type FlagReader } from "../flag-reader.ts";
import {
  parseEventStore,
  parseMilliseconds,
  parseOutcome,
  parsePort,
  parseSize,
  parseTimeout,
  parseUrl,
} from "../flag-values.ts";
import { readRoutes } from "../forward-flags.ts";
import { readPolicy } from "../policy-flags.ts";
import type { AdminAddress } from "./admin.ts";
import { type Expectation, parseExpectation } from "./expectations.ts";
import { parseHeader, parseHostAndPort, parsePath, parseRetry } from "./flag-parsers.ts";
import { type ListenFlags, RETRY } from "./flags.ts";

export interface ListenOptions {
  readonly host: string;
  readonly port: number;
  /** The paths to receive webhooks on, each once; at least one. */
  readonly paths: readonly [string, ...string[]];
  readonly publicAddress: ReceiverAddress | undefined;
  /** Opens a tunnel, whose address is the public one. */
  readonly tunnel: boolean;
  /** The files of an https server. */
  readonly tls: { readonly cert: string; readonly key: string } | undefined;
  readonly maxBody: number;
  /** The JSON Pointer to the record in a webhook. */
  readonly recordAt: string | undefined;
  readonly policy: Policy;
  readonly strict: boolean;
  readonly unverified: boolean;
  /** The service's keys: files, URLs or the keys' own text. */
  readonly keySources: readonly string[];
  /** The flag or setting that names them. */
  readonly keyPlace: string;
  readonly forwarding: {
    /** Empty without a target. */
    readonly routes: readonly Route[];
    readonly headers: readonly HeaderLine[];
    readonly insecure: boolean;
    /**
     * Milliseconds before each retry of a webhook that is acknowledged once it is stored. Undefined if webhooks are
     * acknowledged once they are forwarded.
     */
    readonly delays: readonly number[] | undefined;
  };
  /** What is shown and forwarded. */
  readonly filter: { readonly outcome: Outcome | undefined; readonly reference: string | undefined };
  readonly compact: boolean;
  readonly admin: AdminAddress | undefined;
  /** Milliseconds in which webhooks are still received after SIGTERM. */
  readonly drain: number;
  readonly expectations: readonly Expectation[];
  /** Milliseconds. */
  readonly timeout: number | undefined;
  /** Where events are kept; null keeps none, undefined is the usual place. */
  readonly database: string | null | undefined;
  /** The profile in force. */
  readonly profile: string | undefined;
}

/** Throws one `usage` error with every problem, or `key_required`. */
export function listenOptions(flags: ListenFlags, settings: ResolvedSettings): ListenOptions {
  const reader = createFlagReader();
  const port = reader.read("--port", flags.port, parsePort);
  const publicUrl = reader.read("--public-url", settings.get("publicUrl", flags.publicUrl), parseUrl);
  const paths = reader.readAll("--path", flags.path, parsePath);
  const maxBody = reader.read("--max-body", flags.maxBody, parseSize);
  const policy = readPolicy(reader, flags, settings);
  const routes = readRoutes(reader, "--forward-to", flags.forwardTo);
  const headers = reader.readAll("--forward-header", flags.forwardHeader, parseHeader);
  const outcome = reader.read("--outcome", flags.outcome, parseOutcome);
  const expectations = reader.readAll("--expect", flags.expect, parseExpectation);
  const timeout = reader.read("--timeout", flags.timeout, parseMilliseconds);
  const admin = reader.read("--admin", flags.admin, parseHostAndPort);
  const drain = reader.read("--drain", flags.drain, parseTimeout);
  const database = reader.read("--db", flags.db, parseEventStore);
  const acknowledgesStored = flags.ack === "stored";
  const delays = reader.read("--retry", flags.retry ?? RETRY, parseRetry);
  if (acknowledgesStored && !flags.store)
    reader.problem("--ack", "stored cannot be used with --no-store: what is acknowledged would be lost");
  if (!acknowledgesStored && flags.retry !== undefined)
    reader.problem("--retry", "has no effect without --ack stored: the service retries");
  const tls = tlsFiles(reader, flags);
  const { tunnel = false } = flags;
  reader.exclude("--tunnel", tunnel, { "--public-url": flags.publicUrl, "--tls-cert": flags.tlsCert });
  if (flags.forwardTo === undefined) {
    if (flags.forwardHeader !== undefined) reader.problem("--forward-header", NEEDS_TARGET);
    if (flags.insecure === true) reader.problem("--insecure", NEEDS_TARGET);
    if (flags.ack !== undefined) reader.problem("--ack", NEEDS_TARGET);
  }
  if (!flags.store && flags.db !== undefined) reader.problem("--no-store", "cannot be used with --db");
  if (!flags.verify && !isLoopback(hostnameOf(flags.host)))
    reader.problem("--no-verify", `is for loopback only: it cannot be used with --host ${flags.host}`);
  reader.finish("Nothing is listening.");
  const keySources = flags.key ?? settings.get("webhookKey") ?? [];
  if (keySources.length === 0 && flags.verify) throw keyRequired();
  const [firstPath, ...otherPaths] = new Set(paths.value);
  return {
    host: flags.host,
    port: port.value,
    paths: [firstPath ?? (tunnel ? undefined : publicUrl.value?.pathname) ?? "/", ...otherPaths],
    publicAddress: tunnel ? undefined : publicUrl.value && publicAddress(publicUrl.value),
    tunnel,
    tls,
    maxBody: maxBody.value,
    recordAt: settings.get("recordAt"),
    policy: policy.value,
    strict: flags.strict ?? false,
    unverified: !flags.verify,
    keySources,
    keyPlace: flags.key === undefined ? "webhookKey" : "--key",
    forwarding: {
      routes: routes.value,
      headers: headers.value,
      insecure: flags.insecure ?? false,
      delays: acknowledgesStored ? delays.value : undefined,
    },
    filter: { outcome: outcome.value, reference: flags.reference },
    compact: flags.compact ?? false,
    admin: admin.value,
    drain: drain.value ?? 0,
    expectations: expectations.value,
    timeout: timeout.value,
    database: flags.store ? database.value : null,
    profile: settings.profile,
  };
}

const NEEDS_TARGET = "has no effect without --forward-to";

function tlsFiles(reader: FlagReader, { tlsCert: cert, tlsKey: key }: ListenFlags): ListenOptions["tls"] {
  if (cert !== undefined && key !== undefined) return { cert, key };
  if (cert !== undefined) reader.problem("--tls-key", "is required with --tls-cert");
  if (key !== undefined) reader.problem("--tls-cert", "is required with --tls-key");
  return undefined;
}

const keyRequired = (): PaylinkError =>
  new PaylinkError(
    "key_required",
    "No key is configured, so no webhook can be verified. Nothing is listening.",
    {
      hints: [
        hint`To use the service's public key from a file or an https URL: ${paylink("listen", "--key", "service.pem")}`,
        hint`To register a profile that has one: ${paylink("sandbox")}`,
        hint`To store a real account, and its key with --webhook-key: ${paylink("login")}`,
      ],
    },
  );
