/** The results of `paylink bulk`, in process: which files it replaces, and results on stdout. */
import { existsSync, lstatSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { fileSink, openWrittenResults } from "../../src/bulk/results.ts";
import { runCommand } from "../support/context.ts";
import { temporaryHome } from "../support/home.ts";
import { startLinkService } from "../support/link-service.ts";

const LIST = "invoiceId,amount,customerName\nI0,1,Ada\n";
const RESULTS =
  "invoiceId,amount,customerName,id,url,status,error\nI0,1,Ada,I0.1,https://pay.example/pay?r=I0.1,created,\n";

async function desk() {
  const home = temporaryHome();
  const list = join(home, "orders.csv");
  const output = join(home, "orders.links.csv");
  writeFileSync(list, LIST);
  const service = await startLinkService(() => "create");
  const send = (...flags: string[]) =>
    runCommand(["bulk", list, "--currency", "EUR", ...flags], { home, env: service.env });
  return { home, list, output, send, service, arrivals: service.arrivals };
}

describe("a results file", () => {
  it("that paylink did not write is replaced only with --force", async () => {
    const { output, send, arrivals } = await desk();
    writeFileSync(output, "my own notes\n");
    const refused = await send();
    expect(refused.exit).toBe(2);
    expect(refused.stderr).toContain(`${output} exists already, and paylink did not write it`);
    expect(refused.stderr).toContain("To overwrite it: --force");
    expect(readFileSync(output, "utf8")).toBe("my own notes\n");
    expect(arrivals).toEqual([]);
    expect((await send("--force")).exit).toBe(0);
    expect(readFileSync(output, "utf8")).toBe(RESULTS);
  });

  it("that paylink wrote is replaced, unless it was edited since", async () => {
    const { output, list, send } = await desk();
    expect((await send()).exit).toBe(0);
    writeFileSync(list, `${LIST}I1,2,Bob\n`);
    expect((await send()).exit).toBe(0);
    expect(readFileSync(output, "utf8")).toContain("I1.1");
    writeFileSync(output, "edited\n");
    expect((await send()).exit).toBe(2);
    expect(readFileSync(output, "utf8")).toBe("edited\n");
  });

  it("of a draft follows no link, and leaves no draft", async () => {
    const { home, output, send } = await desk();
    const victim = join(home, "victim.txt");
    writeFileSync(victim, "precious\n");
    symlinkSync(victim, `${output}.part`);
    expect((await send()).exit).toBe(0);
    expect(readFileSync(victim, "utf8")).toBe("precious\n");
    expect(lstatSync(output).isFile()).toBe(true);
    expect(readdirSync(home).filter((name) => name.endsWith(".part"))).toEqual(["orders.links.csv.part"]);
  });

  it.each(["a link", "a file"])("is not written through %s in the place of its draft", async (what) => {
    const home = temporaryHome();
    const victim = join(home, "victim.txt");
    writeFileSync(victim, "precious\n");
    const path = join(home, "out.csv");
    if (what === "a link") symlinkSync(victim, `${path}.1.part`);
    else writeFileSync(`${path}.1.part`, "precious\n");
    const sink = fileSink({ path, force: false, written: openWrittenResults(join(home, "data")) }, "1");
    const bytes = async function* () {
      yield Buffer.from("results\n");
    };
    await expect(sink(bytes())).rejects.toMatchObject({ code: "file_unwritable" });
    expect(readFileSync(victim, "utf8")).toBe("precious\n");
    expect(readFileSync(`${path}.1.part`, "utf8")).toBe("precious\n");
    expect(existsSync(path)).toBe(false);
  });

  it("that appears during the run is kept", async () => {
    const home = temporaryHome();
    const path = join(home, "out.csv");
    const sink = fileSink({ path, force: false, written: openWrittenResults(join(home, "data")) }, "1");
    const bytes = async function* () {
      writeFileSync(path, "precious\n");
      yield Buffer.from("results\n");
    };
    await expect(sink(bytes())).rejects.toMatchObject({ code: "file_unwritable" });
    expect(readFileSync(path, "utf8")).toBe("precious\n");
    expect(readdirSync(home)).toEqual(["out.csv"]);
  });
});

describe("results on stdout", () => {
  it("are the same bytes, with the summary on stderr", async () => {
    const { output, send, service } = await desk();
    const stderr = `1 row: 1 created\n1 link: EUR 1.00\nno profile · ${new URL(service.url).host} · sandbox\nTo see the links: paylink links list --since 1h\n`;
    expect(await send("-o", "-")).toMatchObject({ exit: 0, stdout: RESULTS, stderr });
    expect(existsSync(output)).toBe(false);
  });
});
