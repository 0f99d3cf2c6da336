/** The package of the library: what it holds, that every module system, compiler and bundler takes them, and its documentation. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { checkPackage, createPackageFromTarballData } from "@arethetypeswrong/core";
import { publint } from "publint";
import { build as rolldown } from "rolldown";
import ts from "typescript-5";
import { beforeAll, describe, expect, it } from "vitest";
import { installed } from "../nodes/installed.mjs";
import { temporaryHome } from "../support/home.ts";
import { npmSettings, pack } from "../support/packages.ts";
import { openShell } from "../support/shell.ts";

const ROOT = resolve(import.meta.dirname, "../..");

/** Signs, verifies and tampers with a webhook; `types` holds what a TypeScript user relies on. */
const application = (load: string, types = ""): string => `${load}
const { publicKey, privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
const url = "https://shop.example/webhooks";
const webhook = signWebhook(sampleTransaction("APPROVED"), { key: privateKey, url });
const verify = createVerifier({ key: publicKey });
async function run() {
  const { outcome, transaction, amounts } = await verify(new Request(url, webhook));
  ${types}
  const forged: unknown = await verify({ ...webhook, body: "{}" }).catch((error) => error);
  console.log(outcome, transaction.reference, amounts.amountTrans.minorUnits, forged instanceof WebhookError && forged.code);
}
void run();
`;
const javaScript = (load: string): string => application(load).replace(": unknown", "");
const PRINTED = "APPROVED INV-1001 1000n content_digest_mismatch";

const NAMES = "createVerifier, sampleTransaction, signWebhook, WebhookError";
const ESM = `import { generateKeyPairSync } from "node:crypto";
import { ${NAMES} } from "paylink-webhooks";`;
const CJS = `const { generateKeyPairSync } = require("node:crypto");
const { ${NAMES} } = require("paylink-webhooks");`;

const TYPES = `if (outcome === "APPROVED") transaction.authorisationCode?.toUpperCase();
  // @ts-expect-error: a declined payment has none.
  if (outcome === "DECLINED") transaction.authorisationCode.toUpperCase();
  const strict = await createVerifier({ key: publicKey, strict: true })(new Request(url, webhook));
  if (strict.outcome === "APPROVED") strict.transaction.authorisationCode.toUpperCase();
  // @ts-expect-error: only a payment that was approved in whole or in part has one.
  else strict.transaction.authorisationCode.toUpperCase();
  if (outcome === "CANCELLED") transaction.paymentId satisfies undefined;
  if (strict.transaction.cardScheme === "VISA" || strict.transaction.cardScheme === "UNKNOWN TO US") return;
  createServer((request) => void verify(request));
  // @ts-expect-error: a request has a method and a url.
  void verify({ headers: webhook.headers, body: webhook.body });
  // @ts-expect-error: a body that was parsed cannot be verified.
  void verify({ ...webhook, body: {} });`;

/** An empty project with the package. */
async function openProject() {
  const shell = openShell(temporaryHome());
  writeFileSync(join(shell.cwd, "package.json"), '{"name": "shop", "private": true}');
  const { filename } = await pack(shell, "paylink-webhooks");
  const run = (script: string) => shell.run(`set -e\n${script}`, { env: npmSettings(shell.home) });
  expect(await run(`npm install ./${filename}`)).toMatchObject({ code: 0, stderr: "" });
  const write = (name: string, text: string): string => {
    writeFileSync(join(shell.cwd, name), text);
    return join(shell.cwd, name);
  };
  return { cwd: shell.cwd, run, write };
}

