/** `paylink config`: its subcommands and help. */
import { examples, type Register } from "../declare.ts";

export const registerConfig: Register = (program, start) => {
  const config = program
    .command("config")
    .description("show and change the defaults of a profile, and which profile is current");
  const load = () => import("./config.ts");
  const list = config
    .command("list", { isDefault: true })
    .description("every value in force, and where it comes from")
    .action(async () => (await load()).list(await start(list)));
  const get = config
    .command("get")
    .description("print one value in force")
    .argument("<key>", "the setting")
    .action(async (key: string) => (await load()).get(await start(get), key));
  const set = config
    .command("set")
    .description("store a value in the profile")
    .argument("<key>", "the setting")
    .argument("<value>", "its value")
    .action(async (key: string, value: string) => (await load()).set(await start(set), key, value));
  const unset = config
    .command("unset")
    .description("remove a value from the profile")
    .argument("<key>", "the setting")
    .action(async (key: string) => (await load()).unset(await start(unset), key));
  const use = config
    .command("use")
    .description("make a profile the current one")
    .argument("<profile>", "its name")
    .action(async (name: string) => (await load()).use(await start(use), name));
  const path = config
    .command("path")
    .description("print where the settings are kept")
    .action(async () => (await load()).path(await start(path)));
  examples(config, ["paylink config list", "paylink config set currency EUR"]);
  examples(list, ["paylink config list", "paylink config list --json"]);
  examples(get, ["paylink config get baseUrl", "paylink config get currency --profile sandbox"]);
  examples(set, ["paylink config set currency EUR", "paylink config set expires 36h --profile sandbox"]);
  examples(unset, ["paylink config unset expires", "paylink config unset callbackUrl --profile sandbox"]);
  examples(use, ["paylink config use sandbox", "paylink config use sandbox --json"]);
  examples(path, ["paylink config path", 'cat "$(paylink config path)"']);
};
