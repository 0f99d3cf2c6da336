/** What the built program writes and deletes: only files of its own, whatever the folders of the user hold. */
import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import nodeModule from "node:module";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryHome } from "../support/home.ts";
import { giveMerchant } from "../support/merchant.ts";
import { runPaylink } from "../support/paylink.ts";
import { openShell } from "../support/shell.ts";

const DRY_RUN =
  "create --amount 10 --currency EUR --terminal-id 1 --customer-name Ada --expires 2099-01-31T12:00:00Z --dry-run";

/** Commands that write settings, databases and compiled code, and some that write nothing. */
const SCRIPT = `
set -e
paylink --version; paylink --help > /dev/null; paylink config path
paylink config set currency EUR; paylink config list
paylink ${DRY_RUN}
paylink sandbox --port 0 --json > sandbox.json & sandbox=$!
trap 'kill $sandbox; wait $sandbox || true; rm sandbox.json' EXIT
until grep -q ready sandbox.json; do sleep 0.1; done
paylink profiles use sandbox
paylink create --amount 10 --currency EUR -q
paylink events list
paylink demo
paylink logout
`;

/** Every file below a folder, with its content and the time of its last change. */
function filesIn(folder: string): Record<string, string> {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" });
  const paths = names.filter((name) => statSync(join(folder, name)).isFile());
  return Object.fromEntries(
    paths.map((name) => {
      const path = join(folder, name);
      return [name, `${statSync(path).mtimeMs} ${readFileSync(path, "latin1")}`];
    }),
  );
}

function usersFiles(folder: string): void {
  mkdirSync(join(folder, "photos"), { recursive: true });
  writeFileSync(join(folder, "photos/cat.jpg"), "a cat");
  writeFileSync(join(folder, "main-abc.js.v20.0.0-x64"), "the user's own");
}

/** What may stand at `cache` in PAYLINK_HOME; `documents` is a folder of the user's. */
const CACHES: Readonly<Record<string, (cache: string, documents: string) => void>> = {
  "a folder of the user's": usersFiles,
  "a link to a folder of the user's": (cache, documents) => symlinkSync(documents, cache),
  "a file": (cache) => writeFileSync(cache, "notes"),
};

describe("the program, with PAYLINK_HOME/cache", () => {
  it.each(Object.entries(CACHES))("%s, changes nothing in it or around it", async (_, put) => {
    const user = temporaryHome();
    const shell = openShell(user);
    const home = join(user, "paylink");
    const documents = join(user, "documents");
    usersFiles(documents);
    giveMerchant(home);
    put(join(home, "cache"), documents);
    const before = filesIn(user);
    expect(Object.keys(before).length).toBeGreaterThan(2);
    const temporary = join(user, "tmp");
    mkdirSync(temporary);
    const { code, stdout, stderr } = await shell.run(SCRIPT, {
      env: { PAYLINK_HOME: home, TMPDIR: temporary },
    });
    expect({ code, stdout, stderr }).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("pay?r=") as unknown,
    });
    const after = filesIn(user);
    expect(after).toMatchObject(before);
    const added = Object.keys(after).filter((path) => before[path] === undefined);
    expect(added).toContain("paylink/settings.json");
    expect(added.filter((path) => !/^(?:paylink\/(?!cache)|\.cache\/paylink\/)/.test(path))).toEqual([]);
  });
});

describe("the program, without a home folder", () => {
  it.each([
    { HOME: "", PAYLINK_HOME: "" },
    { HOME: "", PAYLINK_HOME: "", XDG_CONFIG_HOME: "settings" },
  ])("refuses to read or write in the current folder: %j", async (env) => {
    const { cwd, run } = openShell(temporaryHome());
    expect(await run("paylink --help", { env })).toMatchObject({ code: 0 });
    const { code, stdout, stderr } = await run("paylink config set currency EUR", { env });
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(
      /^✗ The environment names no home folder\..*\n +Set HOME .*, or PAYLINK_HOME .*\n$/,
    );
    expect(filesIn(cwd)).toEqual({});
  });
});

/** Node 22 and later keep compiled code. */
const keeps = "enableCompileCache" in nodeModule;

describe.runIf(keeps && process.platform === "linux")("Node's compile cache", () => {
  const run = (home: string, env: Readonly<Record<string, string>> = {}, args = DRY_RUN.split(" ")) =>
    runPaylink(args, { home: join(home, "paylink"), env: { HOME: home, ...env } });
  const keptIn = (home: string): string[] => Object.keys(filesIn(home)).toSorted();

  it("is in the platform's cache folder, and the next run adds nothing", async () => {
    const home = temporaryHome();
    expect((await run(home)).code).toBe(0);
    const first = keptIn(home);
    expect(first.length).toBeGreaterThan(3);
    expect(first.every((path) => path.startsWith(".cache/paylink/"))).toBe(true);
    expect((await run(home)).code).toBe(0);
    expect(keptIn(home)).toEqual(first);
  });

  it("is not used with NODE_DISABLE_COMPILE_CACHE, nor for the version", async () => {
    const home = temporaryHome();
    expect((await run(home, { NODE_DISABLE_COMPILE_CACHE: "1" })).code).toBe(0);
    expect((await run(home, {}, ["--version"])).code).toBe(0);
    expect(keptIn(home)).toEqual([]);
  });
});
