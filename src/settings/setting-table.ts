/** Every setting of a profile: what it means, how it is checked, and where else its value may come from. */
import * as z from "zod/mini";
import { accepted, refused, type Parsed } from "../domain/parse-result.ts";
import { SERVICE_NAMES, SPECIFIED_FORM } from "../domain/known-services.ts";
import { withoutPassword } from "../domain/addresses.ts";
import * as values from "./setting-values.ts";

interface Setting<T> {
  /** What it is, as the end of a sentence that begins with its name. */
  readonly means: string;
  /** A value, to be quoted, after `paylink config set <key>`; a setting without an example cannot be set there. */
  readonly example?: string;
  /** The value may be the name of a file, which shells complete. */
  readonly file?: true;
  /** Never printed. Only `login` and the sandbox store it. */
  readonly secret?: true;
  /** The environment variable that overrides the profile. */
  readonly variable?: string;
  /** The value if nothing sets one. */
  readonly default?: T;
  /** Reads the text of a flag or variable, and the value in a profile. */
  readonly schema: z.ZodMiniType<T>;
}

const { webAddress, filledText } = values;

const TABLE = {
  service: {
    means: "the built-in service whose settings apply unless the profile has its own",
    example: "dna-test",
    schema: values.oneOf(SERVICE_NAMES),
  },
  baseUrl: {
    means: "the service's address, without /v1",
    example: "https://api.dnapayments.com",
    variable: "PAYLINK_BASE_URL",
    schema: values.baseAddress,
  },
  linksPath: {
    means: "where payment links are created, below the base URL; it may have a query",
    example: "/v1/payment-links",
    default: SPECIFIED_FORM.linksPath,
    schema: values.servicePath,
  },
  transactionUrl: {
    means:
      "where a transaction is read: a path below the base URL or a whole URL, with {uti} in it; the URL gets the token too",
    example: "/v1/transactions/{uti}",
    default: SPECIFIED_FORM.transactionUrl,
    schema: values.transactionAddress,
  },
  token: {
    means: "the access token",
    secret: true,
    variable: "PAYLINK_TOKEN",
    schema: filledText,
  },
  clientId: {
    means: "the client's id, to obtain access tokens",
    example: "shop",
    variable: "PAYLINK_CLIENT_ID",
    schema: filledText,
  },
  clientSecret: {
    means: "the client's secret",
    secret: true,
    variable: "PAYLINK_CLIENT_SECRET",
    schema: filledText,
  },
  accessToken: {
    means: "the token that the client's id and secret obtained",
    secret: true,
    schema: filledText,
  },
  accessTokenExpires: {
    means: "when that token expires",
    secret: true,
    schema: filledText,
  },
  tokenUrl: {
    means: "where access tokens are obtained",
    example: "https://oauth.dnapayments.com/oauth2/token",
    variable: "PAYLINK_TOKEN_URL",
    schema: webAddress,
  },
  tokenAuth: {
    means:
      "how the client authenticates there: basic (RFC 6749), basic-plain (without form-encoding), post (form fields) or json",
    example: "post",
    default: "basic" as const,
    schema: values.oneOf(["basic", "basic-plain", "post", "json"] as const),
  },
  tokenScope: {
    means: "the scope of the access token",
    example: "pay_by_link",
    schema: values.scope,
  },
  tokenParams: {
    means: "further parameters of the token request",
    example: "audience=payments&resource=links",
    schema: values.formParameters,
  },
  authHeader: {
    means: "the header that carries the access token",
    example: "X-API-Key: {token}",
    default: SPECIFIED_FORM.authHeader,
    schema: values.tokenHeader,
  },
  headers: {
    means: "headers of every request to the service; headers.<name> is one of them",
    example: '{"X-Terminal": "7"}',
    schema: values.headers,
  },
  idempotencyHeader: {
    means: "the header that carries one key per link, so that a request of unknown outcome is sent again",
    example: "Idempotency-Key",
    schema: values.headerName,
  },
  linkAt: {
    means: "where the link is in the service's reply (a JSON Pointer)",
    example: "/data",
    schema: values.jsonPointer,
  },
  recordAt: {
    means: "where the record is in a webhook or a transaction (a JSON Pointer)",
    example: "/data",
    schema: values.jsonPointer,
  },
  clientCert: {
    means: "the file of the client's certificate, for mutual TLS; it needs clientKey",
    example: "client.pem",
    file: true,
    schema: values.filePath,
  },
  clientKey: {
    means: "the file of the key of that certificate",
    example: "client.key",
    file: true,
    schema: values.filePath,
  },
  terminalId: {
    means: "the terminal of the payments",
    example: "1234567890",
    variable: "PAYLINK_TERMINAL_ID",
    schema: filledText,
  },
  currency: {
    means: "the currency of links",
    example: "EUR",
    schema: values.currency,
  },
  customerName: {
    means: "the customer's name on links",
    example: "Ada Lovelace",
    schema: filledText,
  },
  expires: {
    means:
      "when links expire: a date, or a duration from the creation; the default is for one-time links only",
    example: "36h",
    default: "7d",
    schema: filledText,
  },
  returnUrl: {
    means: "where the customer goes after the payment",
    example: "https://shop.example/paid",
    schema: webAddress,
  },
  failureReturnUrl: {
    means: "where the customer goes after a failed payment",
    example: "https://shop.example/failed",
    schema: webAddress,
  },
  callbackUrl: {
    means: "where the service posts the webhooks of payments",
    example: "https://shop.example/webhooks",
    variable: "PAYLINK_CALLBACK_URL",
    schema: webAddress,
  },
  failureCallbackUrl: {
    means: "where the service posts webhooks of failed payments",
    example: "https://shop.example/webhooks",
    schema: webAddress,
  },
  webhookKey: {
    means: "the keys that verify webhooks, each a file or a URL; in the variable also the text of one",
    example: "service.pem",
    file: true,
    variable: "PAYLINK_WEBHOOK_KEY",
    schema: values.listOf(values.keySource),
  },
  publicUrl: {
    means: "the address at which others reach your listener",
    example: "https://shop.example/webhooks",
    schema: webAddress,
  },
  tolerance: {
    means: "the greatest age of a signature",
    example: "5m",
    default: "5m",
    schema: values.durationText,
  },
  requireCreated: {
    means: "whether a signature must say when it was created",
    example: "true",
    default: false,
    schema: values.toggle,
  },
  eventStore: {
    means: "where events are kept: a file, or the URL of a PostgreSQL database",
    example: "postgres://db.example/paylink",
    file: true,
    variable: "PAYLINK_DB",
    schema: values.eventStorePlace,
  },
} satisfies Readonly<Record<string, Setting<unknown>>>;

