/** Writes the manual page from the program's own help, so that both have one source. */
import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const root = new URL("../", import.meta.url);
const { version, description } = JSON.parse(readFileSync(new URL("package.json", root), "utf8"));
const binary = fileURLToPath(new URL("bin/paylink.js", root));

/** The build leaves no compile cache behind. */
const env = { ...process.env, NODE_DISABLE_COMPILE_CACHE: "1" };

/** @param {string[]} args */
async function paylink(...args) {
  const { stdout } = await promisify(execFile)(process.execPath, [binary, ...args], { env });
  return stdout;
}

/**
 * A command's own help, without the global options that the overview lists.
 * @param {string[]} command
 */
const helpOf = async (...command) =>
  (await paylink(...command, "--help")).replace(/\nGlobal Options:\n(?: .*\n)+/, "");

/** @param {string} help */
const commandsIn = (help) =>
  [...help.replace(/\nExamples:[^]*/, "").matchAll(/^ {2}([a-z][a-z-]*)(?=$| )/gm)].map(
    ([, name = ""]) => name,
  );

/**
 * Literal text in roff: backslashes and hyphens are escaped, and no line begins with a control character.
 * @param {string} text
 */
const verbatim = (text) =>
  `.nf\n${text
    .trimEnd()
    .replaceAll("\\", "\\e")
    .replaceAll("-", "\\-")
    .replace(/^([.'])/gm, "\\&$1")}\n.fi`;

/** @param {string} command */
async function sectionOf(command) {
  const help = await helpOf(command);
  const [, subcommands = ""] = help.split("\nCommands:\n");
  const parts = commandsIn(subcommands).map(
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
