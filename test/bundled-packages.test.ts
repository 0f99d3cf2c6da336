/** What a package in the bundle needs besides its import: who may import it, who updates it, and that it is not too large. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, it } from "vitest";
import { parse } from "yaml";
import { FILES, FOLDERS } from "./architecture/folders.mjs";
import { importsOf, readSources } from "./architecture/sources.ts";
import { SIZE_BARS } from "./support/packages.ts";

const ROOT = resolve(import.meta.dirname, "..");
const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");

const manifest = JSON.parse(read("package.json")) as {
  readonly devDependencies: Readonly<Record<string, string>>;
};
const bundled = (JSON.parse(read("dist/sbom.cdx.json")) as { components: { name: string }[] }).components;
const dependabot = parse(read(".github/dependabot.yml")) as {
  updates: { groups: Record<string, { patterns: string[] }> }[];
};

/** `hono/html` is of `hono`. */
const packageOf = (target: string): string => target.split("/", target.startsWith("@") ? 2 : 1).join("/");

const isFree = (file: string): boolean =>
  file === "main" || file === "open-context" || file.startsWith("commands/");

/** The packages that a folder or a file imports that may import only what is named. */
const imported = new Set(
  readSources()
    .flatMap(importsOf)
    .flatMap(({ file, target }) => (isFree(file) ? [] : [packageOf(target)])),
);

const allowed = new Set(
  [...Object.values(FOLDERS).flatMap(({ mayImport }) => mayImport), ...Object.values(FILES).flat()].map(
    packageOf,
  ),
);

/** Bytes of the files that the package has in dist/. */
function installedSize(folder = join(ROOT, "dist")): number {
  const sizes = readdirSync(folder, { withFileTypes: true }).map((entry) => {
    const path = join(folder, entry.name);
    if (entry.isFile()) return statSync(path).size;
    return path === join(ROOT, "dist/webhooks") ? 0 : installedSize(path);
  });
  return sizes.reduce((sum, size) => sum + size, 0);
}

it("each package in the bundle has a folder and updates, and fits within the size bar", () => {
  const inBundle = Object.keys(manifest.devDependencies).filter((name) =>
    bundled.some((one) => one.name === name),
  );
  expect(inBundle.length).toBeGreaterThan(10);
  const updated = dependabot.updates[0]?.groups["bundled"]?.patterns ?? [];
  // The bundle has the parts of @inquirer/prompts, which only exports them.
  const known = [...inBundle, "@inquirer/prompts"];
  const size = installedSize();
  expect([
    ...inBundle
      .filter((name) => imported.has(name) && !allowed.has(name))
      .map((name) => `test/architecture/folders.mjs lacks ${name}`),
    ...known.filter((name) => !updated.includes(name)).map((name) => `.github/dependabot.yml lacks ${name}`),
    ...updated.filter((name) => !known.includes(name)).map((name) => `.github/dependabot.yml has ${name}`),
    ...(size > SIZE_BARS.installed ? [`dist/ has ${size} bytes, more than ${SIZE_BARS.installed}`] : []),
  ]).toEqual([]);
});
