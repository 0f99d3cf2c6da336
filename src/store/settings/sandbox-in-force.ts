/** Which sandbox a command uses: the one that flag or environment name, else the profile that `sandbox` registers. */
import { PaylinkError } from "../../domain/errors.ts";
import { isLoopback, parseWebAddress } from "../../domain/web-address.ts";
import { settingsInForce, type SettingsContext } from "./in-force.ts";

const PROFILE = "sandbox";

export interface SandboxInForce {
  readonly baseUrl: URL;
  readonly token: string;
}

/** Throws if there is no sandbox, or if the profile is of a service on another machine: that one may move real money. */
export async function sandboxInForce(context: SettingsContext): Promise<SandboxInForce> {
  const { profile, env, settings } = context;
  const registered = Object.hasOwn((await settings()).profiles(), PROFILE) ? PROFILE : undefined;
  const named = profile ?? (env["PAYLINK_PROFILE"] || registered);
  const inForce = await settingsInForce({ ...context, profile: named });
  const address = inForce.get("baseUrl");
  const baseUrl = parseWebAddress(address ?? "");
  if (baseUrl === undefined)
    throw new PaylinkError("no_profile", "No sandbox is registered.", {
      hint: "paylink sandbox   starts one in another terminal",
    });
  if (!isLoopback(baseUrl.hostname))
    throw new PaylinkError(
      "usage",
      `${baseUrl.host} is not on this machine. This command works with a local sandbox only.`,
      { hint: "Try: --profile sandbox" },
    );
  return { baseUrl, token: inForce.get("token") ?? "" };
}
