/** The files that `paylink help production` prints: they are what their programs read, and name only flags and metrics that exist. */
import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, type TestContext } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import manifest from "../../package.json" with { type: "json" };
import { createMetrics } from "../../src/receiver/metrics.ts";
import { runCommand } from "../support/context.ts";
import { storeProfiles, temporaryHome } from "../support/home.ts";

const run = (...args: string[]) => runCommand(args);

interface Production {
  readonly files: Readonly<Record<string, string>>;
}

const printed = async (name: string): Promise<string> => (await run("help", "production", name)).stdout;

/** What a program that checks such files says of one; where it is not installed, the test is skipped. */
async function checked(
  test: TestContext,
  part: string,
  [program = "", ...args]: readonly string[],
  name: string,
): Promise<{ readonly status: number | null; readonly output: string }> {
  const path = join(temporaryHome(), name);
  writeFileSync(path, await printed(part));
  const { error, status, stdout, stderr } = spawnSync(program, [...args, path], { encoding: "utf8" });
  test.skip(error !== undefined, `no ${program} is installed`);
  return { status, output: `${stdout}${stderr}` };
}

/** Every flag of the command in a text exists. */
async function expectFlags(text: string, command: "listen" | "reconcile" = "listen"): Promise<void> {
  const help = (await run(command, "--help")).stdout;
  const flags = text.match(/(?<![\w-])--[a-z-]+/g) ?? [];
  expect(flags.length).toBeGreaterThan(command === "listen" ? 4 : 0);
  for (const flag of flags) expect(help).toMatch(new RegExp(`${flag}[ ,]`));
}

