/** Lists and results that real spreadsheets and data tools have opened and saved: LibreOffice in two languages, Python, and openpyxl. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryHome } from "../support/home.ts";
import { startLinkService } from "../support/link-service.ts";
import { runPaylink, type Ended } from "../support/paylink.ts";
import { systemProgram } from "../support/system-program.ts";

const SOFFICE = systemProgram("soffice");
const PYTHON = systemProgram("python3");
/** Debian's Python has it; another one in PATH may not. */
const OPENPYXL = "/usr/lib/python3/dist-packages/openpyxl/__init__.py";

const LIST =
  "invoiceId,amount,customerName,description\n" +
  'INV-1,10.50,Zoë,"two\nlines"\nINV-2,1234.00,"Bob, Sons",-10% in spring\n2026-001,3.00,@eve,=1+1\n,7.25,山田,+44 20\n';

/** How LibreOffice reads and writes: the code of the separator, the number of the language, and its name. */
const ENGLISH = { separator: 44, language: 1033, name: "en-US" };
const GERMAN = { separator: 59, language: 1031, name: "de-DE" };

/** The text as LibreOffice saves it after it was opened there, with cells saved as they are shown. */
function savedByLibreOffice(
  text: string,
  { separator, language, name }: typeof ENGLISH,
  through?: "xlsx",
): string {
  const folder = temporaryHome();
  const profile = join(folder, "profile", "user");
  mkdirSync(profile, { recursive: true });
  writeFileSync(
    join(profile, "registrymodifications.xcu"),
    `<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry" xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">
<item oor:path="/org.openoffice.Setup/L10N"><prop oor:name="ooSetupSystemLocale" oor:op="fuse"><value>${name}</value></prop></item>
</oor:items>`,
  );
  const convert = (file: string, to: string, ...more: string[]): void =>
    void execFileSync(
      SOFFICE ?? "soffice",
      [
        `-env:UserInstallation=file://${join(folder, "profile")}`,
        "--headless",
        ...more,
        "--convert-to",
        to,
        "--outdir",
        join(folder, "out"),
        file,
      ],
      { stdio: "pipe" },
    );
  writeFileSync(join(folder, "list.csv"), text);
  const csv = `csv:Text - txt - csv (StarCalc):${separator},34,76,1,,0,false,true,false`;
  const reading = `--infilter=CSV:${separator},34,76,1,,${language}`;
  if (through === undefined) convert(join(folder, "list.csv"), csv, reading);
  else {
    convert(join(folder, "list.csv"), through, reading);
    convert(join(folder, "out", `list.${through}`), csv);
  }
  return readFileSync(join(folder, "out", "list.csv"), "utf8");
}

/** Sends a text as a list of a machine of its own, unless another one's home is named. */
async function desk() {
  const service = await startLinkService(() => "create");
  return {
    service,
    send: async (
      text: string,
      flags: readonly string[] = [],
      home = temporaryHome(),
    ): Promise<Ended & { readonly results: string }> => {
      mkdirSync(home, { recursive: true });
      const [path, results] = [join(home, "list.csv"), join(home, "results.csv")];
      writeFileSync(path, text);
      const ended = await runPaylink(["bulk", path, "--currency", "EUR", "-o", results, ...flags], {
        home,
        env: service.env,
      });
      return { ...ended, results: ended.code === 0 ? readFileSync(results, "utf8") : "" };
    },
  };
}

describe.skipIf(SOFFICE === undefined)("LibreOffice", () => {
  it.each([
    ["in English", ENGLISH, undefined],
    ["in German", GERMAN, undefined],
    ["as a workbook in between", ENGLISH, "xlsx"],
  ] as const)("saves results that are the rows that were sent: %s", async (_, language, through) => {
    const { send, service } = await desk();
    const isGerman = language === GERMAN;
    const flags = isGerman ? ["--decimal-comma"] : [];
    const list = isGerman
      ? LIST.replace("Bob, Sons", "Bob; Sons")
          .replaceAll(/,(?=[^"]*(?:"[^"]*"[^"]*)*$)/gm, ";")
          .replaceAll(/;(\d+)\.(\d\d);/g, ";$1,$2;")
      : LIST;
    const first = await send(list, flags);
    expect(first.stdout).toContain("4 rows: 4 created");
    const saved = savedByLibreOffice(first.results, language, through);
    expect(await send(saved, flags)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("4 rows: 4 sent before"),
    });
    // Several requests are under way at the same time.
    expect(new Set(service.created.map(({ json }) => json["amount"]))).toEqual(
      new Set([10.5, 1234, 3, 7.25]),
    );
    const corrected = saved.replace(/(INV-1[;,])10[.,]50?/, isGerman ? "$112,50" : "$112.50");
    expect(await send(corrected, flags)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("INV-1: EUR 12.50 one-time SALE, was EUR 10.50."),
    });
    expect(service.arrivals).toHaveLength(4);
  });

  it("changes order numbers that look like numbers, which stops the list", async () => {
    const { send, service } = await desk();
    const home = temporaryHome();
    const list = "invoiceId,amount,customerName\n005,10.50,Ada\n+44123,3.00,Bob\n";
    await send(list, [], home);
    const saved = savedByLibreOffice(list, ENGLISH);
    expect(saved).toContain("\n5,10.5,Ada\n44123,3,Bob");
    const stopped = await send(saved, [], home);
    expect(stopped.code).toBe(2);
    expect(stopped.stderr).toContain("2 rows have order numbers that were sent before in another spelling.");
    const long = savedByLibreOffice("invoiceId,amount,customerName\n12345678901234567,1,Ada\n", ENGLISH);
    expect(await send(long)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("is a number that a spreadsheet has shortened"),
    });
    expect(service.arrivals).toHaveLength(2);
  });
});

describe.skipIf(PYTHON === undefined)("Python", () => {
  it("writes results, read with its csv module, that are the rows that were sent", async () => {
    const { send } = await desk();
    const { results } = await send(LIST);
    const program = `
import csv, io, sys
rows = list(csv.reader(io.StringIO(sys.stdin.buffer.read().decode(), newline="")))
out = io.StringIO(newline="")
csv.writer(out, quoting=csv.QUOTE_ALL).writerows(rows)
sys.stdout.buffer.write(out.getvalue().encode())`;
    const written = execFileSync(PYTHON ?? "python3", ["-c", program], { input: results }).toString();
    expect(await send(written)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("4 rows: 4 sent before"),
    });
  });
});

describe.skipIf(!existsSync(OPENPYXL))("openpyxl", () => {
  it("writes results, through a workbook, that are the rows that were sent", async () => {
    const { send, service } = await desk();
    const { results } = await send(LIST);
    const program = `
import csv, io, sys
from openpyxl import Workbook, load_workbook
book = Workbook()
for row in csv.reader(io.StringIO(sys.stdin.buffer.read().decode(), newline="")):
    book.active.append(row)
kept = io.BytesIO()
book.save(kept)
out = io.StringIO(newline="")
csv.writer(out).writerows(load_workbook(kept).active.iter_rows(values_only=True))
sys.stdout.buffer.write(out.getvalue().encode())`;
    const written = execFileSync("/usr/bin/python3", ["-c", program], { input: results }).toString();
    expect(await send(written)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("4 rows: 4 sent before"),
    });
    expect(service.arrivals).toHaveLength(4);
  });
});
