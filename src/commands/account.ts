/** The account in force, for every command that works at the service: its client, with retries that say so. */
import { openApi } from "../api/client-from-settings.ts";
import type { Api } from "../api/client.ts";
import type { Wait } from "../api/retries.ts";
import type { Context } from "../context.ts";
import { safeText } from "../render/safe-text.ts";
import type { InForce } from "../store/in-force.ts";
import { withoutAccessToken } from "../store/profile.ts";

/** Throws `no_profile`, `no_token`. */
export async function openAccount(context: Context, settings: InForce, timeout: number): Promise<Api> {
  const { out, send, now, random, pause } = context;
  return openApi({
    send,
    now,
    random,
    pause,
    settings,
    timeout,
    waiting: (wait) => out.note(`${out.notePaint.yellow("!")} ${safeText(waitWords(wait))}`),
    keep: async (profile, { token, expires }) =>
      (await context.settings()).change(profile, (before) => ({
        ...withoutAccessToken(before),
        accessToken: token,
        ...(expires === undefined ? {} : { accessTokenExpires: expires }),
      })),
  });
}

const waitWords = ({ reason, milliseconds, retry, retries }: Wait): string =>
  `Nothing was done: ${reason}. Trying again in ${(milliseconds / 1000).toFixed(1)} s (${retry} of ${retries}).`;
