/** What a bundle holds of other packages: their licences, and a bill of materials (CycloneDX 1.6). */
import { readdirSync, readFileSync } from "node:fs";
import { relative } from "node:path";
import { fileURLToPath } from "node:url";

const root = new URL("../", import.meta.url);

/** @param {string | URL} file */
const readJson = (file) => JSON.parse(readFileSync(file, "utf8"));

/**
 * @typedef {object} BundledPackage
 * @property {string} name
 * @property {string} version
 * @property {string} licence as in the package's own package.json
 * @property {string} text the text of the licence
 * @property {string} integrity of its tarball, as in package-lock.json
 */

/**
 * The packages with a module in the bundle, by name.
 * @param {import("rolldown").RolldownOutput["output"]} files
 */
export function bundledPackages(files) {
  const { packages } = readJson(new URL("package-lock.json", root));
  const paths = files
    .flatMap((file) => (file.type === "chunk" ? Object.keys(file.modules) : []))
    .map((path) => relative(fileURLToPath(root), path).replaceAll("\\", "/"))
    .map((path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(path)?.[0])
    .filter((path) => path !== undefined);
  return [...new Set(paths)].toSorted().map((path) => {
    const folder = new URL(`${path}/`, root);
    const { name, version, license: licence, author } = readJson(new URL("package.json", folder));
    const text = licenceFiles(folder) ?? licenceByName(name, licence, author);
    return { name, version, licence, text, integrity: packages[path].integrity };
  });
}

/**
 * A package with two licences may name them in one file and have their texts in others.
 * @param {URL} folder
 */
function licenceFiles(folder) {
  const files = readdirSync(folder).filter((name) => /^licen[cs]e/i.test(name));
  const texts = files.toSorted().map((file) => readFileSync(new URL(file, folder), "utf8"));
  return texts.length === 0 ? undefined : texts.join("\n");
}

/**
 * Some packages name the MIT licence and leave its text out. It is the text of our own licence.
 * @param {string} name
 * @param {string} licence
 * @param {string | { name: string }} author
 */
function licenceByName(name, licence, author) {
  if (!licence.startsWith("MIT") || author === undefined)
    throw new Error(`${name}: the package contains no licence text.`);
  const holder = typeof author === "string" ? author : author.name;
  return readFileSync(new URL("LICENSE", root), "utf8").replace(/^Copyright .*$/m, `Copyright (c) ${holder}`);
}

/** A line of a licence that is the package's own, such as `Copyright (c) 2024 Ada Lovelace`. */
const COPYRIGHT = /^ *Copyright (?:\([cC]\)|©|\d).*\n?/gm;

/**
 * The packages with the text of their licence: each text once, below the copyright lines of the packages that share it.
 * @param {readonly BundledPackage[]} packages
 */
export function notices(packages) {
  /** @type {Map<string, { text: string, packages: string[] }>} */
  const licences = new Map();
  for (const { name, version, licence, text } of packages) {
    const shared = text.replace(COPYRIGHT, "");
    const words = shared.replace(/\s+/g, " ").trim();
    const known = licences.get(words) ?? { text: shared.replace(/\n{3,}/g, "\n\n").trim(), packages: [] };
    const own = (text.match(COPYRIGHT) ?? []).map((line) => `  ${line.trim()}\n`);
    known.packages.push([`${name} ${version} (${licence})\n`, ...own].join(""));
    licences.set(words, known);
  }
  return [...licences.values()]
    .map((shared) => `${shared.packages.join("")}\n${shared.text}\n`)
    .join(`\n${"-".repeat(80)}\n\n`);
}

/**
 * A bill of materials. It has no serial number and no date, so that the same sources give the same file.
 * @param {{ name: string, version: string, license: string }} main the package that has the bundle
 * @param {readonly BundledPackage[]} packages
 */
export function billOfMaterials({ name, version, license }, packages) {
  const components = packages.map((each) => ({
    ...component("library", each.name, each.version, each.licence),
    hashes: [
      {
        alg: "SHA-512",
        content: Buffer.from(each.integrity.replace("sha512-", ""), "base64").toString("hex"),
      },
    ],
  }));
  return {
    $schema: "http://cyclonedx.org/schema/bom-1.6.schema.json",
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: { component: component("application", name, version, license) },
    components,
  };
}

/**
 * @param {string} type
 * @param {string} name
 * @param {string} version
 * @param {string} licence an SPDX identifier, or another name
 */
function component(type, name, version, licence) {
  const purl = `pkg:npm/${name.replace("@", "%40")}@${version}`;
  const license = /^[A-Za-z0-9.-]+$/.test(licence) ? { id: licence } : { name: licence };
  return { type, "bom-ref": purl, name, version, licenses: [{ license }], purl };
}
