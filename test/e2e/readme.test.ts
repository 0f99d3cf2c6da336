/** The README is run: its transcript is what the program prints, and its set-up commands exist. */
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { ENVIRONMENT } from "../../src/commands/help/environment.ts";
import { EXIT_CODES, FAILURES } from "../../src/domain/errors.ts";
import { REASONS } from "../../src/signatures/verdict.ts";
import { helpPages } from "../support/help-pages.ts";
import { temporaryHome } from "../support/home.ts";
import { runPaylink } from "../support/paylink.ts";
import { freePort } from "../support/ports.ts";
import { README, readmeBlock } from "../support/readme.ts";

/** The README's text as a pattern: what differs from run to run is an id, a suffix, or left out with an ellipsis. */
function patternOf(transcript: string): RegExp {
  const escaped = transcript.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const loose = escaped
    .replace(/[0-9a-f-]*…/g, "[^\\n]*")
    .replace(/DONATION-[A-Z0-9]{9}/g, "DONATION-[A-Z0-9]{9}");
  return new RegExp(`^${loose}$`);
}

it("shows a transcript that the demo really prints", async () => {
  const [, command = "", transcript = ""] =
    /^\$ paylink (.*)\n([\s\S]*)\n$/.exec(readmeBlock("console", "$ paylink demo")) ?? [];
  expect(command).toBe("demo");
  const { code, stdout } = await runPaylink([command], { home: temporaryHome() });
  expect(code).toBe(0);
  expect(stdout.trimEnd()).toMatch(patternOf(transcript));
});

it("names set-up commands that the package has", () => {
  const text = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  const { scripts } = JSON.parse(text) as { scripts: Record<string, string> };
  expect(README).toContain("npm ci && npm run demo");
  expect(README).toContain("npm ci && npm test");
  expect(scripts["demo"]).toBe("npm run --silent build && node bin/paylink.js demo");
});

it("gives every exit code the meaning that the program gives it", () => {
  const [, table = ""] = /^## Exit codes\n([\s\S]*?)\n## /m.exec(README) ?? [];
  const rows = [...table.matchAll(/^\| (\d+) +\| (.*?) +\|$/gm)];
  expect(Object.fromEntries(rows.map(([, code, means]) => [code, means]))).toEqual(EXIT_CODES);
});

it("tells of every failure that is not plain by itself, and of no code that there is not", () => {
  const [, table = ""] = /^## Troubleshooting\n([\s\S]*?)\n## /m.exec(README) ?? [];
  const rows = [...table.matchAll(/^\| (`.*?`) +\|/gm)].map(([, codes = ""]) => codes);
  const named = rows.flatMap((codes) => [...codes.matchAll(/`(\w+)`/g)].map(([, code = ""]) => code));
  const plain = ["internal", "usage", "interrupted", "terminated"];
  const failures = Object.keys(FAILURES).filter((code) => !plain.includes(code));
  expect(named).toEqual(expect.arrayContaining(failures));
  expect(
    named.filter((code) => !failures.includes(code) && !REASONS.some((reason) => reason === code)),
  ).toEqual([]);
});

it("names no flag and no command that the help does not", async () => {
  const help = (await helpPages())
    .map(({ command, text }) => `paylink ${command.join(" ")}\n${text}`)
    .join("\n");
  const ofOtherPrograms = ["--global", "--test", "--write"];
  const flags = new Set(README.match(/(?<![\w-])--[a-z][a-z-]+/g));
  for (const flag of ofOtherPrograms) flags.delete(flag);
  expect(flags.size).toBeGreaterThan(30);
  expect([...flags].filter((flag) => !help.includes(` ${flag} `))).toEqual([]);
  const commands = [...README.matchAll(/(?<=`|\$ |\$\(|^|-- )paylink ([a-z][a-z-]*)/gm)].map(
    ([, name = ""]) => name,
  );
  expect(commands.filter((name) => !help.includes(`paylink ${name}\n`))).toEqual([]);
});

it("names every variable that is read", () => {
  for (const name of Object.keys(ENVIRONMENT)) expect(README).toContain(`\`${name}\``);
});

it("drives the shop of the README through a real payment and every forgery", async () => {
  const home = temporaryHome();
  const port = await freePort();
  for (const name of ["shop.mjs", "shop.test.mjs"]) {
    writeFileSync(join(home, name), readmeBlock("js", `// ${name}\n`).replaceAll("3000", port));
  }
  expect(README).toContain("npm install express paylink");
  mkdirSync(join(home, "node_modules"));
  for (const [name, folder] of [
    ["express", "../../node_modules/express"],
    ["paylink", "../.."],
  ] as const)
    symlinkSync(fileURLToPath(new URL(folder, import.meta.url)), join(home, "node_modules", name));
  symlinkSync(fileURLToPath(new URL("../../bin/paylink.js", import.meta.url)), join(home, "paylink"));
  expect(README).toContain("paylink test --forward-to 3000 -- node --test shop.test.mjs");
  const env = { PATH: `${home}${delimiter}${process.env["PATH"] ?? ""}` };
  const args = ["test", "--forward-to", port, "--", process.execPath, "--test", join(home, "shop.test.mjs")];
  const { code, stdout, stderr } = await runPaylink(args, { home, env });
  expect({ code, stderr }).toMatchObject({ code: 0 });
  for (const passed of [
    "an order is paid when its webhook says so",
    "nothing forged, altered or stale is believed",
  ])
    expect(stdout).toContain(passed);
});
