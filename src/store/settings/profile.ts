/** A profile: one account at one service, with the defaults of its links and its credentials. */
import * as z from "zod/mini";
import { currencyCode } from "../../domain/currency.ts";

/** The profile that `paylink sandbox` writes. */
export const SANDBOX_PROFILE = "sandbox";

const defaults = z.lazy(() => {
  const text = optionalText();
  const url = z.optional(httpUrl());
  return z.object({
    baseUrl: z.optional(httpUrl().check(z.overwrite((address) => address.replace(/\/+$/, "")))),
    terminalId: text,
    currency: z.optional(currencyCode),
    customerName: text,
    expires: text,
    returnUrl: url,
    failureReturnUrl: url,
    callbackUrl: url,
    failureCallbackUrl: url,
    webhookKey: text,
    publicUrl: url,
    tokenUrl: url,
    transactionPath: z.optional(
      filled().check(
        z.refine(
          (path) => path.startsWith("/") && path.includes("{uti}"),
          "must start with / and contain {uti}, as /v1/transactions/{uti} does",
        ),
      ),
    ),
    clientId: text,
  });
});

const secrets = z.lazy(() => {
  const text = optionalText();
  return z.object({
    token: text,
    clientSecret: text,
    /** The token that the client credentials obtained, and when it expires. */
    accessToken: text,
    accessTokenExpires: text,
  });
});

const httpUrl = () => z.url({ protocol: /^https?$/, error: "must be an absolute http or https URL" });
const filled = () => z.string("must be text").check(z.minLength(1, "must not be empty"));
const optionalText = () => z.optional(filled());

const shapeOf = <Shape extends z.core.$ZodShape>(schema: z.ZodMiniLazy<z.ZodMiniObject<Shape>>): Shape =>
  schema._zod.innerType.shape;

export const profile = z.lazy(() => z.object({ ...shapeOf(defaults), ...shapeOf(secrets) }));
export type Profile = z.infer<typeof profile>;
export type SettingKey = keyof Profile;

/** The profile that commands write if no name is given and no profile is current. */
export const DEFAULT_PROFILE = "default";

/** Every setting that a profile may hold. */
export const profileShape = () => shapeOf(profile);
export const settingKeys = () => z.keyof(profile._zod.innerType).options;

export type DefaultKey = keyof z.infer<typeof defaults>;
/** The settings that `config` sets and shows, in the order of its list. */
export const defaultKeys = () => z.keyof(defaults._zod.innerType).options;

export const isDefaultKey = (key: string): key is DefaultKey => Object.hasOwn(shapeOf(defaults), key);
/** Settings that no command prints. */
export const isSecretKey = (key: string): boolean => Object.hasOwn(shapeOf(secrets), key);

/** The profile without some of its values. */
export function without(full: Profile, keys: readonly SettingKey[]): Profile {
  return Object.fromEntries(Object.entries(full).filter(([key]) => !keys.some((left) => left === key)));
}

/** The profile without its credentials. */
export const withoutSecrets = (full: Profile): Profile => without(full, settingKeys().filter(isSecretKey));

/** The profile without the token that earlier credentials obtained. */
export const withoutAccessToken = (full: Profile): Profile =>
  without(full, ["accessToken", "accessTokenExpires"]);

/** What is wrong with a value that a user typed: "must be …"; undefined where nothing is. */
export function settingProblem(key: SettingKey, value: string): string | undefined {
  return profileShape()[key].safeParse(value).error?.issues[0]?.message;
}

/** The value as it is stored: an address without its last slash, a currency in upper case. */
export function storedSetting(key: SettingKey, value: string): string {
  return profileShape()[key].parse(value) ?? value;
}