it("is a package of its own without dependencies, of at most 120 KB", async () => {
  const shell = openShell(temporaryHome());
  const { files, size, filename } = await pack(shell, "paylink-webhooks");
  expect(files.map(({ path }) => path).toSorted()).toEqual([
    "LICENSE",
    "README.md",
    "THIRD-PARTY-NOTICES.txt",
    "index.cjs",
    "index.d.cts",
    "index.d.mts",
    "index.mjs",
    "package.json",
    "types/domain/reasons.d.ts",
    "types/library/transaction-types.d.ts",
    "types/library/types.d.ts",
    "types/library/webhook-error.d.ts",
    "types/library/webhooks.d.ts",
    "types/signatures/verdict.d.ts",
  ]);
  expect(size).toBeLessThan(120_000);
  await shell.run(`tar xzf ${filename}`);
  const read = (name: string): string => readFileSync(join(shell.cwd, "package", name), "utf8");
  const manifest = JSON.parse(read("package.json")) as Readonly<Record<string, unknown>>;
  const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { version: string };
  expect(manifest).toMatchObject({ name: "paylink-webhooks", version, license: "MIT" });
  expect(Object.keys(manifest).filter((name) => /dependencies|scripts/i.test(name))).toEqual([]);
  const notices = read("THIRD-PARTY-NOTICES.txt");
  expect(notices).toContain("structured-headers ");
  expect(read("README.md")).toMatch(/^# paylink-webhooks\n[^]*from "paylink-webhooks";/);
});

describe("paylink-webhooks", () => {
  it("loads in both module systems and with every resolution mode of TypeScript", async () => {
    const { run, write } = await openProject();
    write("esm.mjs", javaScript(ESM));
    write("cjs.cjs", javaScript(CJS));
    const typed = application(`${ESM}\nimport { createServer } from "node:http";`, TYPES);
    for (const ending of ["ts", "mts", "cts"]) write(`typed.${ending}`, typed);
    const options = `--noEmit --strict --types node --typeRoots "${join(ROOT, "node_modules/@types")}" --target es2022`;
    const compiler = (folder: string) => `node "${join(ROOT, "node_modules", folder, "bin/tsc")}" ${options}`;
    const [newest, older] = [compiler("typescript"), compiler("typescript-5")];
    const { code, stdout, stderr } = await run(
      `node esm.mjs
       node cjs.cjs
       ${newest} --module node16 --moduleResolution node16 typed.ts typed.mts typed.cts
       ${newest} --module nodenext --moduleResolution nodenext typed.ts typed.mts typed.cts
       ${newest} --module esnext --moduleResolution bundler typed.ts
       ${older} --module commonjs --moduleResolution node10 typed.ts`,
    );
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: `${PRINTED}\n${PRINTED}\n`, stderr: "" });
  });

  it("has exports that resolve to the right format and types", async () => {
    const shell = openShell(temporaryHome());
    const { filename } = await pack(shell, "paylink-webhooks");
    const tarball = createPackageFromTarballData(readFileSync(join(shell.cwd, filename)));
    const checked = await checkPackage(tarball, { excludeEntrypoints: ["./package.json"] });
    if (checked.types === false) throw new Error("the package has no types");
    expect(checked.problems).toEqual([]);
    await shell.run(`tar xzf ${filename}`);
    expect((await publint({ pkgDir: join(shell.cwd, "package"), strict: true })).messages).toEqual([]);
  });

  it("runs bundled by esbuild, rollup, webpack and rolldown, as either module system", async () => {
    const { cwd, run, write } = await openProject();
    const esmEntry = write("entry.mjs", javaScript(ESM));
    const cjsEntry = write("entry.cjs", javaScript(CJS));
    const bundlers = installed("bundlers", [
      "esbuild@0.28",
      "rollup@4",
      "@rollup/plugin-node-resolve@16",
      "webpack@5",
    ]);
    mkdirSync(join(cwd, "out"));
    const entries = [
      [esmEntry, "esm"],
      [cjsEntry, "cjs"],
    ] as const;
    for (const [entry, format] of entries) {
      const ending = format === "esm" ? "mjs" : "cjs";
      await rolldown({
        input: entry,
        platform: "node",
        output: { file: join(cwd, `out/rolldown.${ending}`), format },
      });
      write(
        `bundle-${format}.cjs`,
        `const from = require("node:module").createRequire(${JSON.stringify(join(bundlers, "x"))});
         from("esbuild").buildSync({ entryPoints: [${JSON.stringify(entry)}], bundle: true, platform: "node", format: "${format}", outfile: "out/esbuild.${ending}" });
         const { rollup } = from("rollup");
         const plugins = [from("@rollup/plugin-node-resolve").nodeResolve()];
         // Without a plugin, rollup bundles ESM alone.
         const rolledUp = "${format}" === "cjs" ? undefined : rollup({ input: ${JSON.stringify(entry)}, plugins, external: /^node:/ }).then(async (bundle) => {
           await bundle.write({ file: "out/rollup.mjs", format: "es", inlineDynamicImports: true });
           await bundle.write({ file: "out/rollup.cjs", format: "cjs", inlineDynamicImports: true });
         });
         const output = { path: process.cwd() + "/out", filename: "webpack.${ending}", ${format === "esm" ? 'module: true, chunkFormat: "module", library: { type: "module" }' : 'library: { type: "commonjs2" }'} };
         const packed = new Promise((done, fail) => from("webpack")({ mode: "production", target: "node20", entry: ${JSON.stringify(entry)}, output, experiments: { outputModule: ${format === "esm"} } }, (error, stats) =>
           error !== null || stats.hasErrors() ? fail(error ?? new Error(stats.toString())) : done()));
         Promise.all([rolledUp, packed]).catch((error) => { console.error(error); process.exitCode = 1; });`,
      );
      expect(await run(`node bundle-${format}.cjs`)).toMatchObject({ code: 0 });
    }
    const programs = ["esbuild", "rollup", "webpack", "rolldown"].flatMap((bundler) => [
      `out/${bundler}.mjs`,
      `out/${bundler}.cjs`,
    ]);
    // Nothing is left to import.
    const { code, stdout, stderr } = await run(
      `rm -r node_modules\nfor program in ${programs.join(" ")}; do node $program; done`,
    );
    expect({ code, stdout, stderr }).toEqual({
      code: 0,
      stdout: `${PRINTED}\n`.repeat(programs.length),
      stderr: "",
    });
  });
});

