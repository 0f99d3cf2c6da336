/** A build takes the place of the earlier one as a whole, also while others do. */
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { join } from "node:path";
import { expect, it } from "vitest";
import { replaceFolder } from "../.config/replace-folder.mjs";
import { temporaryHome } from "./support/home.ts";

it("replaces a folder that is there, or not, and leaves nothing beside it", () => {
  const folder = temporaryHome();
  const place = join(folder, "dist");
  for (const name of ["first", "second"]) {
    const made = join(folder, `dist-${name}`);
    mkdirSync(made);
    writeFileSync(join(made, name), "");
    replaceFolder(made, pathToFileURL(place));
    expect(readdirSync(place)).toEqual([name]);
  }
  expect(readdirSync(folder)).toEqual(["dist"]);
});
