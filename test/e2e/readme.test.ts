/** The README is run: its transcript is what the program prints, and its set-up commands exist. */
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { FAILURES } from "../../src/domain/errors.ts";
import { temporaryHome } from "../support/home.ts";
import { runPaylink } from "../support/paylink.ts";

const read = (name: string): string => readFileSync(new URL(`../../${name}`, import.meta.url), "utf8");
const readme = read("README.md");

/** The README's text as a pattern: what differs from run to run is an id, a suffix, or left out with an ellipsis. */
function patternOf(transcript: string): RegExp {
  const escaped = transcript.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const loose = escaped
    .replace(/[0-9a-f-]*…/g, "[^\\n]*")
    .replace(/DONATION-[A-Z0-9]{9}/g, "DONATION-[A-Z0-9]{9}");
  return new RegExp(`^${loose}$`);
}

it("shows a transcript that the demo really prints", async () => {
  const [, command = "", transcript = ""] = /```console\n\$ paylink (.*)\n([\s\S]*?)\n```/.exec(readme) ?? [];
  expect(command).toBe("demo");
  const { code, stdout } = await runPaylink([command], { home: temporaryHome() });
  expect(code).toBe(0);
  expect(stdout.trimEnd()).toMatch(patternOf(transcript));
});

it("names set-up commands that the package has", () => {
  const scripts = (JSON.parse(read("package.json")) as { scripts: Record<string, string> }).scripts;
  expect(readme).toContain("npm ci && npm run demo");
  expect(readme).toContain("npm ci && npm test");
  expect(scripts["demo"]).toBe("node bin/paylink.js demo");
});

it("names every exit code there is", () => {
  for (const { exit } of Object.values(FAILURES))
    expect(readme).toMatch(new RegExp(`^\\|.*\\b${exit}\\b.*\\|`, "m"));
});
