/** `paylink logout`: deletes a profile's secrets, and nothing else. */
import { PaylinkError } from "../domain/errors.ts";
import { safeText } from "../render/safe-text.ts";
import { withoutCredentials } from "../settings/profile.ts";
import { SETTINGS } from "../settings/setting-table.ts";
import { command } from "./command.ts";

export default command({
  examples: ["paylink logout", "paylink logout --profile sandbox"],
  run: async ({ out, env, settings, profiles, forgetToken }) => {
    const { profile } = await settings();
    if (profile === undefined) throw new PaylinkError("no_profile", "There is no profile to log out of.");
    await (await profiles()).change(profile, withoutCredentials);
    forgetToken(profile);
    out.result({ profile, loggedOut: true }, `Deleted the secrets of profile ${safeText(profile)}.`);
    for (const { variable } of [SETTINGS.token, SETTINGS.clientSecret])
      if (env[variable]) out.warn(`${variable} is still set in the environment, and paylink uses it.`);
    return 0;
  },
});
