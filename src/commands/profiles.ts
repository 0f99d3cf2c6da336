/** `paylink profiles`: lists the profiles, and chooses or removes one. */
import { parseWebAddress } from "../values/addresses.ts";
import { renderTable, NO_VALUE } from "../render/layout.ts";
import { safeText } from "../render/safe-text.ts";
import { requireProfile } from "../settings/profile-names.ts";
import { resolveSettings } from "../settings/resolved-settings.ts";
import { argument, command, text } from "./command.ts";
import { checkConfirmable, isConfirmed, saidNo } from "./shared-flags.ts";

const NO_PROFILE = "There is no profile. Run paylink sandbox, or paylink login.";

export default command({
  examples: ["paylink profiles", "paylink profiles use sandbox"],
  commands: {
    list: command({
      summary: "list every profile with its service",
      examples: ["paylink profiles list", "paylink profiles list --json"],
      isDefault: true,
      run: async ({ out, profiles }) => {
        const settings = await profiles();
        const current = settings.current();
        const listed = Object.entries(settings.profiles()).map(([name, profile]) => {
          const { service, terminalId } = profile;
          const resolved = resolveSettings({ name, profile, env: {} });
          const baseUrl = resolved.get("baseUrl");
          return {
            name,
            current: name === current,
            service: service ?? null,
            baseUrl: baseUrl ?? null,
            label: baseUrl === undefined ? null : resolved.label,
            terminalId: terminalId ?? null,
          };
        });
        const rows = listed.map(({ name, current: isCurrent, baseUrl, label, terminalId }) =>
          [
            isCurrent ? "*" : "",
            name,
            parseWebAddress(baseUrl ?? "")?.host ?? NO_VALUE,
            label ?? NO_VALUE,
            terminalId === null ? "" : `terminal ${terminalId}`,
          ].map((text) => ({ text })),
        );
        const document = { current: current ?? null, profiles: listed };
        out.result(document, listed.length === 0 ? undefined : renderTable(rows));
        if (listed.length === 0) out.note(NO_PROFILE);
        return 0;
      },
    }),
    use: command({
      summary: "make a profile the current one",
      examples: ["paylink profiles use sandbox", "paylink profiles use sandbox --json"],
      arguments: { name: argument("<profile>", "its name", text, { example: "sandbox" }) },
      run: async ({ out, profiles }, { name }) => {
        const settings = await profiles();
        requireProfile(name, settings.profiles());
        await settings.use(name);
        out.result({ current: name }, `The current profile is now ${safeText(name)}.`);
        return 0;
      },
    }),
    remove: command({
      summary: "delete a profile with its settings and secrets",
      examples: [
        "paylink profiles remove sandbox --yes",
        "paylink config set currency EUR -p old && paylink profiles remove old --yes",
      ],
      arguments: { name: argument("<profile>", "its name", text, { example: "sandbox" }) },
      consequence: "Nothing was deleted.",
      check: checkConfirmable,
      run: async (context, { name }) => {
        const { out } = context;
        const settings = await context.profiles();
        requireProfile(name, settings.profiles());
        const isCurrent = settings.current() === name;
        if (!(await isConfirmed(context, `Delete profile ${safeText(name)} with its settings and secrets?`)))
          return saidNo(context);
        await settings.remove(name);
        context.forgetToken(name);
        const current = settings.current() ?? null;
        out.result({ removed: name, current }, `Deleted profile ${safeText(name)}.`);
        if (Object.keys(settings.profiles()).length === 0) out.note(NO_PROFILE);
        else if (isCurrent)
          out.note("There is no current profile now. To choose one: paylink profiles use <name>");
        return 0;
      },
    }),
  },
});
