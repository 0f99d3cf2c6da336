/** A profile: one account at one service, with the defaults its links take and the secrets that open it. */
import * as z from "zod/mini";
import { currencyCode } from "../domain/currency.ts";

const httpUrl = z.url({ protocol: /^https?$/, error: "must be an absolute http or https URL" });
const text = z.string("must be text").check(z.minLength(1, "must not be empty"));

/** What `config` sets and shows; the order is the one in which it lists them. */
export const profileDefaults = z.object({
  baseUrl: httpUrl.check(z.overwrite((url) => url.replace(/\/+$/, ""))),
  terminalId: text,
  currency: currencyCode,
  customerName: text,
  expires: text,
  returnUrl: httpUrl,
  failureReturnUrl: httpUrl,
  callbackUrl: httpUrl,
  failureCallbackUrl: httpUrl,
  webhookKey: text,
  publicUrl: httpUrl,
  tokenUrl: httpUrl,
  transactionPath: text.check(
    z.refine(
      (path) => path.startsWith("/") && path.includes("{uti}"),
      "must start with / and contain {uti}, as /v1/transactions/{uti} does",
    ),
  ),
  clientId: text,
});

/** What no command prints. */
const profileSecrets = z.object({
  token: text,
  clientSecret: text,
  /** What the client credentials obtained, and until when it may be used. */
  accessToken: text,
  accessTokenExpires: text,
});

export const profile = z.partial(z.object({ ...profileDefaults.shape, ...profileSecrets.shape }));
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