/** Every metric of paylink and of the process that is named in a text exists. */
async function expectMetrics(text: string): Promise<void> {
  const backlog = { keys: [], lastForward: undefined };
  const metrics = createMetrics();
  // Only a listener with a certificate has it.
  metrics.useCertificate(new Date());
  const page = await metrics.text({ connections: 0, keys: [], keySources: [], backlog }, new Date());
  const known = new Set(page.match(/^# TYPE \w+/gm)?.map((line) => line.slice("# TYPE ".length)));
  const named = text.match(/\b(?:paylink|process)_[a-z_]+/g) ?? [];
  expect(named.length).toBeGreaterThan(8);
  expect(named.filter((name) => !known.has(name.replace(/_bucket$/, "")))).toEqual([]);
}

describe("paylink help production", () => {
  it("names each file, prints it ready to save, and has all of them in its JSON", async () => {
    const whole = await run("help", "production");
    const { files } = JSON.parse((await run("help", "production", "--json")).stdout) as Production;
    expect(Object.keys(files)).toEqual([
      "systemd",
      "container",
      "kubernetes",
      "reconcile-systemd",
      "reconcile-timer",
      "reconcile-kubernetes",
      "alerts",
      "dashboard",
    ]);
    for (const [name, text] of Object.entries(files)) {
      expect(whole.stdout).toContain(`paylink help production ${name} `);
      expect(await printed(name)).toBe(text);
      expect(JSON.parse((await run("help", "production", name, "--json")).stdout)).toEqual({ [name]: text });
    }
  });

  it("offers each file, and each recipe of webhooks, as a part", async () => {
    const { files } = JSON.parse((await run("help", "production", "--json")).stdout) as Production;
    const webhooks = JSON.parse((await run("help", "webhooks", "--json")).stdout) as { files: object };
    const { commands } = JSON.parse((await run("help", "help", "--json")).stdout) as {
      commands: { arguments: { choices: string[] }[] }[];
    };
    const own = JSON.parse((await run("help", "files", "--json")).stdout) as object;
    const parts = [files, webhooks.files, own].flatMap((group) => Object.keys(group));
    expect(commands[0]?.arguments[1]?.choices).toEqual(parts);
    expect((await run("help", "webhooks", "hono")).stdout).toContain('from "hono"');
  });

  it("names the parts of a topic if one does not exist", async () => {
    expect(await run("help", "production", "alert")).toMatchObject({
      exit: 2,
      stderr: expect.stringMatching(
        /systemd, container, .* \(got "alert"\)\. Did you mean alerts\?/,
      ) as unknown,
    });
    expect((await run("help", "errors", "x")).stderr).toContain('The topic errors has no parts (got "x").');
  });

  it("has a unit that keeps running, and stops in time", async () => {
    const unit = await printed("systemd");
    const [start = ""] = /^ExecStart=.*$/m.exec(unit) ?? [];
    await expectFlags(start);
    const drain = Number(/--drain (\d+)s/.exec(start)?.[1]);
    expect(Number(/^TimeoutStopSec=(\d+)$/m.exec(unit)?.[1])).toBeGreaterThanOrEqual(drain + 30);
    for (const line of ["Restart=always", "StartLimitIntervalSec=0", "SuccessExitStatus=143"])
      expect(unit.split("\n")).toContain(line);
  });

  it("has a unit that systemd-analyze accepts", async (test) => {
    const result = await checked(test, "systemd", ["systemd-analyze", "verify"], "paylink.service");
    expect(result).toMatchObject({ status: 0 });
  });

  it("has a container that checks its health, with flags that exist", async () => {
    const text = await printed("container");
    const [, entry = ""] = /^ENTRYPOINT (.*)$/m.exec(text) ?? [];
    await expectFlags(entry);
    expect(JSON.parse(entry)).toContain("--drain");
    expect(text).toContain(`paylink-${manifest.version}.tgz`);
    // A profile that is stored later would have another store.
    expect(text).toMatch(/^ENV PAYLINK_HOME=\/data PAYLINK_DB=\/data\/\S+$/m);
    expect(await printed("kubernetes")).toContain(`paylink:${manifest.version}\n`);
    const [, check = ""] = /^HEALTHCHECK .* CMD (.*)$/m.exec(text) ?? [];
    const [program, flag, script] = JSON.parse(check) as string[];
    expect([program, flag]).toEqual(["node", "-e"]);
    // Nothing listens there in this test.
    const port = script?.replace("9100", "9") ?? "";
    expect(spawnSync(process.execPath, ["-e", port]).status).toBe(1);
  });

  it("has a manifest for Kubernetes whose parts match", async () => {
    const text = await printed("kubernetes");
    const documents = parseAllDocuments(text);
    expect(documents.flatMap(({ errors }) => errors)).toEqual([]);
    const [deployment, budget, service] = documents.map((one) => one.toJS() as Record<string, never>);
    expect([deployment, budget, service].map((one) => one?.["kind"])).toEqual([
      "Deployment",
      "PodDisruptionBudget",
      "Service",
    ]);
    expect(deployment).toMatchObject({
      spec: {
        selector: { matchLabels: { app: "paylink" } },
        template: { metadata: { labels: { app: "paylink" } }, spec: { terminationGracePeriodSeconds: 60 } },
      },
    });
    expect(budget).toMatchObject({ spec: { selector: { matchLabels: { app: "paylink" } } } });
    expect(service).toMatchObject({ spec: { selector: { app: "paylink" } } });
    await expectFlags(text.match(/^ +- --.*$/gm)?.join("\n") ?? "");
  });

  it("runs reconcile each night, and fails where records differ", async (test) => {
    const service = await printed("reconcile-systemd");
    const [start = ""] = /^ExecStart=.*$/m.exec(service) ?? [];
    expect(start).toContain("paylink reconcile ");
    await expectFlags(start, "reconcile");
    // A failed unit is what monitoring sees: 10 is none of its successes.
    expect(service).not.toMatch(/^SuccessExitStatus=/m);
    expect(await printed("reconcile-timer")).toMatch(/^OnCalendar=\*-\*-\* \d\d:\d\d$/m);
    const unit = await checked(
      test,
      "reconcile-systemd",
      ["systemd-analyze", "verify"],
      "paylink-reconcile.service",
    );
    expect(unit).toMatchObject({ status: 0 });
    const job = parse(await printed("reconcile-kubernetes")) as Record<string, never>;
    expect(job).toMatchObject({
      kind: "CronJob",
      spec: { schedule: expect.any(String) as unknown, jobTemplate: { spec: { backoffLimit: 0 } } },
    });
    expect(await printed("reconcile-kubernetes")).toContain(`paylink:${manifest.version}\n`);
    const [script = ""] = /paylink reconcile -p .*$/m.exec(await printed("reconcile-kubernetes")) ?? [];
    await expectFlags(script, "reconcile");
  });

  it("has units that read one event store, each with a folder that its own user can read", async () => {
    const state = temporaryHome();
    const environments = await Promise.all(
      ["systemd", "reconcile-systemd"].map(async (name) => {
        const lines = (await printed(name)).match(/^Environment=.*$/gm) ?? [];
        const pairs = lines.flatMap((line) => line.slice("Environment=".length).split(" "));
        return Object.fromEntries(
          pairs.map((pair) => {
            const [variable = "", value = ""] = pair.split("=");
            return [variable, value.replace("%S", state)];
          }),
        );
      }),
    );
    const [listen = "", reconcile = ""] = environments.map((env) => env["PAYLINK_HOME"]);
    for (const home of [listen, reconcile]) mkdirSync(home);
    storeProfiles(reconcile, { live: {} });
    const args = ["config", "get", "eventStore"];
    const stores = [
      await runCommand(args, { env: environments[0] ?? {} }),
      await runCommand([...args, "-p", "live"], { env: environments[1] ?? {} }),
    ].map(({ stdout }) => stdout);
    expect(stores[0]).toContain(state);
    expect(stores[1]).toBe(stores[0]);
    // The other user could not read an account that root stores beside the events.
    expect(reconcile).not.toBe(listen);
  });

  it("has alert rules for metrics that exist", async () => {
    const text = await printed("alerts");
    const { groups } = parse(text) as { groups: { rules: { alert: string; expr: string }[] }[] };
    const rules = groups.flatMap((group) => group.rules);
    expect(rules.length).toBeGreaterThan(8);
    await expectMetrics(rules.map(({ expr }) => expr).join("\n"));
  });

  it("has alert rules that are valid to Prometheus", async (test) => {
    const result = await checked(test, "alerts", ["promtool", "check", "rules"], "alerts.yml");
    expect(result).toMatchObject({ status: 0 });
  });

  it("has a dashboard of metrics that exist, without overlapping panels", async () => {
    const { panels } = JSON.parse(await printed("dashboard")) as {
      panels: { gridPos: { x: number; y: number; w: number }; targets: { expr: string }[] }[];
    };
    await expectMetrics(panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)).join("\n"));
    for (const { gridPos } of panels) expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24);
    expect(new Set(panels.map(({ gridPos: { x, y } }) => `${x} ${y}`)).size).toBe(panels.length);
  });
});
