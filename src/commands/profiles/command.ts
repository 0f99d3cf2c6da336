/** `paylink profiles`: its subcommands and help, and what runs them. */
import { examples, type Declare } from "../declare.ts";

export const declareProfiles: Declare = (profiles, execute) => {
  const load = () => import("./profiles.ts");
  const list = profiles
    .command("list", { isDefault: true })
    .description("list every profile with its service")
    .action(() => execute(list, async (context) => (await load()).listProfiles(context)));
  const use = profiles
    .command("use")
    .description("make a profile the current one")
    .argument("<profile>", "its name")
    .action((name) => execute(use, async (context) => (await load()).useProfile(context, name)));
  const rename = profiles
    .command("rename")
    .description("give a profile another name")
    .argument("<profile>", "its name")
    .argument("<new name>", "letters, digits, . _ and -")
    .action((name, next) =>
      execute(rename, async (context) => (await load()).renameProfile(context, name, next)),
    );
  const remove = profiles
    .command("remove")
    .description("delete a profile with its settings and secrets")
    .argument("<profile>", "its name")
    .action((name) => execute(remove, async (context) => (await load()).removeProfile(context, name)));
  examples(profiles, ["paylink profiles", "paylink profiles use sandbox"]);
  examples(list, ["paylink profiles list", "paylink profiles list --json"]);
  examples(use, ["paylink profiles use sandbox", "paylink profiles use sandbox --json"]);
  examples(rename, [
    "paylink config set currency EUR -p shop && paylink profiles rename shop my-shop",
    "paylink profiles rename my-shop shop --json",
  ]);
  examples(remove, [
    "paylink profiles remove sandbox",
    "paylink config set currency EUR -p old && paylink profiles remove old --yes",
  ]);
};
