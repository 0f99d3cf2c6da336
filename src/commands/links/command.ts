/** `paylink links`: its subcommands and their help. */
import { examples, type Declare } from "../declare.ts";
import { linkFlags, listFlags, timeoutFlag, updateFlags } from "./flags.ts";

export const declareLinks: Declare = (links, execute) => {
  examples(links, ["paylink links", "paylink links list --status active --since 30d"]);

  const list = listFlags(
    links.command("list", { isDefault: true }).description("list the links of the last 7 days, newest first"),
  ).action((flags) =>
    execute(list, async (context) => {
      const { listOptions } = await import("./options.ts");
      const { listLinks } = await import("./list-links.ts");
      return listLinks(context, await listOptions(flags, context));
    }),
  );
  examples(list, ["paylink links list --status active --since 30d", "paylink links list --limit 5 --quiet"]);

  const show = linkFlags(links.command("show").description("show one link: every field and date"))
    .argument("<link>", "the link's id or URL")
    .action((link, flags) =>
      execute(show, async (context) => {
        const { linkOptions } = await import("./options.ts");
        const { showLinkDetails } = await import("./one-link.ts");
        return showLinkDetails(context, linkOptions(link, flags, "Nothing was read."));
      }),
    );
  examples(show, [
    "paylink links show $(paylink create --amount 10 --currency EUR --quiet)",
    "paylink links show $(paylink links list --limit 1 --quiet) --json",
  ]);

  const update = updateFlags(
    links
      .command("update")
      .description("change the description or the expiry of a link that is active or viewed"),
  )
    .argument("<link>", "the link's id or URL")
    .action((link, flags) =>
      execute(update, async (context) => {
        const { updateOptions } = await import("./options.ts");
        const { updateLink } = await import("./one-link.ts");
        return updateLink(context, await updateOptions(link, flags, context));
      }),
    );
  examples(update, [
    "paylink links update $(paylink create --amount 10 --currency EUR --quiet) --expires 14d",
    "paylink links update $(paylink create --reusable --quiet) --description 'Order 1042'",
  ]);

  const cancel = linkFlags(
    links.command("cancel").description("cancel links, so that nobody can pay them any more"),
  )
    .argument("<link...>", "ids or URLs of links")
    .action((names, flags) =>
      execute(cancel, async (context) => {
        const { cancelOptions } = await import("./options.ts");
        const { cancelLinks } = await import("./cancel-links.ts");
        return cancelLinks(context, cancelOptions(names, flags));
      }),
    );
  examples(cancel, [
    "paylink links cancel $(paylink create --amount 10 --currency EUR --quiet)",
    "paylink links cancel $(paylink create --reusable --quiet) --yes --json",
  ]);

  const open = timeoutFlag(links.command("open").description("open a link in the browser"))
    .argument("<link>", "the link's id or URL")
    .action((link, flags) =>
      execute(open, async (context) => {
        const { linkOptions } = await import("./options.ts");
        const { openLink } = await import("./one-link.ts");
        return openLink(context, linkOptions(link, flags, "Nothing was opened."));
      }),
    );
  examples(open, [
    "paylink links open $(paylink create --amount 10 --currency EUR --quiet)",
    "paylink links open $(paylink links list --limit 1 --quiet)",
  ]);
};