export type SettingKey = keyof typeof TABLE;
export type SettingValues = { readonly [Key in SettingKey]: z.output<(typeof TABLE)[Key]["schema"]> };

export const SETTINGS: { readonly [Key in SettingKey]: Setting<SettingValues[Key]> } = TABLE;
export const SETTING_KEYS = Object.keys(TABLE) as SettingKey[];

/** A setting that `config` shows and sets. */
export type ConfigKey = {
  [Key in SettingKey]: (typeof TABLE)[Key] extends { readonly secret: true } ? never : Key;
}[SettingKey];

export const isSettingKey = (key: string): key is SettingKey => Object.hasOwn(TABLE, key);
export const isConfigKey = (key: string): key is ConfigKey =>
  isSettingKey(key) && SETTINGS[key].secret !== true;

/** In the order of the table. */
export const CONFIG_KEYS: readonly ConfigKey[] = SETTING_KEYS.filter(isConfigKey);

/** The profile that commands write if none is named and none is current. */
export const DEFAULT_PROFILE = "default";

export type Profile = { readonly [Key in SettingKey]?: SettingValues[Key] | undefined };

type ProfileShape = { [Key in SettingKey]: z.ZodMiniOptional<z.ZodMiniType<SettingValues[Key]>> };

/** Reads values from JSON or text, and checks and normalises each. */
export const profile = z.lazy(() =>
  z.object(
    Object.fromEntries(SETTING_KEYS.map((key) => [key, z.optional(SETTINGS[key].schema)])) as ProfileShape,
  ),
);

/** Checks and normalises one value, as typed or as stored. The message never quotes it. */
export const parseSetting =
  <Key extends SettingKey>(key: Key) =>
  (value: unknown): Parsed<SettingValues[Key]> => {
    const read = SETTINGS[key].schema.safeParse(value);
    return read.success ? accepted(read.data) : refused(read.error.issues[0]?.message ?? "is invalid");
  };

/** A value for people to read, without the password of a URL. */
export function shownSetting(value: SettingValues[SettingKey]): string {
  if (typeof value === "string") return withoutPassword(value);
  if (typeof value === "boolean") return String(value);
  return Array.isArray(value) ? value.map(shownSetting).join(", ") : JSON.stringify(value);
}

/** The profile without some of its values. */
export function without(full: Profile, keys: readonly SettingKey[]): Profile {
  return Object.fromEntries(Object.entries(full).filter(([key]) => !keys.some((left) => left === key)));
}

/** The profile without its credentials. */
export const withoutSecrets = (full: Profile): Profile =>
  without(
    full,
    SETTING_KEYS.filter((key) => SETTINGS[key].secret === true),
  );

/** The profile without the token that earlier credentials obtained. */
export const withoutAccessToken = (full: Profile): Profile =>
  without(full, ["accessToken", "accessTokenExpires"]);
