/** The sandbox for a command: that of the named profile, or the one that `paylink sandbox` registered. */
import { PaylinkError } from "../../domain/errors.ts";
import { isLoopback, parseWebAddress } from "../../domain/web-address.ts";
import { inForce, type Environment } from "./in-force.ts";
import { SANDBOX_PROFILE } from "../../domain/local-addresses.ts";
import type { Settings } from "./settings.ts";

export interface SandboxInForce {
  readonly baseUrl: URL;
  readonly token: string;
}

interface Sources {
  readonly profile: string | undefined;
  readonly env: Environment;
  readonly profiles: () => Promise<Settings>;
}

/** Throws `no_profile` if no sandbox is registered, and `usage` if the named service is on another machine. */
export async function sandboxInForce({ profile, env, profiles }: Sources): Promise<SandboxInForce> {
  const stored = await profiles();
  const registered = Object.hasOwn(stored.profiles(), SANDBOX_PROFILE) ? SANDBOX_PROFILE : undefined;
  const named = profile ?? (env["PAYLINK_PROFILE"] || registered);
  const values = inForce({ named, env, current: stored.current(), profiles: stored.profiles() });
  const baseUrl = parseWebAddress(values.get("baseUrl") ?? "");
  if (baseUrl === undefined)
    throw new PaylinkError("no_profile", "No sandbox is registered.", {
      hint: "paylink sandbox   starts one in another terminal",
    });
  if (!isLoopback(baseUrl.hostname))
    throw new PaylinkError(
      "usage",
      `${baseUrl.host} is not on this machine, so it is not a sandbox. Nothing was sent.`,
      { hint: "Try: --profile sandbox" },
    );
  return { baseUrl, token: values.get("token") ?? "" };
}
