/** `paylink config`: its subcommands and help, and what runs them. */
import { examples, type Declare } from "../declare.ts";

export const declareConfig: Declare = (config, execute) => {
  const load = () => import("./config.ts");
  const list = config
    .command("list", { isDefault: true })
    .description("list every value in force and where it comes from")
    .action(() => execute(list, async (context) => (await load()).listSettings(context)));
  const get = config
    .command("get")
    .description("print one value in force")
    .argument("<key>", "the setting")
    .action((key) => execute(get, async (context) => (await load()).printSetting(context, key)));
  const set = config
    .command("set")
    .description("store a value in the profile")
    .argument("<key>", "the setting")
    .argument("<value...>", "its value; webhookKey takes several")
    .action((key, values) =>
      execute(set, async (context) => (await load()).storeSetting(context, key, values)),
    );
  const unset = config
    .command("unset")
    .description("remove a value from the profile")
    .argument("<key>", "the setting")
    .action((key) => execute(unset, async (context) => (await load()).removeSetting(context, key)));
  const path = config
    .command("path")
    .description("print the path of the settings file")
    .action(() => execute(path, async (context) => (await load()).printPath(context)));
  // The settings are loaded only for this help.
  config.hook("preSubcommand", async (_config, subcommand) => {
    if (subcommand.name() !== "set" || !config.args.some((word) => word === "--help" || word === "-h"))
      return;
    const { isConfigKey } = await import("../../settings/setting-table.ts");
    const { explainSetting } = await import("../setting-help.ts");
    const key = config.args.map((word) => word.replace(/^headers\..*$/, "headers")).find(isConfigKey);
    if (key !== undefined) set.addHelpText("before", `${explainSetting(key)}\n`);
  });
  examples(config, ["paylink config list", "paylink config set currency EUR"]);
  examples(list, ["paylink config list", "paylink config list --json"]);
  examples(get, ["paylink config get baseUrl", "paylink config get currency --profile sandbox"]);
  examples(set, [
    "paylink config set currency EUR",
    "paylink config set expires 36h --profile sandbox",
    "paylink config set currency --help",
  ]);
  examples(unset, ["paylink config unset expires", "paylink config unset callbackUrl --profile sandbox"]);
  examples(path, ["paylink config path", 'cat "$(paylink config path)"']);
};
