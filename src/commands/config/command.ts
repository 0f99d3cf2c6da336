/** `paylink config`: its subcommands, which show and change the settings of a profile. */
import { accepted } from "../../values/parse-result.ts";
import { argument, command, toggle, verbatim } from "../command.ts";
import { listSettings, printSetting, removeSetting, settingName, storeSetting } from "./config.ts";

const keyArgument = (example: string) =>
  argument(
    "<key>",
    "the setting; paylink help settings lists them",
    (typed) => accepted(settingName(typed)),
    { example },
  );

export default command({
  examples: ["paylink config list", "paylink config set currency EUR"],
  commands: {
    list: command({
      summary: "list every value in effect and where it comes from",
      examples: ["paylink config list", "paylink config list --json"],
      isDefault: true,
      run: listSettings,
    }),
    get: command({
      summary: "print one value in effect",
      examples: ["paylink config get baseUrl", "paylink config get currency --profile sandbox"],
      arguments: { key: keyArgument("baseUrl") },
      run: (context, { key }) => printSetting(context, key),
    }),
    set: command({
      summary: "store a value in the profile",
      examples: ["paylink config set currency EUR", "paylink config set expires 36h --profile sandbox"],
      arguments: {
        key: keyArgument("currency"),
        values: argument("<value...>", "its value; webhookKey takes several", verbatim, { example: "EUR" }),
      },
      flags: { check: toggle("--no-check", "store webhookKey without reading the key") },
      consequence: "Nothing was stored.",
      run: storeSetting,
    }),
    unset: command({
      summary: "remove a value from the profile",
      examples: ["paylink config unset expires", "paylink config unset callbackUrl --profile sandbox"],
      arguments: { key: keyArgument("expires") },
      run: (context, { key }) => removeSetting(context, key),
    }),
    path: command({
      summary: "print the path of the settings file",
      examples: ["paylink config path", 'cat "$(paylink config path)"'],
      run: async ({ out, profiles }) => {
        const file = await profiles();
        out.result({ path: file.path }, file.path);
        return 0;
      },
    }),
  },
});
