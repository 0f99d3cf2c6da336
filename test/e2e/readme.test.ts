/** The README is run: its transcript is what the program prints, and its set-up commands exist. */
import { readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
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

it("drives the shop of the README through a real payment", async () => {
  const home = temporaryHome();
  const port = await freePort();
  for (const name of ["shop.mjs", "shop.test.mjs"]) {
    const code =
      readme
        .split("```js\n")
        .find((block) => block.startsWith(`// ${name}\n`))
        ?.split("\n```")[0] ?? "";
    expect(code).not.toBe("");
    writeFileSync(join(home, name), code.replace("3000", String(port)));
  }
  symlinkSync(fileURLToPath(new URL("../../node_modules", import.meta.url)), join(home, "node_modules"));
  symlinkSync(fileURLToPath(new URL("../../bin/paylink.js", import.meta.url)), join(home, "paylink"));
  expect(readme).toContain("paylink test --forward-to 3000 -- node --test shop.test.mjs");
  const env = { PATH: `${home}${delimiter}${process.env["PATH"] ?? ""}` };
  const args = [
    "test",
    "--forward-to",
    String(port),
    "--",
    process.execPath,
    "--test",
    join(home, "shop.test.mjs"),
  ];
  const { code, stdout, stderr } = await runPaylink(args, { home, env });
  expect(`${stdout}${stderr}`).toContain("an order is paid when its webhook says so");
  expect(code).toBe(0);
});

/** A port that was free a moment ago: the README's own, 3000, may be taken. */
function freePort(): Promise<number> {
  const server = createServer();
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
    });
  });
}
