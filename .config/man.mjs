/** Writes the manual page from the program's own help and its topics, so that both have one source. */
import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";

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
 * @typedef {object} Command
 * @property {string} name
 * @property {Command[]} subcommands
 * @property {{ choices: string[] | null }[]} arguments
 */

/**
 * A command's own help, without the line that names the global flags, which the overview explains.
 * @param {string} command
 */
const helpOf = async (command) =>
  (await paylink(...command.split(" "), "--help")).replace(/\nGlobal flags:.*\n/, "");

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

/**
 * @param {Command} command
 * @returns {Promise<string>}
 */
async function commandSection({ name, subcommands }) {
  const parts = subcommands.map(
    async (inner) => `.SS ${inner.name.replaceAll("-", "\\-")}\n${verbatim(await helpOf(inner.name))}`,
  );
  return [`.SH ${name.toUpperCase()}`, verbatim(await helpOf(name)), ...(await Promise.all(parts))].join(
    "\n",
  );
}

/** @param {string} topic */
async function topicSection(topic) {
  const text = await paylink("help", topic);
  return `.SH ${topic === "errors" ? "EXIT STATUS" : topic.toUpperCase()}\n${verbatim(text)}`;
}

const overview = await paylink("--help");
const [usage = "", synopsis = ""] = /^Usage: (.+)\n+/m.exec(overview) ?? [];
if (synopsis === "") throw new Error("the overview has no usage line");

/** @type {{ commands: Command[] }} */
const { commands } = JSON.parse(await paylink("help", "--json"));
const topics = commands.find(({ name }) => name === "help")?.arguments[0]?.choices ?? [];
/** Guides are long, and `paylink help` has them: the page names them (size bench). */
const GUIDES = ["webhooks", "production", "live", "ci"];
const guides = GUIDES.map((name) => `paylink help ${name}`).join("\n");

const page = [
  `.TH PAYLINK 1 "" "paylink ${version}"`,
  `.SH NAME\npaylink \\- ${description.replaceAll("-", "\\-")}`,
  `.SH SYNOPSIS\n${verbatim(synopsis)}`,
  `.SH DESCRIPTION\n${verbatim(overview.replace(usage, ""))}`,
  ...(await Promise.all(commands.map(commandSection))),
  ...(await Promise.all(topics.filter((name) => !GUIDES.includes(name)).map(topicSection))),
  `.SH SEE ALSO\n${verbatim(guides)}`,
  "",
].join("\n");
// As man and npm take it: plain, it would be a twentieth of the package (size bench).
writeFileSync(new URL("dist/paylink.1.gz", root), gzipSync(page, { level: 9 }));
