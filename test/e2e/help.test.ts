/** What is answered before the program loads: the version, and the help that the build wrote down. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, it } from "vitest";
import { temporaryHome } from "../support/home.ts";
import { runPaylink } from "../support/paylink.ts";

it("prints the version of package.json", async () => {
  const text = readFileSync(resolve(import.meta.dirname, "../../package.json"), "utf8");
  const { version } = JSON.parse(text) as { readonly version: string };
  const home = temporaryHome();
  for (const flag of ["--version", "-V"])
    expect(await runPaylink([flag], { home })).toEqual({ code: 0, stdout: `${version}\n`, stderr: "" });
});

it("prints the same help from the file of the build as the program makes", async () => {
  const home = temporaryHome();
  const made = await runPaylink(["--no-input", "--help"], { home });
  expect(made.stdout).toContain("paylink create --amount 10 --currency EUR");
  for (const flag of ["--help", "-h"])
    expect(await runPaylink([flag], { home })).toEqual({
      code: 0,
      stdout: `${made.stdout.trimEnd()}\n`,
      stderr: "",
    });
});
