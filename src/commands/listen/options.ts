/** What the flags of `listen` mean together with the settings. */
import { publicAddress } from "../../receiver/address.ts";
import type { ResolvedSettings } from "../../settings/resolved-settings.ts";
import { isThumbprint } from "../../signatures/thumbprint.ts";
import type { ValuesOf } from "../command.ts";
import { parseDelays } from "../flag-values.ts";
import { FORWARD_CONCURRENCY, policyFrom, serviceKeys } from "../shared-flags.ts";
import { RETRY, type listenFlags } from "./flags.ts";

export type ListenOptions = ReturnType<typeof listenOptions>;

/** Throws `key_required`. */
export function listenOptions(flags: ValuesOf<typeof listenFlags>, settings: ResolvedSettings) {
  const { tlsCert: cert, tlsKey: key, tunnel } = flags;
  const verifying = flags.key.filter((source) => !isThumbprint(source));
  const keys = serviceKeys(verifying, settings, flags.verify ? "receive" : undefined);
  const storedUrl = settings.get("publicUrl");
  const publicUrl = flags.publicUrl ?? (storedUrl === undefined ? undefined : new URL(storedUrl));
  const [firstPath, ...otherPaths] = new Set(flags.path);
  return {
    ...flags,
    ...keys,
    /** Thumbprints of keys that verify nothing here: what they have verified before is forwarded too. */
    earlierKeys: flags.key.filter(isThumbprint),
    /** The paths to receive webhooks on, each once; at least one. */
    paths: [firstPath ?? (tunnel ? undefined : publicUrl?.pathname) ?? "/", ...otherPaths] as const,
    /** A tunnel has an address of its own. */
    publicAddress: tunnel ? undefined : publicUrl && publicAddress(publicUrl, flags.path),
    tls: cert === undefined || key === undefined ? undefined : { cert, key },
    policy: policyFrom(flags, settings),
    unverified: !flags.verify,
    terminals: flags.requireTerminal,
    forwarding: {
      routes: flags.forwardTo,
      headers: flags.forwardHeader,
      insecure: flags.insecure,
      concurrency: flags.forwardConcurrency ?? FORWARD_CONCURRENCY,
      timeout: flags.forwardTimeout,
      /** Undefined if webhooks are acknowledged once they are forwarded. */
      delays: flags.ack === "stored" ? (flags.retry ?? defaultDelays()) : undefined,
    },
    drain: flags.drain ?? 0,
    /** Where events are kept; null keeps none, undefined is the default location. */
    database: flags.store && flags.verify ? flags.db : null,
    /** Where the service reports the payments of links by default. */
    callbacks: {
      callbackUrl: settings.get("callbackUrl"),
      failureCallbackUrl: settings.get("failureCallbackUrl"),
    },
    /** The profile in force. */
    profile: settings.profile,
  };
}

/** Those of the help. */
function defaultDelays(): readonly number[] {
  const delays = parseDelays(RETRY);
  return delays.ok ? delays.value : [];
}
