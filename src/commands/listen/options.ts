/** What the flags of `listen` mean together with the settings. */
import { publicAddress, type ReceiverAddress } from "../../receiver/address.ts";
import type { QueueParts } from "../../receiver/queue.ts";
import type { Policy } from "../../signatures/policy.ts";
import type { TlsPaths } from "./tls.ts";
import type { ResolvedSettings } from "../../settings/resolved-settings.ts";
import { isThumbprint } from "../../signatures/thumbprint.ts";
import type { ValuesOf } from "../command.ts";
import { parseDelays } from "../flag-values.ts";
import { FORWARD_CONCURRENCY, type ServiceKeySources, policyFrom, serviceKeys } from "../shared-flags.ts";
import { RETRY, type listenFlags } from "./command.ts";

export interface ListenOptions extends ValuesOf<typeof listenFlags>, ServiceKeySources {
  /** Thumbprints of keys that verify nothing here: what they have verified before is forwarded too. */
  readonly earlierKeys: readonly string[];
  /** The paths to receive webhooks on, each once; at least one. */
  readonly paths: readonly [string, ...string[]];
  /** Undefined for a tunnel, which has an address of its own. */
  readonly publicAddress: ReceiverAddress | undefined;
  readonly tls: TlsPaths | undefined;
  readonly policy: Policy;
  /** Whether unverified webhooks are shown too. */
  readonly unverified: boolean;
  readonly terminals: readonly string[];
  readonly forwarding: ForwardingOptions;
  /** Milliseconds for which webhooks are still received after SIGTERM. */
  readonly drain: number;
  /** Where events are kept; null keeps none, undefined is the default location. */
  readonly database: string | undefined | null;
  /** Where the service reports the payments of links by default. */
  readonly callbacks: Readonly<Record<"callbackUrl" | "failureCallbackUrl", string | undefined>>;
  /** The profile in force. */
  readonly profile: string | undefined;
}

interface ForwardingOptions extends Pick<
  QueueParts,
  "routes" | "headers" | "insecure" | "concurrency" | "timeout"
> {
  /** Milliseconds before each retry; undefined if webhooks are acknowledged once they are forwarded. */
  readonly delays: readonly number[] | undefined;
}

/** Throws `key_required`. */
export function listenOptions(
  flags: ValuesOf<typeof listenFlags>,
  settings: ResolvedSettings,
): ListenOptions {
  const { tlsCert: cert, tlsKey: key, tunnel } = flags;
  const verifying = flags.key.filter((source) => !isThumbprint(source));
  const keys = serviceKeys(verifying, settings, flags.verify ? "receive" : undefined);
  const storedUrl = settings.get("publicUrl");
  const publicUrl = flags.publicUrl ?? (storedUrl === undefined ? undefined : new URL(storedUrl));
  const [firstPath, ...otherPaths] = new Set(flags.path);
  return {
    ...flags,
    ...keys,
    earlierKeys: flags.key.filter(isThumbprint),
    paths: [firstPath ?? (tunnel ? undefined : publicUrl?.pathname) ?? "/", ...otherPaths] as const,
    publicAddress: tunnel ? undefined : publicUrl && publicAddress(publicUrl, flags.path),
    tls: cert === undefined || key === undefined ? undefined : { cert, key, host: publicUrl?.hostname },
    policy: policyFrom(flags, settings),
    unverified: !flags.verify,
    terminals: flags.requireTerminal,
    forwarding: {
      routes: flags.forwardTo,
      headers: flags.forwardHeader,
      insecure: flags.insecure,
      concurrency: flags.forwardConcurrency ?? FORWARD_CONCURRENCY,
      timeout: flags.forwardTimeout,
      delays: flags.ack === "stored" ? (flags.retry ?? defaultDelays()) : undefined,
    },
    drain: flags.drain ?? 0,
    database: flags.store && flags.verify ? flags.db : null,
    callbacks: {
      callbackUrl: settings.get("callbackUrl"),
      failureCallbackUrl: settings.get("failureCallbackUrl"),
    },
    profile: settings.profile,
  };
}

/** Those of the help. */
function defaultDelays(): readonly number[] {
  const delays = parseDelays(RETRY);
  return delays.ok ? delays.value : [];
}
