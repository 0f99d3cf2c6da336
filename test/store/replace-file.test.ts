/** A file that is replaced as a whole, on a real disk. */
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { replaceFile } from "../../src/store/replace-file.ts";
import { temporaryHome } from "../support/home.ts";

it("makes the folder and the file, for the owner only, and replaces the file", () => {
  const folder = join(temporaryHome(), "tokens");
  const path = join(folder, "shop.json");
  for (const text of ["old", "new"]) {
    replaceFile(path, text);
    expect(readFileSync(path, "utf8")).toBe(text);
  }
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  expect(readdirSync(folder)).toEqual(["shop.json"]);
});

it("leaves what is there, and no draft, where the file cannot be replaced", () => {
  const home = temporaryHome();
  const path = join(home, "shop.json");
  mkdirSync(path);
  writeFileSync(join(path, "inside"), "text");
  expect(() => replaceFile(path, "new")).toThrow(/EISDIR|ENOTEMPTY|EEXIST|EPERM/);
  expect(readdirSync(home)).toEqual(["shop.json"]);
  expect(readdirSync(path)).toEqual(["inside"]);
});
