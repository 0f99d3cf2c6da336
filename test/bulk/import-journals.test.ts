/** Journals of paylink 0.2.0, written by that version: what it sent is not sent again, and damage is not taken for nothing. */
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  truncateSync,
  writeFileSync,
  appendFileSync,
} from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { importJournals, type Processes } from "../../src/bulk/import-journals.ts";
import { openMemory } from "../../src/bulk/memory.ts";
import { runCommand } from "../support/context.ts";
import { temporaryHome } from "../support/home.ts";
import { startLinkService } from "../support/link-service.ts";

/**
 * `finished`: rows 0 to 3, of which 1 was refused and 2 is unknown. `killed`: rows 10 to 17, of which 13 to 16 were under way.
 * `keyed`: rows 20 and 21 with keys, killed while 21 was under way. `changed`: rows 35, 31, 32, after 30 was refused and
 * replaced by 35. `first` and `again`: rows 40 and 41, sent twice.
 */
const JOURNALS = resolve(import.meta.dirname, "journals-of-0.2.0");

const HEADER = "invoiceId,amount,customerName\n";
const list = (...rows: number[]): string =>
  HEADER + rows.map((row) => `I${row},${row + 1}.50,Ada\n`).join("");

/** A home as 0.2.0 left it, of lists in this home at this service. */
async function updatedHome(...names: string[]) {
  const service = await startLinkService(() => "create");
  const home = temporaryHome();
  const folder = join(home, "data", "bulk");
  mkdirSync(folder, { recursive: true });
  const address = service.url.replace("127.0.0.1", "localhost");
  for (const name of names) {
    const text = readFileSync(join(JOURNALS, `${name}.journal`), "utf8");
    const here = text.replaceAll("SERVICE", address).replaceAll("/home/shop", home);
    writeFileSync(join(folder, `${name}.journal`), here);
  }
  return {
    service,
    folder,
    journal: (name: string) => join(folder, `${name}.journal`),
    send: (name: string, text: string, ...flags: string[]) => {
      const path = join(home, name);
      writeFileSync(path, text);
      return runCommand(["bulk", path, "--currency", "EUR", ...flags], { home, env: service.env });
    },
  };
}

const ALL = ["finished", "killed", "keyed", "changed", "first", "again"];

describe("a list that 0.2.0 sent", () => {
  it("is not sent again because a column that it did not send means a field now", async () => {
    const { send, service } = await updatedHome("finished");
    const rows = [0, 1, 2, 3].map((row) => `I${row},${row + 1}.50,Ada,N${row}\n`).join("");
    const LIST = `invoiceId,amount,customerName,Order text\n${rows}`;
    const mapped = (to: string) => send("finished.csv", LIST, "--map", `Order text=${to}`);
    expect(await mapped("description")).toMatchObject({
      stderr: expect.stringContaining("The list has changed since it was sent. This run sent nothing."),
    });
    expect(service.arrivals).toEqual([]);
    const left = await mapped("");
    expect(left.stdout).toContain("4 rows: 3 created (2 in an earlier run), 1 unknown");
    expect(service.arrivals).toEqual(["I1"]);
    await mapped("");
    expect(service.arrivals).toEqual(["I1"]);
  });

  it("has its links, and only rows without one are sent", async () => {
    const { send, service } = await updatedHome(...ALL);
    const run = await send("finished.csv", list(0, 1, 2, 3));
    expect(run).toMatchObject({
      exit: 6,
      stdout: expect.stringContaining("4 rows: 3 created (2 in an earlier run), 1 unknown"),
    });
    expect(service.arrivals).toEqual(["I1"]);
    const renamed = await send("renamed.csv", list(35, 31, 32));
    expect(renamed).toMatchObject({
      exit: 0,
      stdout: expect.stringContaining("3 created (3 in an earlier run)"),
      stderr: expect.stringContaining("This list was sent before, from "),
    });
    expect(service.arrivals).toEqual(["I1"]);
  });

  it("leaves rows that were under way at a kill unknown, and sends the others", async () => {
    const { send, service } = await updatedHome(...ALL);
    const rows = list(10, 11, 12, 13, 14, 15, 16, 17);
    const run = await send("killed.csv", rows);
    expect(run).toMatchObject({
      exit: 6,
      stdout: expect.stringContaining("8 rows: 4 created (3 in an earlier run), 4 unknown"),
    });
    expect(service.arrivals).toEqual(["I17"]);
  });

  it("is recognised in a list that has grown, and sent once more only with --again", async () => {
    const { send, service } = await updatedHome(...ALL);
    const grown = list(40, 41, 42);
    expect(await send("again.csv", grown)).toMatchObject({ exit: 0 });
    expect(await send("other.csv", list(43, 12, 31))).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining("2 rows of 3 were sent before, from another list."),
    });
    expect(service.arrivals).toEqual(["I42"]);
    expect((await send("first.csv", list(40, 41), "--again")).exit).toBe(0);
    expect(service.arrivals.toSorted()).toEqual(["I40", "I41", "I42"]);
  });

  it("is imported once, and its journal is kept under another name", async () => {
    const { send, folder } = await updatedHome(...ALL);
    await send("x.csv", list(1), "--new-rows");
    expect(readdirSync(folder).filter((name) => name.endsWith(".imported"))).toHaveLength(ALL.length);
    // A paylink before 0.3 refuses what it finds here.
    const left = readdirSync(folder).filter((name) => name.endsWith(".journal"));
    expect(left).toEqual(["lists-are-in-bulk.db-since-0.3.journal"]);
  });
});

