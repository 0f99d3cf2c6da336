/** Makes the package paylink-webhooks: the library alone, for both module systems, with its types. */
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "rolldown";
import { isolatedDeclarationSync } from "rolldown/experimental";
import { bundledPackages, notices } from "./bundled-packages.mjs";

const root = new URL("../", import.meta.url);
const source = (/** @type {string} */ name) => fileURLToPath(new URL(`src/${name}.ts`, root));

/** The modules that the types of the library are in; `test:package` fails where one is missing. */
const TYPES = [
  "library/webhooks",
  "library/types",
  "library/transaction-types",
  "library/webhook-error",
  "signatures/verdict",
  "domain/reasons",
];

/** @param {URL} folder where the package is written */
export async function buildLibrary(folder) {
  /** @param {string} name */
  const file = (name) => fileURLToPath(new URL(name, folder));
  mkdirSync(folder, { recursive: true });
  const output = await bundle(file("index.mjs"), "esm");
  await bundle(file("index.cjs"), "cjs");
  for (const name of TYPES) {
    const { code, errors } = isolatedDeclarationSync(source(name), readFileSync(source(name), "utf8"));
    for (const { message } of errors) throw new Error(`${name}: ${message}`);
    mkdirSync(new URL(`types/${name}/..`, folder), { recursive: true });
    writeFileSync(file(`types/${name}.d.ts`), code);
  }
  writeFileSync(file("index.d.cts"), 'export * from "./types/library/webhooks.ts";\n');
  writeFileSync(file("index.d.mts"), 'export * from "./index.cjs";\n');
  writeFileSync(file("THIRD-PARTY-NOTICES.txt"), notices(bundledPackages(output)));
  writeFileSync(file("package.json"), `${JSON.stringify(manifest(), undefined, 2)}\n`);
  writeFileSync(file("README.md"), readme());
  copyFileSync(new URL("LICENSE", root), file("LICENSE"));
}

/**
 * Each module system has a file of its own: bundlers cannot make ESM of a `require` of Node's modules, and Workers know no `require`.
 * @param {string} file
 * @param {"esm" | "cjs"} format
 */
async function bundle(file, format) {
  const { output } = await build({
    input: source("library/webhooks"),
    platform: "node",
    // Our own modules and the packages in the bundle do nothing when they load, so that what is not used goes.
    treeshake: { moduleSideEffects: false },
    // Deno has no global Buffer.
    transform: { inject: { Buffer: ["node:buffer", "Buffer"] } },
    output: { file, format, comments: false },
  });
  return output;
}

const DESCRIPTION =
  "Verify the signed webhooks of a payment link (RFC 9421) in your application, with typed transactions.";

function manifest() {
  const { version, license, repository, bugs, homepage, publishConfig, engines } = JSON.parse(
    readFileSync(new URL("package.json", root), "utf8"),
  );
  return {
    name: "paylink-webhooks",
    version,
    description: DESCRIPTION,
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
}

/** The section of paylink's README about the library, and the receiver that it saves. */
function readme() {
  const [, section] = readFileSync(new URL("README.md", root), "utf8").split("\n## In your application\n");
  if (section === undefined) throw new Error('The README has no section "In your application".');
  const [text = ""] = section.split("\n## ", 1);
  const published = text.replace(/\.\/(paylink-webhooks)-[\d.]+\.tgz/, "$1");
  const receiver = readFileSync(new URL("src/texts/recipes/express.mjs", root), "utf8");
  return `# paylink-webhooks\n\n${DESCRIPTION} It has no dependencies.\n\nThe command line [paylink](https://www.npmjs.com/package/paylink) receives webhooks too, and has a sandbox to test against.\n${published}\n\n\`shop.mjs\`:\n\n\`\`\`js\n${receiver}\`\`\`\n`;
}
