/** `paylink config`: its subcommands, which show and change the settings of a profile. */
import { accepted } from "../../domain/parse-result.ts";
import { isConfigKey } from "../../settings/setting-table.ts";
import { argument, command, text, toggle } from "../command.ts";
import { explainSetting } from "../help-layout.ts";

const load = () => import("./settings.ts");

const keyArgument = (example: string) =>
  argument("<key>", "the setting", async (typed) => accepted((await load()).settingName(typed)), { example });

const list = command({
  summary: "list every value in force and where it comes from",
  examples: ["paylink config list", "paylink config list --json"],
  isDefault: true,
  run: async (context) => (await load()).listSettings(context),
});

const get = command({
  summary: "print one value in force",
  examples: ["paylink config get baseUrl", "paylink config get currency --profile sandbox"],
  arguments: { key: keyArgument("baseUrl") },
  run: async (context, { key }) => (await load()).printSetting(context, key),
});

const set = command({
  summary: "store a value in the profile",
  examples: [
    "paylink config set currency EUR",
    "paylink config set expires 36h --profile sandbox",
    "paylink config set currency --help",
  ],
  introduction: (words) => {
    const named = words.find(isConfigKey);
    return named === undefined ? "" : `${explainSetting(named)}\n`;
  },
  arguments: {
    key: keyArgument("currency"),
    values: argument("<value...>", "its value; webhookKey takes several", text, { example: "EUR" }),
  },
  flags: { check: toggle("--no-check", "store webhookKey without reading the key") },
  consequence: "Nothing was stored.",
  run: async (context, { key, values, check }) => (await load()).storeSetting(context, key, values, check),
});

const unset = command({
  summary: "remove a value from the profile",
  examples: ["paylink config unset expires", "paylink config unset callbackUrl --profile sandbox"],
  arguments: { key: keyArgument("expires") },
  run: async (context, { key }) => (await load()).removeSetting(context, key),
});

const path = command({
  summary: "print the path of the settings file",
  examples: ["paylink config path", 'cat "$(paylink config path)"'],
  run: async ({ out, profiles }) => {
    const file = await profiles();
    out.data(out.json ? JSON.stringify({ path: file.path }) : file.path);
    return 0;
  },
});

export const config = command({
  examples: ["paylink config list", "paylink config set currency EUR"],
  commands: { list, get, set, unset, path },
});
