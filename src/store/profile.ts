/** A profile: one account at one service, with the defaults its links take and the secrets that open it. */
import * as z from "zod/mini";
import { currencyCode } from "../domain/currency.ts";

const httpUrl = z.url({ protocol: /^https?$/, error: "must be an absolute http or https URL" });
const text = z.string("must be text").check(z.minLength(1, "must not be empty"));

// Each made once: making a schema takes a start longer than using it.
const optionalText = z.optional(text);
const optionalUrl = z.optional(httpUrl);

/** What `config` sets and shows; the order is the one in which it lists them. */
export const profileDefaults = z.object({
  baseUrl: z.optional(httpUrl.check(z.overwrite((url) => url.replace(/\/+$/, "")))),
  terminalId: optionalText,
  currency: z.optional(currencyCode),
  customerName: optionalText,
  expires: optionalText,
  returnUrl: optionalUrl,
  failureReturnUrl: optionalUrl,
  callbackUrl: optionalUrl,
  failureCallbackUrl: optionalUrl,
  webhookKey: optionalText,
  publicUrl: optionalUrl,
  tokenUrl: optionalUrl,
  transactionPath: z.optional(
    text.check(
      z.refine(
        (path) => path.startsWith("/") && path.includes("{uti}"),
        "must start with / and contain {uti}, as /v1/transactions/{uti} does",
      ),
    ),
  ),
  clientId: optionalText,
});

/** What no command prints. */
const profileSecrets = z.object({
  token: optionalText,
  clientSecret: optionalText,
  /** What the client credentials obtained, and until when it may be used. */
  accessToken: optionalText,
  accessTokenExpires: optionalText,
});

export const profile = z.object({ ...profileDefaults.shape, ...profileSecrets.shape });
export type Profile = z.infer<typeof profile>;
export type SettingKey = keyof Profile;

export const SETTING_KEYS: readonly SettingKey[] = z.keyof(profile).options;

export type DefaultKey = keyof z.infer<typeof profileDefaults>;
export const DEFAULT_KEYS = Object.keys(profileDefaults.shape) as DefaultKey[];

export const isDefaultKey = (key: string): key is DefaultKey => Object.hasOwn(profileDefaults.shape, key);
export const isSecretKey = (key: string): boolean => Object.hasOwn(profileSecrets.shape, key);

/** The profile without some of its values. */
export function without(full: Profile, keys: readonly SettingKey[]): Profile {
  return Object.fromEntries(Object.entries(full).filter(([key]) => !keys.some((left) => left === key)));
}

/** The profile without what opens the account. */
export const withoutSecrets = (full: Profile): Profile => without(full, z.keyof(profileSecrets).options);

/** The token that other credentials than the present ones obtained goes with them. */
export const withoutAccessToken = (full: Profile): Profile =>
  without(full, ["accessToken", "accessTokenExpires"]);
