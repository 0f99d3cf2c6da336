/** Which sandbox a command means: the one that flag or environment name, else the profile that `sandbox` registers. */
import { PaylinkError } from "../../domain/errors.ts";
import { isLoopback, parseWebAddress } from "../../domain/web-address.ts";
import { settingsInForce, type SettingsContext } from "./in-force.ts";

const PROFILE = "sandbox";

export interface SandboxInForce {
  readonly baseUrl: URL;
  readonly token: string;
}

/** Throws where there is none, and where what is named is another service: real money is nothing to play with. */
export async function sandboxInForce(context: SettingsContext): Promise<SandboxInForce> {
  const { profile, env, settings } = context;
  const registered = Object.hasOwn((await settings()).profiles(), PROFILE) ? PROFILE : undefined;
  const named = profile ?? (env["PAYLINK_PROFILE"] || registered);
  const inForce = await settingsInForce({ ...context, profile: named });
  const address = inForce.get("baseUrl");
  const baseUrl = parseWebAddress(address ?? "");
  if (baseUrl === undefined)
    throw new PaylinkError("no_profile", "There is no sandbox yet.", {
      hint: "paylink sandbox   starts one in another terminal",
    });
  if (!isLoopback(baseUrl.hostname))
    throw new PaylinkError(
      "usage",
      `${baseUrl.host} is not on this machine: only a sandbox can be played with.`,
      {
        hint: "Try: --profile sandbox",
      },
    );
  return { baseUrl, token: inForce.get("token") ?? "" };
}
