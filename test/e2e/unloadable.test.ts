/** A program that cannot be loaded, and a user without a name and a home: a sentence and a failure, never silence and success. */
import { spawnSync } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { Script } from "node:vm";
import { describe, expect, it } from "vitest";
import { temporaryHome } from "../support/home.ts";
import { startLinkService } from "../support/link-service.ts";
import { runPaylink } from "../support/paylink.ts";

const ROOT = resolve(import.meta.dirname, "../..");

const DRY_RUN = "create --amount 10 --currency EUR --terminal-id 1 --customer-name Ada --dry-run".split(" ");

/** A copy of the built program, which a test may damage. */
function copyOfProgram(home: string): string {
  const folder = join(home, "program");
  for (const name of ["bin", "dist"]) cpSync(join(ROOT, name), join(folder, name), { recursive: true });
  writeFileSync(join(folder, "package.json"), '{"type":"commonjs"}');
  return folder;
}

/** Half of a file may end between two statements, and then load. */
function cutInAStatement(path: string): void {
  const text = readFileSync(path, "utf8");
  let length = Math.floor(text.length / 2);
  while (isScript(text.slice(0, length))) length -= 1;
  writeFileSync(path, text.slice(0, length));
}

function isScript(text: string): boolean {
  try {
    return Boolean(new Script(text));
  } catch {
    return false;
  }
}

const DAMAGES: Readonly<Record<string, (path: string) => void>> = {
  missing: (path) => rmSync(path),
  "half written": cutInAStatement,
  empty: (path) => writeFileSync(path, ""),
};

/** what every start, every run and every command loads, and what `create` alone does. */
const FILES = ["entry.js", "main.js", "command.js", "request.js"];

describe("a program with a file that is damaged", () => {
  it.each(Object.keys(DAMAGES))("says so and fails: %s", async (damage) => {
    const home = temporaryHome();
    const folder = copyOfProgram(home);
    const program = [process.execPath, join(folder, "bin/paylink.js")];
    for (const name of FILES) {
      const path = join(folder, "dist", name);
      const whole = readFileSync(path);
      DAMAGES[damage]?.(path);
      const { code, stdout, stderr } = await runPaylink(DRY_RUN, { home, program });
      expect({ name, code, stdout }).toEqual({ name, code: 1, stdout: "" });
      expect(stderr).toMatch(/^✗ .+\n/);
      if (damage !== "empty") expect(stderr).toMatch(/missing or damaged/);
      const inJson = await runPaylink([...DRY_RUN, "--json"], { home, program });
      expect({ name, code: inJson.code, stdout: inJson.stdout }).toEqual({ name, code: 1, stdout: "" });
      expect(JSON.parse(inJson.stderr)).toMatchObject({ error: { code: "internal" } });
      writeFileSync(path, whole);
    }
    expect(await runPaylink(DRY_RUN, { home, program })).toMatchObject({ code: 0 });
  });
});

describe.runIf(process.getuid?.() === 0 && process.platform === "linux")("a user without a name", () => {
  /** No user of the system has this number, so that only the environment can name a home. */
  const UID = 123456;

  function runNameless(env: Readonly<Record<string, string>>, args: readonly string[]) {
    const home = temporaryHome();
    chmodSync(home, 0o755);
    const own = join(home, "own");
    mkdirSync(own);
    chmodSync(own, 0o777);
    const program = join(copyOfProgram(home), "bin/paylink.js");
    const set = Object.entries(env).map(([name, value]) => `${name}=${value.replace("{own}", own)}`);
    const line = [
      `--reuid=${UID}`,
      "--clear-groups",
      "env",
      "-i",
      ...set,
      process.execPath,
      program,
      ...args,
    ];
    const { status, stdout, stderr } = spawnSync("setpriv", line, { encoding: "utf8" });
    return { status, stdout, stderr };
  }

  it("is told which variable to set", () => {
    for (const args of [["config", "path"], DRY_RUN, ["listen", "--port", "0", "--timeout", "1s"]]) {
      const { status, stdout, stderr } = runNameless({}, args);
      expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
      expect(stderr).toMatch(/^✗ The environment names no home folder\..*\n.*PAYLINK_HOME/);
    }
  });

  it("needs only PAYLINK_HOME", () => {
    const { status, stdout } = runNameless({ PAYLINK_HOME: "{own}" }, DRY_RUN);
    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ amount: 10, currency: "EUR" });
    const set = runNameless({ PAYLINK_HOME: "{own}" }, ["config", "set", "currency", "EUR"]);
    expect(set).toMatchObject({ status: 0, stderr: "" });
  });
});

it("sends no row with a part of the program that is damaged, and sends them once it is whole", async () => {
  const service = await startLinkService(() => "create");
  const home = temporaryHome();
  const folder = copyOfProgram(home);
  const program = [process.execPath, join(folder, "bin/paylink.js")];
  // Node 20 has no SQLite of its own.
  symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
  const list = join(home, "orders.csv");
  // Without order numbers: nothing is read before the rows are sent.
  writeFileSync(list, "customerName,amount\nAda,1\nBob,2\n");
  const send = () => runPaylink(["bulk", list, "--currency", "EUR"], { home, program, env: service.env });
  const path = join(folder, "dist", "agent.js");
  const whole = readFileSync(path);
  cutInAStatement(path);
  const damaged = await send();
  expect(damaged).toMatchObject({ code: 1, stdout: expect.stringContaining("2 rows: 2 not sent") });
  expect(damaged.stderr).toContain("A file of paylink is missing or damaged");
  writeFileSync(path, whole);
  expect((await send()).stdout).toContain("2 rows: 2 created");
});

it("says in a clone that is not built how to build it", async () => {
  const home = temporaryHome();
  const folder = copyOfProgram(home);
  rmSync(join(folder, "dist"), { recursive: true });
  mkdirSync(join(folder, "src"));
  const program = [process.execPath, join(folder, "bin/paylink.js")];
  const { code, stderr } = await runPaylink(["--version"], { home, program });
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: "✗ paylink is not built yet. Build it in this clone: npm run build\n",
  });
});
