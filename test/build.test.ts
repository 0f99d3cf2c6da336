/** The replacements of the bundle: each must match an import, or the build fails. */
import { build } from "rolldown";
import { describe, expect, it } from "vitest";
import { replacements } from "../.config/replacements.mjs";

const ENTRY = "virtual:entry";

/** Bundles `import "replaced"` with the replacements for the names. */
async function bundle(names: readonly string[]): Promise<string[]> {
  const standIn = new URL("../.config/stand-ins/when-exit.mjs", import.meta.url);
  const { output } = await build({
    input: ENTRY,
    write: false,
    plugins: [
      {
        name: "entry",
        resolveId: (id) => (id === ENTRY ? id : null),
        load: (id) => (id === ENTRY ? `export { default } from "replaced";` : null),
      },
      replacements(Object.fromEntries(names.map((name) => [name, standIn]))),
    ],
  });
  return output.flatMap((file) => (file.type === "chunk" ? Object.keys(file.modules) : []));
}

describe("a replacement", () => {
  it("replaces the module", async () => {
    expect((await bundle(["replaced"])).join()).toContain("stand-ins/when-exit.mjs");
  });

  it("fails the build when nothing imports the module", async () => {
    await expect(bundle(["replaced", "renamed"])).rejects.toThrow("Nothing imports renamed");
  });
});
