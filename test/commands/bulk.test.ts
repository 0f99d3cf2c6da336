/** `paylink bulk`, in process: its options, the checks before anything is sent, and how a run ends. */
import { existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { Readable } from "node:stream";
import { describe, expect, it } from "vitest";
import { fileSink } from "../../src/bulk/results.ts";
import bulk from "../../src/commands/bulk/command.ts";
import { PaylinkError } from "../../src/domain/errors.ts";
import { resolveSettings } from "../../src/settings/resolved-settings.ts";
import { ACCOUNT, never } from "../support/account.ts";
import { optionsOf as commandOptions, wordsOf, type Flags } from "../support/command-options.ts";
import { interrupted, runCommand } from "../support/context.ts";
import { temporaryHome } from "../support/home.ts";
import { jsonLines } from "../support/json-lines.ts";
import { startLinkService, type Fate } from "../support/link-service.ts";
import { README } from "../support/readme.ts";

const LIST = "invoiceId,amount,customerName\nI0,1,Ada\nI1,2,Bob\nI2,3,Eve\n";

/** A list in a home of its own, beside which its results are written. */
function listOf(text: string) {
  const home = temporaryHome();
  const path = join(home, "orders.csv");
  writeFileSync(path, text);
  return { home, path, results: join(home, "orders.links.csv") };
}

/** A list at a service of its own, and how to send it. */
async function desk(text: string, fateOf: (before: number) => Fate = () => "create") {
  const list = listOf(text);
  const service = await startLinkService(({ before }) => fateOf(before));
  const send = (...flags: string[]) =>
    runCommand(["bulk", list.path, "--currency", "EUR", ...flags], { home: list.home, env: service.env });
  return { ...list, service, send };
}

describe("the options of bulk", () => {
  const settings = resolveSettings({ env: ACCOUNT });
  const optionsOf = (flags: Flags, { file = "orders.csv", base = "{}", json = false } = {}) =>
    commandOptions(bulk, [file, ...wordsOf(flags)], {
      settings: async () => settings,
      readFile: async () => Buffer.from(base),
      out: { json },
      events: () => Promise.reject(new Error("there are no events")),
      serve: () => Promise.reject(new Error("nothing should have been served")),
    });

  it("report every problem at once", async () => {
    const flags = { output: "out.txt", concurrency: "0", rate: "fast", timeout: "0s", from: "base.json" };
    const failure: unknown = await optionsOf(flags, { base: '{"amount": 1, "amount": 2}' }).catch(
      (error: unknown) => error,
    );
    expect(failure).toBeInstanceOf(PaylinkError);
    expect(failure).toMatchObject({
      code: "usage",
      message: "Nothing was sent.",
      problems: [
        { at: "--output", message: 'must end in .csv or .jsonl, or be - for stdout (got "out.txt")' },
        { at: "--concurrency", message: 'must be a whole number from 1 to 256 (got "0")' },
        { at: "--rate", message: expect.stringContaining('(got "fast")') },
        { at: "--timeout", message: 'must be more than 0 (got "0s")' },
        { at: "base.json: amount", message: "must not be given twice" },
      ],
    });
  });

  it("cannot print both the results and JSON lines on stdout", async () => {
    expect(await optionsOf({ output: "-" })).toMatchObject({ output: "-" });
    await expect(optionsOf({ output: "-" }, { json: true })).rejects.toMatchObject({
      problems: [{ at: "--output", message: expect.stringContaining("must be a file with --json") }],
    });
  });

  it("cannot take both the rows and the base request from standard input", async () => {
    await expect(optionsOf({ from: "-" }, { file: "-" })).rejects.toMatchObject({
      problems: [{ at: "--from", message: expect.stringContaining("stdin") }],
    });
  });
});

describe("bulk, before it sends anything,", () => {
  it("checks every row with --dry-run, also without an account", async () => {
    const { path, home } = listOf("amount,currency,customerName,terminalId\n1,EUR,Ada,1\n");
    expect(await runCommand(["bulk", path, "--dry-run"], { home, send: never })).toMatchObject({
      exit: 0,
      stdout: expect.stringMatching(/^1 link, EUR 1\.00\n[^]*\n1 row, all valid\. Nothing was sent\.\n$/),
      stderr: "",
    });
    const run = await runCommand(["bulk", path], { home, send: never });
    expect(run.exit).toBe(3);
    expect(run.stderr).toContain("No account configured.");
  });

  it("completes the rows from the file of --from", async () => {
    const { path, home } = listOf("amount\n1\n");
    const base = join(home, "base.json");
    writeFileSync(base, '{"currency": "EUR", "customerName": "Ada"}');
    const run = await runCommand(["bulk", path, "--from", base, "--dry-run"], {
      home,
      env: ACCOUNT,
      send: never,
    });
    expect(run).toMatchObject({ exit: 0, stderr: "" });
  });

  it.each([
    ["the list itself", "orders.csv", "must not be the list itself"],
    ["a folder", "folder.csv", "must be a file"],
    ["a folder that does not exist", "none/out.csv", "must be in a folder that paylink can write to"],
  ])("refuses %s as --output", async (_, output, words) => {
    const { path, home } = listOf(LIST);
    mkdirSync(join(home, "folder.csv"));
    const args = ["bulk", path, "--currency", "EUR", "--output", join(home, output)];
    const run = await runCommand(args, { home, env: ACCOUNT, send: never });
    expect(run).toMatchObject({ exit: 2, stdout: "" });
    expect(run.stderr).toContain(words);
    expect(readFileSync(path, "utf8")).toBe(LIST);
  });
});

/** The advice to see the links names a day before now. */
const withoutDay = (text: string): string => text.replace(/--since \S+Z$/m, "--since DAY");

describe("bulk", () => {
  it("writes a link beside each row, and sends nothing twice", async () => {
    const { send, service, results } = await desk(LIST);
    const { stdout, ...sent } = await send();
    expect({ ...sent, stdout: withoutDay(stdout) }).toMatchObject({
      exit: 0,
      stdout: [
        "3 rows: 3 created",
        "3 links: EUR 6.00",
        `Results in ${results}`,
        `no profile · ${new URL(service.url).host} · LOCAL`,
        "To see the links: paylink links list --terminal-id 1 --since DAY\n",
      ].join("\n"),
      stderr: "",
    });
    expect(readFileSync(results, "utf8").split("\n")[2]).toBe(
      `I1,2,Bob,I1.1,https://pay.example/pay?r=I1.1,created,,${service.url.replace("127.0.0.1", "localhost")} 1`,
    );
    const second = await send();
    expect(second.exit).toBe(0);
    expect(second.stderr).toContain("Every row was sent before, so nothing is sent");
    expect(service.arrivals).toHaveLength(3);
    expect(statSync(results).mode & 0o777).toBe(0o600);
  });

  it("warns in one line if the service would report no payment", async () => {
    const { path, home, service } = await desk(LIST);
    const env = { ...service.env, PAYLINK_CALLBACK_URL: "" };
    const run = await runCommand(["bulk", path, "--currency", "EUR"], { home, env });
    expect(run.exit).toBe(0);
    expect(run.stderr).toMatch(/^! no callbackUrl: the service sends no webhooks[^\n]*\n$/);
  });

  it("says how to continue after Ctrl-C", async () => {
    const control = new AbortController();
    const { path, home, service, send } = await desk(LIST, (before) => {
      if (before === 0) control.abort(interrupted());
      return "create";
    });
    const args = ["bulk", path, "--currency", "EUR", "--concurrency", "1", "--rate", "1", "--json"];
    const run = await runCommand(args, { home, env: service.env, signal: control.signal });
    expect(run.exit).toBe(130);
    expect(jsonLines(run.stdout).at(-1)).toMatchObject({ created: 1, not_sent: 2, unknown: 0 });
    expect(JSON.parse(run.stderr)).toMatchObject({
      error: { details: { hint: expect.stringContaining("Run the same command again to continue") } },
    });
    expect(await send()).toMatchObject({
      exit: 0,
      stdout: expect.stringContaining("2 created, 1 sent before"),
    });
    expect([...service.links.values()]).toEqual([1, 1, 1]);
  });
});

it("keeps what bulk sent where the README and the text on CI say, unless the variable that they name says otherwise", async () => {
  const { home, path } = listOf(LIST);
  const { env } = await startLinkService(() => "create");
  const { stderr } = await runCommand(["bulk", path, "--currency", "EUR"], {
    home,
    env: { ...env, CI: "true" },
  });
  const [, place = "", variable = ""] =
    /remembers what it sent in (\S+), a file of this machine\. .* set (\w+) to a PostgreSQL database/.exec(
      stderr,
    ) ?? [];
  expect(statSync(place).size).toBeGreaterThan(0);
  const { stdout: help } = await runCommand(["help", "ci"], { home });
  for (const text of [README, help].map((one) => one.replaceAll(/\s+/g, " "))) {
    expect(text).toContain(relative(home, place));
    expect(text).toContain("PAYLINK_HOME");
    expect(text).toContain(variable);
  }
});

describe("the results of bulk", () => {
  const resultsAt = (url: string): string =>
    `invoiceId,amount,customerName,id,url,status,error,service\nI0,1,Ada,I0.1,https://pay.example/pay?r=I0.1,created,,${url.replace("127.0.0.1", "localhost")} 1\n`;

  const one = () => desk("invoiceId,amount,customerName\nI0,1,Ada\n");

  it.each(["my own notes\n", "id,url,status\n1,2,3\n", '{"status":"created","own":{}}\n', "a\0b"])(
    "replace the file %j only with --force",
    async (text) => {
      const { results, send, service } = await one();
      writeFileSync(results, text);
      const refused = await send();
      expect(refused.exit).toBe(2);
      expect(refused.stderr).toContain(`${results} exists already, and does not hold results of bulk`);
      expect(refused.stderr).toContain("To overwrite it: --force");
      expect(readFileSync(results, "utf8")).toBe(text);
      expect(service.arrivals).toEqual([]);
      expect((await send("--force")).exit).toBe(0);
      expect(readFileSync(results, "utf8")).toBe(resultsAt(service.url));
    },
  );

  it.each([
    "",
    "\uFEFFsep=;\nown;ID;link_id;url;status;error;service\r\n",
    "a\tid\turl\tstatus\terror\tservice\n",
    '"service","own\nname",status,id,url,error,more\n1\n',
  ])("replace the results %j", async (text) => {
    const { results, send, service } = await one();
    writeFileSync(results, text);
    expect((await send()).exit).toBe(0);
    expect(readFileSync(results, "utf8")).toBe(resultsAt(service.url));
  });

  it("replace those in JSON lines", async () => {
    const { home, send } = await one();
    const output = join(home, "out.jsonl");
    for (const status of ["created", "active"]) {
      expect((await send("-o", output)).exit).toBe(0);
      expect(jsonLines(readFileSync(output, "utf8"))).toMatchObject([{ id: "I0.1", status }]);
    }
  });

  it.each(["a link", "a file"])("are not written through %s in place of their draft", async (what) => {
    const home = temporaryHome();
    const [victim, path] = [join(home, "victim.txt"), join(home, "out.csv")];
    writeFileSync(victim, "precious\n");
    if (what === "a link") symlinkSync(victim, `${path}.1.part`);
    else writeFileSync(`${path}.1.part`, "precious\n");
    const sink = fileSink(path, "1");
    await expect(sink(Readable.from([Buffer.from("results\n")]))).rejects.toMatchObject({
      code: "file_unwritable",
    });
    expect(readFileSync(victim, "utf8")).toBe("precious\n");
    expect(readFileSync(`${path}.1.part`, "utf8")).toBe("precious\n");
    expect(existsSync(path)).toBe(false);
  });

  it("are the same bytes on stdout, with the summary on stderr", async () => {
    const { results, send, service } = await one();
    const stderr = `1 row: 1 created\n1 link: EUR 1.00\nno profile · ${new URL(service.url).host} · LOCAL\nTo see the links: paylink links list --terminal-id 1 --since DAY\n`;
    const sent = await send("-o", "-");
    expect({ ...sent, stderr: withoutDay(sent.stderr) }).toMatchObject({
      exit: 0,
      stdout: resultsAt(service.url),
      stderr,
    });
    expect(existsSync(results)).toBe(false);
  });
});
