/** The package as it is published: what is in it, and that it works where npm has put it, offline and without warnings. */
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { join, resolve } from "node:path";
import { expect, it } from "vitest";
import { gunzipSync } from "node:zlib";
import { parse } from "yaml";
import { temporaryHome } from "../support/home.ts";
import { npmSettings, pack, SIZE_BARS } from "../support/packages.ts";
import { freePort } from "../support/ports.ts";
import { openShell, type Shell } from "../support/shell.ts";

const ROOT = resolve(import.meta.dirname, "../..");

/** The package as npm would fetch it, an empty prefix whose programs the shell finds, and a project with a free port. */
async function openProject() {
  const home = temporaryHome();
  const bin = join(home, "prefix/bin");
  mkdirSync(bin, { recursive: true });
  const shell = openShell(home, bin);
  const { filename } = await pack(shell);
  if (!isBuiltin("node:sqlite")) addSqlite(home);
  const port = await freePort();
  writeProject(shell, port);
  return { home, shell, filename, port };
}

/** Puts SQLite beside paylink, as the users of Node 20 do. */
function addSqlite(home: string): void {
  const scope = join(home, "prefix/lib/node_modules/@photostructure");
  mkdirSync(scope, { recursive: true });
  symlinkSync(join(ROOT, "node_modules/@photostructure/sqlite"), join(scope, "sqlite"));
}

/** A project whose test creates a link, has it paid, and waits for the webhook. */
function writeProject({ cwd }: Shell, port: string): void {
  const lock = { name: "shop", lockfileVersion: 3, packages: { "": { name: "shop" } } };
  writeFileSync(join(cwd, "package.json"), '{"name": "shop", "scripts": {"test": "node shop.mjs"}}');
  writeFileSync(join(cwd, "package-lock.json"), JSON.stringify(lock));
  writeFileSync(
    join(cwd, "shop.mjs"),
    `import { execSync } from "node:child_process";
     import { createServer } from "node:http";
     const server = createServer((request, response) => {
       console.log("webhook", request.headers["content-digest"]);
       response.end();
       server.close();
     }).listen(${port}, "127.0.0.1");
     execSync('paylink pay "$(paylink create --amount 10 --currency EUR --quiet)"', { stdio: "inherit" });`,
  );
}

it("holds only what runs, within the size bars", async () => {
  const { files, size, unpackedSize } = await pack(openShell(temporaryHome()));
  const paths = files.map(({ path }) => path);
  expect(paths.filter((path) => !/^dist\/(?:[\w-]+\/)*[\w-]+\.js$/.test(path)).toSorted()).toEqual([
    "LICENSE",
    "README.md",
    "bin/paylink.js",
    "dist/CHANGELOG.md",
    "dist/SKILL.md",
    "dist/THIRD-PARTY-NOTICES.txt",
    "dist/paylink.1.gz",
    "dist/sbom.cdx.json",
    "package.json",
  ]);
  expect(size).toBeLessThan(SIZE_BARS.packed);
  expect(unpackedSize).toBeLessThan(SIZE_BARS.installed);
});

it("passes the workflow for GitHub Actions of help ci, installed from the package", async () => {
  const { home, shell, filename, port } = await openProject();
  const guide = readFileSync(join(ROOT, "src/texts/guides/ci.txt"), "utf8");
  const steps = [...guide.matchAll(/^ +- run: (.*)$/gm)];
  expect(steps.map(([, step]) => step)).toEqual([
    "npm ci",
    "npm install --global paylink",
    "paylink test --forward-to 3000/webhooks -- npm test",
  ]);
  // npm installs the package's file instead of fetching it.
  const script = steps
    .map(([, step = ""]) => step.replace("global paylink", `global ./${filename}`))
    .join("\n")
    .replace("3000", port);
  const { code, stdout, stderr } = await shell.run(`set -e\n${script}`, { env: npmSettings(home) });
  expect({ code, stdout, stderr }).toMatchObject({ code: 0 });
  expect(stderr).not.toContain("npm warn");
  expect(gunzipSync(readFileSync(join(home, "prefix/share/man/man1/paylink.1.gz"))).toString()).toContain(
    ".TH PAYLINK 1",
  );
  expect(stdout).toMatch(/^webhook sha-(?:256|512)=:/m);
});

interface Step {
  readonly shell: string;
  readonly env: Readonly<Record<string, string>>;
  readonly run: string;
}

