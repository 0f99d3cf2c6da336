// Writes the manual page from the program's own help, so that there is one source for both.
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = new URL("../", import.meta.url);
const { version, description } = JSON.parse(readFileSync(new URL("package.json", root), "utf8"));
const binary = fileURLToPath(new URL("bin/paylink.js", root));

const help = (...command) =>
  execFileSync(process.execPath, [binary, ...command, "--help"], {
    encoding: "utf8",
    env: { NO_COLOR: "1", NODE_DISABLE_COMPILE_CACHE: "1" },
  });

/** Text as it stands: a backslash is doubled, and a line may not begin with a control character of roff. */
const verbatim = (text) =>
  `.nf\n${text
    .trimEnd()
    .replaceAll("\\", "\\e")
    .replaceAll("-", "\\-")
    .replace(/^([.'])/gm, "\\&$1")}\n.fi`;

const overview = help();
const [, listed = ""] = /\nCommands:\n([\s\S]*?)(?:\n\n|$)/.exec(overview) ?? [];
const commands = [...listed.matchAll(/^ {2}([a-z]+)/gm)].map(([, name]) => name);

writeFileSync(
  new URL("dist/paylink.1", root),
  [
    `.TH PAYLINK 1 "" "paylink ${version}"`,
    ".SH NAME",
    `paylink \\- ${description.replaceAll("-", "\\-")}`,
    ".SH SYNOPSIS",
    verbatim(overview),
    ...commands.flatMap((command) => [`.SH ${command.toUpperCase()}`, verbatim(help(command))]),
    "",
  ].join("\n"),
);
