// Writes the manual page from the program's own help, so that there is one source for both.
import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const root = new URL("../", import.meta.url);
const { version, description } = JSON.parse(readFileSync(new URL("package.json", root), "utf8"));
const binary = fileURLToPath(new URL("bin/paylink.js", root));

async function paylink(...args) {
  const { stdout } = await promisify(execFile)(process.execPath, [binary, ...args]);
  return stdout;
}

/** A command's own page, without what the first page says of all. */
const helpOf = async (...command) =>
  (await paylink(...command, "--help")).replace(/\nGlobal Options:\n(?: .*\n)+/, "");

const commandsIn = (help) =>
  [...help.split("\nExamples:")[0].matchAll(/^ {2}([a-z][a-z-]*)(?=$| )/gm)].map(([, name]) => name);

/** Text as it stands: a backslash is doubled, and a line may not begin with a control character of roff. */
const verbatim = (text) =>
  `.nf\n${text
    .trimEnd()
    .replaceAll("\\", "\\e")
    .replaceAll("-", "\\-")
    .replace(/^([.'])/gm, "\\&$1")}\n.fi`;

async function sectionOf(command) {
  const help = await helpOf(command);
  const inner = /\nCommands:\n/.test(help) ? commandsIn(help.split("\nCommands:\n")[1]) : [];
  const parts = inner.map(
    async (name) => `.SS ${command} ${name.replaceAll("-", "\\-")}\n${verbatim(await helpOf(command, name))}`,
  );
  return [`.SH ${command.toUpperCase()}`, verbatim(help), ...(await Promise.all(parts))].join("\n");
}

const overview = await helpOf();
const commands = commandsIn(overview.slice(overview.indexOf("\nOptions:")));

writeFileSync(
  new URL("dist/paylink.1", root),
  [
    `.TH PAYLINK 1 "" "paylink ${version}"`,
    `.SH NAME\npaylink \\- ${description.replaceAll("-", "\\-")}`,
    `.SH SYNOPSIS\n${verbatim(overview)}`,
    ...(await Promise.all(commands.map(sectionOf))),
    `.SH EXIT STATUS\n${verbatim(await paylink("help", "errors"))}`,
    `.SH ENVIRONMENT\n${verbatim(await paylink("help", "environment"))}`,
    "",
  ].join("\n"),
);
