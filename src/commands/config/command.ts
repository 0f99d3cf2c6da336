/** `paylink config`: its subcommands and help, and what runs them. */
import { examples, type Register } from "../declare.ts";

export const registerConfig: Register = (program, execute) => {
  const config = program
    .command("config")
    .description("show and change the defaults of a profile, and which profile is current");
  const load = () => import("./config.ts");
  const list = config
    .command("list", { isDefault: true })
    .description("every value in force, and where it comes from")
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
  const use = config
    .command("use")
    .description("make a profile the current one")
    .argument("<profile>", "its name")
    .action((name) => execute(use, async (context) => (await load()).useProfile(context, name)));
  const path = config
    .command("path")
    .description("print where the settings are kept")
    .action(() => execute(path, async (context) => (await load()).printPath(context)));
  examples(config, ["paylink config list", "paylink config set currency EUR"]);
  examples(list, ["paylink config list", "paylink config list --json"]);
  examples(get, ["paylink config get baseUrl", "paylink config get currency --profile sandbox"]);
  examples(set, ["paylink config set currency EUR", "paylink config set expires 36h --profile sandbox"]);
  examples(unset, ["paylink config unset expires", "paylink config unset callbackUrl --profile sandbox"]);
  examples(use, ["paylink config use sandbox", "paylink config use sandbox --json"]);
  examples(path, ["paylink config path", 'cat "$(paylink config path)"']);
};
