/** Stops a release that is not ready, and says what is missing. npm runs it before it publishes the package. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

/** @param {string[]} args */
const git = (...args) => execFileSync("git", args, { encoding: "utf8" }).split("\n").filter(Boolean);

const { version, ...manifest } = JSON.parse(readFileSync("package.json", "utf8"));
const changelog = readFileSync(".github/CHANGELOG.md", "utf8").split("\n");
const tag = `v${version}`;
const tags = git("tag", "--points-at", "HEAD");
const changed = git("status", "--porcelain");

/** @type {readonly (readonly [isMissing: boolean, problem: string])[]} */
const checks = [
  [
    [manifest.repository, manifest.bugs, manifest.homepage].includes(undefined),
    "package.json must name the repository, which npm needs for provenance, and where to report a problem and read more. Add the addresses as repository, bugs and homepage.",
  ],
  [
    !changelog.some((line) => /^## ([^\s,]+)/.exec(line)?.[1] === version),
    `.github/CHANGELOG.md has no section "## ${version}". Describe there what the version does.`,
  ],
  [changed.length > 0, `The work tree has changes that are not committed:\n  ${changed.join("\n  ")}`],
  [
    !tags.includes(tag),
    `The commit has ${tags.length === 0 ? "no tag" : `the tag ${tags.join(", ")}`}, but package.json has the version ${version}. Tag it: git tag ${tag}`,
  ],
];
const problems = checks.flatMap(([isMissing, problem]) => (isMissing ? [`✗ ${problem}`] : []));
if (problems.length > 0) {
  process.stderr.write(`${problems.join("\n")}\nNothing was published.\n`);
  process.exitCode = 1;
}
