/**
 * Packs paylink-webhooks, the library alone: `npm run pack:webhooks`. Arguments go to `npm pack`, such as
 * `-- --pack-destination <folder>`.
 */
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { bundledPackages, notices } from "./bundled-packages.mjs";
import { buildLibrary } from "./library.mjs";

const root = new URL("../", import.meta.url);
const { version, license, repository, bugs, homepage, publishConfig, engines } = JSON.parse(
  readFileSync(new URL("package.json", root), "utf8"),
);
const manifest = {
  name: "paylink-webhooks",
  version,
  description:
    "Verify the signed webhooks of a payment link (RFC 9421) in your application, with typed transactions.",
  keywords: ["payments", "payment-links", "webhooks", "rfc9421", "http-message-signatures"],
  license,
  repository,
  bugs,
  homepage,
  type: "commonjs",
  sideEffects: false,
  // For TypeScript's older resolution and for bundlers, which do not read `exports`.
  main: "./index.cjs",
  module: "./index.mjs",
  types: "./index.d.cts",
  exports: {
    ".": {
      import: { types: "./index.d.mts", default: "./index.mjs" },
      require: { types: "./index.d.cts", default: "./index.cjs" },
    },
    "./package.json": "./package.json",
  },
  publishConfig,
  engines,
};

/** The section of paylink's README about the library. */
function readme() {
  const text = readFileSync(new URL("README.md", root), "utf8");
  const section = /^## In your application\n([^]*?)^## /m.exec(text)?.[1];
  if (section === undefined) throw new Error('The README has no section "In your application".');
  return `# paylink-webhooks\n\n${manifest.description} It has no dependencies.\n\nIts command line, with a sandbox to test against, is [paylink](https://www.npmjs.com/package/paylink).\n${section}`;
}

const folder = mkdtempSync(join(tmpdir(), "paylink-webhooks-"));
try {
  const bundle = await buildLibrary(pathToFileURL(`${folder}/`), { readable: true });
  writeFileSync(join(folder, "THIRD-PARTY-NOTICES.txt"), notices(bundledPackages(bundle)));
  copyFileSync(new URL("LICENSE", root), join(folder, "LICENSE"));
  writeFileSync(join(folder, "package.json"), `${JSON.stringify(manifest, undefined, 2)}\n`);
  writeFileSync(join(folder, "README.md"), readme());
  execFileSync("npm", ["pack", ...process.argv.slice(2), folder], {
    cwd: fileURLToPath(root),
    stdio: "inherit",
  });
} finally {
  rmSync(folder, { recursive: true, force: true });
}