describe("the types", () => {
  let source: ts.SourceFile;
  let checker: ts.TypeChecker;
  beforeAll(() => {
    const path = join(ROOT, "dist/webhooks/index.d.cts");
    const program = ts.createProgram([path], { strict: true, target: ts.ScriptTarget.ES2022, types: [] });
    const file = program.getSourceFile(path);
    if (file === undefined) throw new Error("there are no types: run npm run build");
    source = file;
    checker = program.getTypeChecker();
  });

  const exported = () => {
    const symbol = checker.getSymbolAtLocation(source);
    return (symbol === undefined ? [] : checker.getExportsOfModule(symbol)).map((each) =>
      (each.flags & ts.SymbolFlags.Alias) === 0 ? each : checker.getAliasedSymbol(each),
    );
  };
  const documented = (symbol: ts.Symbol): boolean => symbol.getDocumentationComment(checker).length > 0;

  it("export what applications need, and no internals", () => {
    expect(
      exported()
        .map(({ name }) => name)
        .toSorted(),
    ).toMatchInlineSnapshot(`
      [
        "ApprovedTransaction",
        "CancelledTransaction",
        "DeclinedTransaction",
        "ExactAmount",
        "LambdaEvent",
        "NetlifyEvent",
        "PartiallyApprovedTransaction",
        "PlainRequest",
        "PublicProblem",
        "RecordViolation",
        "SignWebhookOptions",
        "SignedWebhook",
        "StrictVerifier",
        "StrictWebhook",
        "Transaction",
        "TransactionOutcome",
        "UnclearTransaction",
        "Verdict",
        "VerifiedWebhook",
        "Verifier",
        "VerifierOptions",
        "WebhookError",
        "WebhookErrorCode",
        "WebhookKey",
        "WebhookRequest",
        "createVerifier",
        "sampleTransaction",
        "signWebhook",
      ]
    `);
  });

  it("document everything that is exported, and every member that an application uses", () => {
    // An application passes a request on: it uses none of its members.
    const members = exported()
      .flatMap((symbol) => [symbol, ...membersOf(symbol)])
      .filter((symbol) =>
        symbol.declarations?.some((each) => each.getSourceFile().fileName.includes("dist/webhooks")),
      );
    expect(members.length).toBeGreaterThan(100);
    expect(members.filter((symbol) => !documented(symbol)).map(({ name }) => name)).toEqual([]);
  });

  function membersOf(symbol: ts.Symbol): readonly ts.Symbol[] {
    const type = checker.getDeclaredTypeOfSymbol(symbol);
    const each = type.isUnion() ? type.types : [type];
    return symbol.name === "WebhookRequest" ? [] : each.flatMap((one) => checker.getPropertiesOfType(one));
  }

  it("show an example of each function and of the error", () => {
    const shown = exported().filter(
      ({ flags }) => (flags & (ts.SymbolFlags.Function | ts.SymbolFlags.Class)) !== 0,
    );
    expect(shown).toHaveLength(4);
    for (const symbol of shown)
      expect({ name: symbol.name, tags: symbol.getJsDocTags(checker).map(({ name }) => name) }).toMatchObject(
        {
          tags: expect.arrayContaining(["example"]) as unknown,
        },
      );
  });
});