const NOBODY = { own: 1, isRunning: () => false };

/** The lists and rows in the memory after an import. */
function counts(folder: string, processes: Processes = NOBODY): unknown {
  const memory = openMemory(folder);
  try {
    importJournals(memory, processes);
    return memory.database
      .prepare("SELECT (SELECT count(*) FROM lists) AS lists, (SELECT count(*) FROM rows) AS rows")
      .get();
  } finally {
    memory.database.close();
  }
}

describe("the import", () => {
  it("is done once, also after a kill between the import of a journal and its new name", async () => {
    const { folder, journal } = await updatedHome(...ALL);
    const whole = { lists: 6, rows: 21 };
    expect(counts(folder)).toEqual(whole);
    for (const name of ALL) cpSync(`${journal(name)}.imported`, journal(name));
    expect(counts(folder)).toEqual(whole);
    expect(existsSync(journal("killed"))).toBe(false);
  });

  it("reads a journal whose last line was cut short by a kill", async () => {
    for (const half of ['{"ro', '{"row":7,"sta', '{"from":8,"asks":[1']) {
      const { folder, journal } = await updatedHome("killed");
      appendFileSync(journal("killed"), half);
      expect(counts(folder)).toEqual({ lists: 1, rows: 8 });
    }
  });

  it("forgets a list of which no row was sent", async () => {
    const { folder, journal } = await updatedHome("killed");
    const [heading, digests] = readFileSync(journal("killed"), "utf8").split("\n");
    writeFileSync(journal("killed"), `${heading}\n${digests}\n`);
    expect(counts(folder)).toEqual({ lists: 0, rows: 0 });
  });

  it.each<[string, (path: string) => void]>([
    ["is empty", (path) => truncateSync(path)],
    ["has half a heading", (path) => truncateSync(path, 40)],
    ["has only its heading", (path) => truncateSync(path, readFileSync(path).indexOf("\n") + 1)],
    ["lacks digests", (path) => truncateSync(path, readFileSync(path).indexOf("\n") + 30)],
    ["has a line of another program", (path) => appendFileSync(path, "what is this?\n")],
    ["ends with what paylink does not write", (path) => appendFileSync(path, "\0\0\0\0")],
    ["names a row that it does not know", (path) => appendFileSync(path, '{"row":8}\n')],
    ["has digests after a gap", (path) => appendFileSync(path, '{"from":9,"asks":[1]}\n')],
  ])("stops the run, and sends nothing, if a journal %s", async (_, harm) => {
    const { send, service, folder, journal } = await updatedHome("first", "killed");
    harm(journal("killed"));
    for (let attempt = 0; attempt < 2; attempt++) {
      const run = await send("new.csv", list(99), "--json");
      expect(run.exit).toBe(2);
      expect(JSON.parse(run.stderr)).toMatchObject({
        error: {
          code: "file_unreadable",
          message: expect.stringContaining("is damaged"),
          details: { path: journal("killed"), hint: expect.stringContaining("Restore it") },
        },
      });
    }
    expect(service.arrivals).toEqual([]);
    expect(existsSync(journal("killed"))).toBe(true);
    expect(readdirSync(folder).filter((name) => name.startsWith("killed"))).toEqual(["killed.journal"]);
  });

  it("waits for a run of 0.2.0 that has not ended", async () => {
    const { folder, journal } = await updatedHome("killed");
    writeFileSync(`${journal("killed")}.lock`, "7");
    const isRunning = (pid: number): boolean => pid === 7;
    expect(() => counts(folder, { own: 1, isRunning })).toThrow(
      "Process 7 is sending a list with an earlier version of paylink.",
    );
    expect(existsSync(journal("killed"))).toBe(true);
    expect(counts(folder)).toEqual({ lists: 1, rows: 8 });
    expect(existsSync(`${journal("killed")}.lock`)).toBe(false);
  });
});
