/** Creates the client of the service from the settings: the base URL, and the token or the client credentials. */
import { wordFor } from "../values/plural.ts";
import { createHash } from "node:crypto";
import { PaylinkError } from "../domain/errors.ts";
import { hint, type Hint, paylink } from "../domain/hint.ts";
import type { Send } from "../http/exchange.ts";
import { fieldLines } from "../http/message.ts";
import type { SharedToken, TokenClient } from "../settings/token-files.ts";
import type { ResolvedSettings } from "../settings/resolved-settings.ts";
import { SETTINGS } from "../settings/setting-table.ts";
import { createApi, type Api } from "./client.ts";
import { withRetries, type RetryParts } from "./retries.ts";
import { fixedToken, tokensByCredentials, type TokenSource } from "./tokens.ts";

export interface ClientParts extends RetryParts {
  readonly settings: ResolvedSettings;
  /** Whether the client repeats requests; otherwise the caller does. */
  readonly retries: boolean;
  /** Milliseconds for one operation with its retries. */
  readonly timeout: number;
  /** Fires at Ctrl-C or SIGTERM: a request that may create something is completed, and no other one starts. */
  readonly signal: AbortSignal;
  /** Called when the signal has fired, and the answer to such a request is awaited. */
  readonly awaiting: (next: readonly Hint[]) => void;
  /** The token that the runs of an account share. */
  readonly sharedToken: (owner: TokenOwner) => SharedToken;
}

/** Whose token it is: a profile's, or that of credentials in the environment, under a name that stands for all of them. */
export interface TokenOwner {
  readonly name: string;
  readonly client: TokenClient;
  readonly isStored: boolean;
}

/** Throws `no_profile` without a base URL, `no_token` without a token and client credentials, or if variables for them say nothing. */
export function openApi(parts: ClientParts): Api {
  const { settings, timeout } = parts;
  const baseUrl = settings.get("baseUrl");
  if (baseUrl === undefined) throw noAccount();
  if (settings.unread.length > 0) throw unreadAccount(settings);
  const clock = watchClock(parts.send, parts.now);
  const once = untilInterrupted({ ...parts, send: clock.send });
  const send = parts.retries ? withRetries({ ...parts, send: once }) : once;
  const tokens = tokensOf({ ...parts, send });
  return createApi({
    send,
    sent: clock.earliest,
    awaiting: parts.awaiting,
    now: parts.now,
    baseUrl,
    tokens,
    timeout,
    transactionUrl: settings.get("transactionUrl"),
  });
}

/** Starts no exchange after an interruption, or when the time of the command has passed. */
const untilInterrupted =
  ({ send, signal }: Pick<ClientParts, "send" | "signal">): Send =>
  async (request, options) => {
    signal.throwIfAborted();
    return send(request, { ...options, signal });
  };

export const noAccount = (): PaylinkError => new PaylinkError("no_profile", "No account configured.");

function unreadAccount({ unread, profile = "" }: ResolvedSettings): PaylinkError {
  const empty = unread.filter(({ meant }) => meant === undefined).map(({ name }) => name);
  const reasons = [
    ...(empty.length === 0
      ? []
      : [`${empty.join(" and ")} ${wordFor(empty.length, "is", "are")} set, but empty.`]),
    ...unread.flatMap(({ name, meant }) =>
      meant === undefined ? [] : [`${name} is not a variable of paylink. Did you mean ${meant}?`],
    ),
  ];
  const names = unread.map(({ name }) => name).join(" and ");
  return new PaylinkError(
    "no_token",
    `${reasons.join(" ")} The account of the current profile, ${profile}, is not used instead.`,
    {
      consequence: "Nothing was sent.",
      hints: [hint`To use that account, unset ${names}, or name the profile: --profile ${profile}`],
    },
  );
}

/** Throws `no_token`. */
function tokensOf({ sharedToken, ...parts }: ClientParts): TokenSource {
  const { settings } = parts;
  const { login, profile } = settings;
  if (login === undefined) throw noToken(settings);
  if (login.kind === "token") return fixedToken(login.token);
  const { clientId, clientSecret, tokenUrl, isStored } = login;
  const client = { tokenUrl, clientId, scope: settings.get("tokenScope") };
  const auth = settings.get("tokenAuth") ?? "post";
  // Whoever has the same credentials has the same token. A profile's name has no such sign.
  const digest = (): string =>
    `+${createHash("sha256")
      .update(JSON.stringify([client, clientSecret]))
      .digest("hex")}`;
  const owner = { name: isStored ? (profile ?? "") : digest(), client, isStored };
  return tokensByCredentials({
    ...parts,
    credentials: { ...client, clientSecret, auth },
    shared: sharedToken(owner),
  });
}

/** The settings that obtain a token; a known service has the token URL. */
export const CREDENTIALS = ["clientId", "clientSecret", "tokenUrl"] as const;

function noToken(settings: ResolvedSettings): PaylinkError {
  const { withheld, profile = "" } = settings;
  if (withheld === undefined) {
    const missing = CREDENTIALS.filter((key) => settings.get(key) === undefined);
    if (settings.get("clientSecret") === undefined)
      return new PaylinkError("no_token", "No access token configured.");
    const variables = missing.map((key) => SETTINGS[key].variable).join(" and ");
    return new PaylinkError(
      "no_token",
      `There are client credentials for the service, but no ${variables}.`,
      {
        consequence: "Nothing was sent.",
        hints: [hint`Set ${variables} too, or store the whole account: ${paylink`login`}`],
      },
    );
  }
  const { secret, variable, address, stored } = withheld;
  const owner = stored === undefined ? "" : ` was stored for ${stored}, and`;
  return new PaylinkError(
    "no_token",
    `The ${secret} of profile ${profile}${owner} does not go to ${address}, which ${variable} names.`,
    {
      consequence: "Nothing was sent.",
      hints: [
        hint`To use that address, give its token in PAYLINK_TOKEN, or its client credentials in PAYLINK_CLIENT_ID, PAYLINK_CLIENT_SECRET and PAYLINK_TOKEN_URL.`,
        hint`To use the profile's own address, unset ${variable}.`,
      ],
    },
  );
}

/** The clock of the service beside this one: links have its dates, so advice to look for one goes by whichever is behind. */
function watchClock(send: Send, now: () => Date) {
  let behind = 0;
  /** The same `Send`, which notes the date of each answer. */
  const watched: Send = async (request, options) => {
    const reply = await send(request, options);
    const [date = ""] = fieldLines(reply.headers, "date");
    const answered = Date.parse(date);
    if (!Number.isNaN(answered)) behind = Math.max(behind, now().getTime() - answered);
    return reply;
  };
  return {
    send: watched,
    /** The time by the clock that is behind. */
    earliest: (): Date => new Date(now().getTime() - behind),
  };
}
