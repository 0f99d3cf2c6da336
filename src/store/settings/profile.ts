/** A profile: one account at one service, with the defaults its links take and the secrets that open it. */
import * as z from "zod/mini";
import { currencyCode } from "../../domain/currency.ts";

/** Each is made when it is first asked for: a start without settings needs none, and making one takes a while. */
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
    /** What the client credentials obtained, and until when it may be used. */
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

/** Everything that a profile may hold. */
export const profileShape = () => shapeOf(profile);
export const settingKeys = () => z.keyof(profile._zod.innerType).options;

export type DefaultKey = keyof z.infer<typeof defaults>;
/** What `config` sets and shows, in the order in which it lists them. */
export const defaultKeys = () => z.keyof(defaults._zod.innerType).options;

export const isDefaultKey = (key: string): key is DefaultKey => Object.hasOwn(shapeOf(defaults), key);
/** What no command prints. */
export const isSecretKey = (key: string): boolean => Object.hasOwn(shapeOf(secrets), key);

/** The profile without some of its values. */
export function without(full: Profile, keys: readonly SettingKey[]): Profile {
  return Object.fromEntries(Object.entries(full).filter(([key]) => !keys.some((left) => left === key)));
}

/** The profile without what opens the account. */
export const withoutSecrets = (full: Profile): Profile => without(full, settingKeys().filter(isSecretKey));

/** The token that other credentials than the present ones obtained goes with them. */
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
