/** `paylink logout`: forgets what opens the account, and nothing else. */
import type { Context } from "../../context.ts";
import { PaylinkError } from "../../domain/errors.ts";
import { settingsInForce, VARIABLES } from "../../store/settings/in-force.ts";
import { withoutSecrets } from "../../store/settings/profile.ts";

export async function logout(context: Context): Promise<void> {
  const { out, env } = context;
  const { profile } = await settingsInForce(context);
  if (profile === undefined) throw new PaylinkError("no_profile", "There is no profile to log out of.");
  await (await context.settings()).change(profile, withoutSecrets);
  if (out.json) out.data(JSON.stringify({ profile, loggedOut: true }));
  else out.data(`The secrets of profile ${profile} are forgotten.`);
  for (const variable of [VARIABLES.token, VARIABLES.clientSecret])
    if (env[variable])
      out.note(`${out.notePaint.yellow("!")} ${variable} is still set in the environment, and is used.`);
}
