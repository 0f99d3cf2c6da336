/** `paylink login`: its flags and help. */
import { SANDBOX_URL } from "../../domain/known-services.ts";
import { SETTINGS, type AccountKey, type SettingValue } from "../../settings/setting-table.ts";
import { command, excludes, flag, group, toggle, type Declared, type Flag } from "../command.ts";
import { loginOptions, parseAccountValue, storeAccount } from "./login.ts";

type AccountFlags<Key extends AccountKey> = { readonly [One in Key]: Flag<SettingValue<One>> };

/** Flags as the table of settings describes them. */
function accountFlags<Key extends AccountKey>(...keys: readonly Key[]): AccountFlags<Key> {
  const flags = keys.map((key) => {
    const { login: how, means, example } = SETTINGS[key];
    return [key, flag(how.flag, means, parseAccountValue(key), { example })];
  });
  return Object.fromEntries(flags) as AccountFlags<Key>;
}

/** A secret is never an argument, which other users see. */
const secretFlag = (key: "token" | "clientSecret"): Declared =>
  toggle(SETTINGS[key].login.flag, `read ${SETTINGS[key].means} from standard input`);

export default command({
  examples: [
    `echo "$TOKEN" | paylink login -p shop --base-url ${SANDBOX_URL} --terminal-id 1234567890 --currency EUR --customer-name "Ada Lovelace" --token-stdin`,
    `echo "$SECRET" | paylink login -p my-shop --base-url ${SANDBOX_URL} --terminal-id 1234567890 --client-id sandbox --client-secret-stdin --token-url ${SANDBOX_URL}/oauth2/token --token-scope pay_by_link`,
  ],
  notes: `On a terminal, paylink login alone asks for everything that it needs. A secret is never the value of a flag, which others on the machine could see. $TOKEN and $SECRET below are what the service gave you. Those of the sandbox stand in its profile, in the settings file that paylink config path names. A profile becomes the current one if there is none, or if you say so; with --yes it does not.`,
  flags: {
    ...group(
      "The account:",
      accountFlags(
        "service",
        "baseUrl",
        "terminalId",
        "currency",
        "customerName",
        "callbackUrl",
        "webhookKey",
      ),
    ),
    ...group("An access token:", { tokenStdin: secretFlag("token") }),
    ...group("Client credentials (OAuth 2.0):", {
      ...accountFlags("clientId"),
      clientSecretStdin: secretFlag("clientSecret"),
      ...accountFlags("tokenUrl", "tokenScope", "tokenAuth"),
    }),
    ...group("Checks:", { check: toggle("--no-check", "store the account without asking the service") }),
  },
  rules: [excludes(["tokenStdin"], ["clientSecretStdin", "clientId", "tokenUrl"])],
  consequence: "Nothing was stored.",
  prepare: loginOptions,
  run: storeAccount,
});