/** The steps of the composite action, and their environment for the inputs, as GitHub gives it to them. */
function actionSteps(inputs: Readonly<Record<string, string>>) {
  const folder = join(ROOT, ".github/actions/paylink");
  const { runs } = parse(readFileSync(join(folder, "action.yml"), "utf8")) as {
    runs: { steps: [Step, Step] };
  };
  return runs.steps.map(({ shell, env, run }) => {
    expect(shell).toBe("bash");
    expect(run).not.toContain("${{");
    const given = Object.entries(env).map(([name, value]): [string, string] => {
      const [, input = ""] = /^\$\{\{ inputs\.([\w-]+) \}\}$/.exec(value) ?? [];
      return [name, inputs[input] ?? ""];
    });
    return { run, env: { ...Object.fromEntries(given), GITHUB_ACTION_PATH: folder } };
  });
}

it("passes the steps of the composite action, which installs the version of its own tag", async () => {
  const { home, shell, filename, port } = await openProject();
  const [install, test] = actionSteps({ run: "npm test && echo 'it''s done'", "forward-to": port });
  if (install === undefined || test === undefined) throw new Error("the action has two steps");
  const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { version: string };
  const shown = 'npm() { echo "$@"; }\n';
  for (const [asked, installed] of [
    ["", version],
    ["0.3", "0.3"],
  ]) {
    const { stdout } = await shell.run(shown + install.run, {
      env: { ...install.env, VERSION: asked ?? "" },
    });
    expect(stdout).toBe(`install --global paylink@${installed}\n`);
  }
  const fromFile = install.run.replace(/"paylink@[^"]*"/, `./${filename}`);
  const installing = await shell.run(`set -e\n${fromFile}`, {
    env: { ...npmSettings(home), ...install.env },
  });
  expect(installing).toMatchObject({ code: 0, stderr: "" });
  const { code, stdout, stderr } = await shell.run(test.run, { env: { ...npmSettings(home), ...test.env } });
  expect({ code, stdout, stderr }).toMatchObject({ code: 0 });
  expect(stdout).toMatch(/^webhook sha-(?:256|512)=:/m);
  expect(stdout).toContain("its done");
  const failing = await shell.run(test.run, { env: { ...test.env, COMMAND: "exit 3", FORWARD_TO: "" } });
  expect(failing).toMatchObject({ code: 3 });
});

/** What `npm pack` makes of a package that is installed here, as a word of `npx -p`. */
async function packedDependency(shell: Shell, name: string): Promise<string> {
  const folder = join(ROOT, "node_modules", name);
  const line = `npm pack --ignore-scripts --json --pack-destination . "${folder}"`;
  const { stdout } = await shell.run(line, { env: npmSettings(shell.home) });
  const [{ filename }] = JSON.parse(stdout) as [{ filename: string }];
  return `./${filename}`;
}

// Later versions of Node have SQLite.
it.runIf(!isBuiltin("node:sqlite"))(
  "runs by npx where Node has no SQLite, as its error advises",
  async () => {
    const home = temporaryHome();
    const bin = join(home, "none");
    mkdirSync(bin);
    const shell = openShell(home, bin);
    const { filename } = await pack(shell);
    const env = { ...npmSettings(home), npm_config_yes: "true", npm_config_ignore_scripts: "true" };
    const account = { PAYLINK_BASE_URL: "http://127.0.0.1:9", PAYLINK_TOKEN: "t", PAYLINK_TERMINAL_ID: "1" };
    const lines = ["sandbox --port 0", "events list", "status"].map((line) => `paylink ${line}`).join("; ");
    const failed = await shell.run(`npx -p ./${filename} -c "${lines}"`, { env: { ...env, ...account } });
    expect(failed.stderr.split("npx -p paylink -p @photostructure/sqlite@1 paylink <command>")).toHaveLength(
      3,
    );
    expect(failed.stdout).toContain("npx -p paylink -p @photostructure/sqlite@1 paylink <command>");
    const advised = "npx -p paylink -p @photostructure/sqlite@1 paylink";
    const sqlite = ["@photostructure/sqlite", "node-gyp-build", "node-addon-api"];
    const files: string[] = [];
    for (const name of sqlite) files.push(await packedDependency(shell, name));
    // From the packed files, in place of the registry.
    const command = advised
      .replace("-p paylink", `-p ./${filename}`)
      .replace("-p @photostructure/sqlite@1", files.map((file) => `-p ${file}`).join(" "));
    const { code, stdout, stderr } = await shell.run(`${command} test -- paylink status`, { env });
    expect({ code, stdout, stderr }).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("✓ event store"),
    });
  },
);
