/** Every setting of a profile, as data: what it means, which kind of value it has, and where else that may come from. */
import { SERVICE_NAMES, TRANSACTION_PATH } from "../domain/known-services.ts";
import { VALUE_KINDS, type SettingParser } from "./setting-values.ts";

interface SettingDefinition<Value> {
  /** What it is, as the end of a sentence that begins with its name. */
  readonly means: string;
  /** Checks and normalises a value, as typed or as stored. */
  readonly parse: SettingParser<Value>;
  /** The value if nothing sets one. */
  readonly default?: string | boolean;
  /** The environment variable that overrides the profile. */
  readonly variable?: string;
  /** A value, to be quoted, after `paylink config set <key>`. */
  readonly example?: string;
  /** Its value may be the name of a file, which shells complete. */
  readonly mayBeFile?: true;
  /** Never printed. Only `login` and the sandbox store it. */
  readonly secret?: true;
  /** How `login` takes it. */
  readonly login?: LoginValue;
  /** A profile of another service must not have it. */
  readonly ofService?: true;
}

interface LoginValue {
  readonly flag: `--${string}`;
  /** The question to a person at a terminal. */
  readonly prompt?: string;
  /** The answer may be empty. */
  readonly optional?: true;
}

const SETTING_TABLE = {
  service: {
    means: `the built-in service whose settings apply unless the profile has its own: ${SERVICE_NAMES.join(" or ")}`,
    parse: VALUE_KINDS.service,
    example: "dna-test",
    login: { flag: "--service <name>" },
    ofService: true,
  },
  baseUrl: {
    means: "the service's address, without /v1",
    parse: VALUE_KINDS.baseAddress,
    variable: "PAYLINK_BASE_URL",
    example: "https://api.dnapayments.com",
    login: { flag: "--base-url <url>", prompt: "The service's base URL (https://…)" },
    ofService: true,
  },
  transactionUrl: {
    means:
      "where transactions are read: a path below the base URL, or a full URL, which receives the access token too; {uti} stands for the unique id of the transaction",
    parse: VALUE_KINDS.transactionAddress,
    default: TRANSACTION_PATH,
    example: "/v1/transactions/{uti}",
    ofService: true,
  },
  token: {
    means: "the access token",
    parse: VALUE_KINDS.text,
    variable: "PAYLINK_TOKEN",
    secret: true,
    login: { flag: "--token-stdin", prompt: "Access token" },
  },
  clientId: {
    means: "the client's id, which obtains access tokens",
    parse: VALUE_KINDS.text,
    variable: "PAYLINK_CLIENT_ID",
    example: "shop",
    login: { flag: "--client-id <id>", prompt: "Client id" },
    ofService: true,
  },
  clientSecret: {
    means: "the client's secret",
    parse: VALUE_KINDS.text,
    variable: "PAYLINK_CLIENT_SECRET",
    secret: true,
    login: { flag: "--client-secret-stdin", prompt: "Client secret" },
  },
  tokenUrl: {
    means: "where access tokens are obtained",
    parse: VALUE_KINDS.address,
    variable: "PAYLINK_TOKEN_URL",
    example: "https://oauth.dnapayments.com/oauth2/token",
    login: { flag: "--token-url <url>", prompt: "Token URL" },
    ofService: true,
  },
  tokenAuth: {
    means: "how the client authenticates at the token URL: post (form fields) or basic (RFC 6749)",
    parse: VALUE_KINDS.tokenAuth,
    default: "post",
    example: "basic",
    login: { flag: "--token-auth <how>" },
    ofService: true,
  },
  tokenScope: {
    means: "the scope of the access token",
    parse: VALUE_KINDS.scope,
    example: "pay_by_link",
    login: { flag: "--token-scope <scope>" },
    ofService: true,
  },
  terminalId: {
    means: "the terminal of the payments",
    parse: VALUE_KINDS.text,
    variable: "PAYLINK_TERMINAL_ID",
    example: "1234567890",
    login: { flag: "--terminal-id <id>", prompt: "Terminal" },
  },
  currency: {
    means: "the currency of links",
    parse: VALUE_KINDS.currency,
    example: "EUR",
    login: {
      flag: "--currency <code>",
      prompt: "Currency (the default of your links, such as EUR), or Enter to skip",
      optional: true,
    },
  },
  customerName: {
    means: "the customer's name on links",
    parse: VALUE_KINDS.text,
    example: "Ada Lovelace",
    login: { flag: "--customer-name <name>", prompt: "Customer's name (the default of your links)" },
  },
  expires: {
    means:
      "when links expire: a date, or a duration from the creation; the default is for one-time links only",
    parse: VALUE_KINDS.text,
    default: "7d",
    example: "36h",
  },
  returnUrl: {
    means: "where the customer goes after the payment",
    parse: VALUE_KINDS.address,
    example: "https://shop.example/paid",
  },
  failureReturnUrl: {
    means: "where the customer goes after a failed payment",
    parse: VALUE_KINDS.address,
    example: "https://shop.example/failed",
  },
  callbackUrl: {
    means: "where the service posts the webhooks of payments",
    parse: VALUE_KINDS.address,
    variable: "PAYLINK_CALLBACK_URL",
    example: "https://shop.example/webhooks",
    login: {
      flag: "--callback-url <url>",
      prompt: "Callback URL for webhooks, or Enter to skip",
      optional: true,
    },
  },
  failureCallbackUrl: {
    means: "where the service posts webhooks of failed payments",
    parse: VALUE_KINDS.address,
    example: "https://shop.example/webhooks",
  },
  webhookKey: {
    means:
      "the service's public keys, each a file or a URL; PAYLINK_WEBHOOK_KEY may hold several, one a line, and the text of keys, or its base64",
    parse: VALUE_KINDS.keySources,
    mayBeFile: true,
    variable: "PAYLINK_WEBHOOK_KEY",
    example: "service.pem",
    login: {
      flag: "--webhook-key <file or URL>",
      prompt: "The service's webhook key (a file or a URL), or Enter to skip",
      optional: true,
    },
    ofService: true,
  },
  publicUrl: {
    means: "the address at which others reach your listener",
    parse: VALUE_KINDS.address,
    example: "https://shop.example/webhooks",
  },
  tolerance: {
    means: "how old a signature may be",
    parse: VALUE_KINDS.duration,
    default: "5m",
    example: "5m",
  },
  requireCreated: {
    means: "whether a signature must say when it was created",
    parse: VALUE_KINDS.toggle,
    default: false,
    example: "true",
  },
  columns: {
    means:
      "what the columns of your lists and books are, for bulk and reconcile: as --map says it, with commas; a name with a comma stands in double quotes",
    parse: VALUE_KINDS.text,
    example: "Invoice No.=invoiceId,Total=amount,Status=",
  },
  eventStore: {
    means:
      "where events are kept: a file, or the URL of a PostgreSQL database, in which bulk also keeps what it has sent",
    parse: VALUE_KINDS.eventStore,
    mayBeFile: true,
    variable: "PAYLINK_DB",
    example: "postgres://db.example/paylink",
  },
} satisfies Readonly<Record<string, SettingDefinition<unknown>>>;

