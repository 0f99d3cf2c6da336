/** The journals of a machine: how a list's journal is found, and that its lock never outlives a failure. */
import { existsSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openJournals } from "../../src/bulk/journals.ts";
import { temporaryHome } from "../support/home.ts";

const HEADING = {
  service: "http://x",
  input: "/orders.csv",
  content: "c",
  begun: "2026-01-01T00:00:00.000Z",
};
const PROCESSES = { own: 1, isRunning: (pid: number) => pid === 2 };

describe("the journals", () => {
  it("are found by the list's path, or by its content", async () => {
    const journals = openJournals(temporaryHome(), PROCESSES);
    expect(journals.ofFile("http://x", "/orders.csv")).toBeUndefined();
    const { path, close } = journals.begin(HEADING);
    await close();
    expect(journals.ofFile("http://x", "/orders.csv")).toBe(path);
    expect(journals.ofFile("http://y", "/orders.csv")).toBeUndefined();
    expect(journals.ofContent("http://x", "c")).toEqual({ path, input: "/orders.csv" });
    expect(journals.ofContent("http://x", "d")).toBeUndefined();
  });

  it("of standard input are known by their content alone", async () => {
    const journals = openJournals(temporaryHome(), PROCESSES);
    const one = journals.begin({ ...HEADING, input: "-" });
    const other = journals.begin({ ...HEADING, input: "-", content: "d" });
    expect(other.path).not.toBe(one.path);
    await Promise.all([one.close(), other.close()]);
  });

  it("are open for one run at a time", async () => {
    const folder = temporaryHome();
    const { path, close } = openJournals(folder, { ...PROCESSES, own: 2 }).begin(HEADING);
    const other = openJournals(folder, PROCESSES);
    expect(() => other.open(path)).toThrow("sending this list");
    expect(() => other.begin(HEADING)).toThrow("sending this list");
    await close();
    await other.open(path).close();
  });

  it("leave no lock if they cannot be opened", async () => {
    const journals = openJournals(join(temporaryHome(), "bulk"), PROCESSES);
    const { path, close } = journals.begin(HEADING);
    await close();
    rmSync(path);
    mkdirSync(path);
    for (const open of [() => journals.begin(HEADING), () => journals.open(path)]) {
      expect(open).toThrow("EISDIR");
      expect(existsSync(`${path}.lock`)).toBe(false);
    }
  });
});
