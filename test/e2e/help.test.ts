/** The version, the help and the manual page, as the build made them. */
import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { resolve } from "node:path";
import { expect, it } from "vitest";
import { runCommand } from "../support/context.ts";
import { temporaryHome } from "../support/home.ts";
import { runPaylink } from "../support/paylink.ts";
import { openScreen } from "../support/screen.ts";

const run = (...args: string[]) => runPaylink(args, { home: temporaryHome() });

it("prints the version of package.json", async () => {
  const text = readFileSync(resolve(import.meta.dirname, "../../package.json"), "utf8");
  const { version } = JSON.parse(text) as { readonly version: string };
  for (const args of [["--version"], ["-V"], ["-v"], ["version"], ["create", "--version"], ["create", "-v"]])
    expect(await run(...args)).toEqual({ code: 0, stdout: `${version}\n`, stderr: "" });
  const { stdout } = await run("version", "--json");
  expect(JSON.parse(stdout)).toEqual({ version });
});

it("prints the same help for every way of asking, in a pipe and in a terminal", async () => {
  const { stdout: help } = await run("--help");
  expect(help).toContain("paylink create --amount 10 --currency EUR");
  for (const args of [["-h"], [], ["help"], ["--no-input", "--help"]]) {
    const { code, stdout, stderr } = await run(...args);
    expect({ code, stdout: stdout.trimEnd(), stderr }).toEqual({
      code: 0,
      stdout: help.trimEnd(),
      stderr: "",
    });
  }
  const screen = openScreen(["--help"], { home: temporaryHome() });
  expect(await screen.ended).toBe(0);
  expect(screen.raw()).toContain("paylink create --amount 10 --currency EUR");
});

it("puts every command and topic into the manual page, with the lines of its help, and names the guides", async () => {
  const page = gunzipSync(readFileSync(resolve(import.meta.dirname, "../../dist/paylink.1.gz"))).toString();
  for (const heading of [".SH CREATE", ".SS events replay", ".SS sandbox rotate\\-key", ".SH EXIT STATUS"])
    expect(page).toContain(`\n${heading}\n`);
  expect(page).toContain("\n.SH SYNOPSIS\n.nf\npaylink [options] [command]\n.fi\n.SH DESCRIPTION\n");
  const { commands } = JSON.parse((await run("help", "--json")).stdout) as {
    commands: { name: string; arguments: { choices: string[] | null }[] }[];
  };
  const topics = commands.find(({ name }) => name === "help")?.arguments[0]?.choices ?? [];
  expect(topics).toEqual(expect.arrayContaining(["settings", "webhooks", "ci"]));
  const words = (text: string): string =>
    text.replaceAll("\\-", "-").replaceAll("\\e", "\\").replace(/\s+/g, " ");
  const text = words(page.replaceAll("\n\\&", "\n"));
  const guides = [...page.slice(page.indexOf(".SH SEE ALSO")).matchAll(/paylink help (\w+)/g)].map(
    ([, name = ""]) => name,
  );
  expect(guides).toEqual(["webhooks", "production", "live", "ci"]);
  for (const topic of topics.filter((one) => !guides.includes(one))) {
    const { stdout } = await runCommand(["help", topic]);
    expect(text).toContain(words(stdout.trim()));
  }
});