export type SettingKey = keyof typeof SETTING_TABLE;
export type SettingValue<Key extends SettingKey> =
  (typeof SETTING_TABLE)[Key]["parse"] extends SettingParser<infer Value> ? Value : never;

export const SETTINGS: {
  readonly [Key in SettingKey]: SettingDefinition<SettingValue<Key>> &
    Omit<(typeof SETTING_TABLE)[Key], "parse">;
} = SETTING_TABLE;
export const SETTING_KEYS = Object.keys(SETTING_TABLE) as SettingKey[];
export const isSettingKey = (key: string): key is SettingKey => Object.hasOwn(SETTING_TABLE, key);

/** A setting that `config` shows and sets. */
export type ConfigKey = {
  [Key in SettingKey]: (typeof SETTING_TABLE)[Key] extends { readonly secret: true } ? never : Key;
}[SettingKey];
export const isConfigKey = (key: string): key is ConfigKey =>
  isSettingKey(key) && SETTINGS[key].secret !== true;
/** In the order of the table. */
export const CONFIG_KEYS: readonly ConfigKey[] = SETTING_KEYS.filter(isConfigKey);

/** A setting that `login` takes. */
export type AccountKey = {
  [Key in SettingKey]: (typeof SETTING_TABLE)[Key] extends { readonly login: LoginValue } ? Key : never;
}[SettingKey];

export const isAccountKey = (key: string): key is AccountKey =>
  isSettingKey(key) && "login" in SETTING_TABLE[key];
/** `--base-url`. */
export const loginFlagOf = (key: AccountKey): string => SETTINGS[key].login.flag.split(" ")[0] ?? "";
