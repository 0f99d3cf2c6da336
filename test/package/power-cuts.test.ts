/** The power fails at any moment of a run: what was answered or sent is in the files that the disk may hold, which open. */
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { describe, expect, it } from "vitest";
import { openSettingsFile } from "../../src/settings/settings-file.ts";
import { listOfRows } from "../support/bulk-list.ts";
import { runCommand } from "../support/context.ts";
import { openWithoutThread } from "../support/event-stores.ts";
import { temporaryHome } from "../support/home.ts";
import { keyFile } from "../support/keys.ts";
import { startLinkService } from "../support/link-service.ts";
import { runPaylink } from "../support/paylink.ts";
import { createRandom } from "../support/random.ts";
import {
  type Fate,
  FATES,
  filesAt,
  putFiles,
  type RecordedStep,
  startRecorded,
  stepsOf,
} from "../support/recorded-disk.ts";
import { all } from "../support/stored-events.ts";
import { post, record, webhook } from "../support/webhooks.ts";

const hasStrace = spawnSync("strace", ["-V"]).status === 0;
/** The bench makes more. */
const STATES = Number(process.env["POWER_CUTS"] ?? 200);
/** So many that the log is copied into the file more than once: it is 1,000 pages long by then. */
const WEBHOOKS = [400, 80] as const;
const AT_ONCE = 8;
const ROWS = 40;
/** Of so many states, one is opened by the built program. */
const PROGRAM = 100;

interface State {
  readonly state: number;
  readonly cut: number;
  readonly fate: Fate;
  /** What happened before the power failed. */
  readonly before: readonly RecordedStep[];
  /** The folder that the disk holds. */
  readonly folder: string;
}

/** Shows `look` states of the disk, evenly over the run, each fate as often. */
async function atCuts(
  steps: readonly RecordedStep[],
  from: string,
  states: number,
  look: (state: State) => Promise<void>,
): Promise<void> {
  const random = createRandom(5);
  const root = temporaryHome();
  for (let state = 0; state < states; state++) {
    const cut = 1 + Math.floor((state * steps.length) / states);
    const fate = FATES[state % FATES.length] ?? "lost";
    const folder = join(root, String(state));
    mkdirSync(folder);
    putFiles(filesAt(steps, cut, fate, random), from, folder);
    await look({ state, cut, fate, before: steps.slice(0, cut), folder });
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The index of the log is made anew after a power cut. */
const isIndex = (path: string): boolean => path.endsWith("-shm");

/** Runs a command line under strace, and gives what was traced. `use` has the address of `listen`, and says how to end it. */
async function traced(
  root: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  use?: (url: string) => Promise<NodeJS.Signals>,
): Promise<string> {
  const trace = join(root, "trace");
  const { child, kill } = startRecorded(trace, args, env);
  const ended = once(child, "close");
  if (use === undefined) child.stdout.resume();
  else {
    const [first] = (await once(createInterface(child.stdout), "line")) as [string];
    kill(await use((JSON.parse(first) as { url: string }).url));
  }
  await ended;
  return readFileSync(trace, "utf8");
}

const loadWith =
  (webhooks: number, signal: NodeJS.Signals) =>
  async (url: string): Promise<NodeJS.Signals> => {
    await Promise.all(
      Array.from({ length: AT_ONCE }, async () => {
        for (let sent = 0; sent < webhooks / AT_ONCE; sent++) await post(url, webhook(url, record()));
      }),
    );
    return signal;
  };

/** The bodies of webhooks that were answered with 200, by their utis. */
function answeredIn(steps: readonly RecordedStep[]): ReadonlyMap<string, string> {
  const received = new Map<string, string>();
  const answered = new Map<string, string>();
  for (const step of steps) {
    if (step.type === "receive")
      received.set(step.socket, `${received.get(step.socket) ?? ""}${step.bytes.toString()}`);
    if (step.type !== "send") continue;
    const body = received.get(step.socket)?.split("\r\n\r\n", 2)[1];
    received.delete(step.socket);
    if (body === undefined || !step.bytes.toString("latin1").startsWith("HTTP/1.1 200")) continue;
    answered.set((JSON.parse(body) as { uti: string }).uti, body);
  }
  return answered;
}

/** What the store in a folder has, by its utis: as the code of the store reads it. */
async function storedIn(folder: string): Promise<ReadonlyMap<string, string>> {
  const store = openWithoutThread(join(folder, "data", "events.db"));
  const events = await all(store.events());
  await store.close();
  return new Map(events.map(({ uti, request }) => [uti, Buffer.from(request.body).toString()]));
}

/** The same, as the built program prints it. */
async function printedOf(folder: string): Promise<ReadonlyMap<string, string>> {
  const { stdout } = await runPaylink(["events", "list", "--all", "--json"], { home: folder });
  const lines = stdout.split("\n").filter((line) => line !== "");
  return new Map(
    lines.map((line) => {
      const { record, bodyBase64 } = JSON.parse(line) as { record: { uti: string }; bodyBase64: string };
      return [record.uti, Buffer.from(bodyBase64, "base64").toString()];
    }),
  );
}

describe.skipIf(!hasStrace)("a power cut, recorded with strace", { timeout: 3_600_000 }, () => {
  it("loses no webhook that was answered", async () => {
    const root = temporaryHome();
    const env = { PAYLINK_HOME: join(root, "new", "home") };
    const listen = ["listen", "--port", "0", "--json", "--key", keyFile(root)];
    const runs = [
      await traced(root, listen, env, loadWith(WEBHOOKS[0], "SIGTERM")),
      await traced(root, listen, env, loadWith(WEBHOOKS[1], "SIGKILL")),
    ];
    const steps = stepsOf(runs, root, isIndex);
    expect(answeredIn(steps).size).toBe(WEBHOOKS[0] + WEBHOOKS[1]);
    const lostIn = async ({ state, before, folder }: State): Promise<string[]> => {
      const home = join(folder, "new", "home");
      const answered = answeredIn(before);
      const kept = await (state % PROGRAM === PROGRAM - 1 ? printedOf(home) : storedIn(home));
      return [...answered].flatMap(([uti, body]) => (kept.get(uti) === body ? [] : [uti]));
    };
    await atCuts(steps, root, STATES, async (state) => {
      const { cut, fate } = state;
      expect({ cut, fate, lost: await lostIn(state) }).toEqual({ cut, fate, lost: [] });
    });
    // The same disk loses webhooks of a program that does not sync.
    const withoutSync = steps.filter(({ type }) => type !== "sync");
    let losses = 0;
    await atCuts(withoutSync, root, 20, async (state) => {
      const lost = await lostIn(state).catch(() => ["all"]);
      if (lost.length > 0) losses++;
    });
    expect(losses).toBeGreaterThan(5);
  });

  it("leaves the settings as they were, or as they were written", async () => {
    const root = temporaryHome();
    const home = join(root, "new", "home");
    const runs: string[] = [];
    for (const currency of ["EUR", "GBP", "USD"]) {
      const set = ["config", "set", "currency", currency, "--profile", "shop"];
      runs.push(await traced(root, set, { PAYLINK_HOME: home }));
    }
    const ends = runs.map((_, index) => stepsOf(runs.slice(0, index + 1), root).length);
    await atCuts(stepsOf(runs, root), root, STATES / 2, async ({ cut, fate, folder }) => {
      const { shop } = openSettingsFile(join(folder, "new", "home")).profiles();
      const ended = ends.filter((end) => end <= cut).length;
      const states = [undefined, "EUR", "GBP", "USD"];
      expect({ cut, fate, right: states.slice(ended, ended + 2) }).toMatchObject({
        cut,
        fate,
        right: expect.arrayContaining([shop?.currency]),
      });
    });
  });

  it("resends no row whose request was sent", async () => {
    const root = temporaryHome();
    const home = join(root, "new", "home");
    const service = await startLinkService(() => "create");
    const list = join(root, "orders.csv");
    writeFileSync(list, listOfRows(ROWS));
    const bulk = ["bulk", list, "--currency", "EUR"];
    const env = { ...service.env, PAYLINK_HOME: home };
    const first = await traced(root, bulk, env);
    const firstEnd = stepsOf([first], root, isIndex).length;
    const steps = stepsOf([first, await traced(root, bulk, env)], root, isIndex);
    expect(service.arrivals).toHaveLength(ROWS);
    await atCuts(steps, root, STATES / 4, async ({ cut, fate, before, folder }) => {
      const sent = before.flatMap((step) =>
        step.type === "send" ? [...step.bytes.toString().matchAll(/"invoiceId":"(I\d+)"/g)] : [],
      );
      const results = join(folder, "orders.links.csv");
      const lines = existsSync(results) ? readFileSync(results, "utf8").split("\n").length : undefined;
      expect({ cut, fate, lines }).toMatchObject({
        lines: cut < firstEnd ? expect.toBeOneOf([undefined, ROWS + 2]) : ROWS + 2,
      });
      // The service does not remember, so that the memory alone decides.
      for (const known of [service.arrivals, service.created]) known.length = 0;
      service.links.clear();
      writeFileSync(join(folder, "orders.csv"), listOfRows(ROWS));
      await runCommand(
        ["bulk", join(folder, "orders.csv"), "--currency", "EUR", "--output", join(folder, "again.csv")],
        {
          home: join(folder, "new", "home"),
          env: service.env,
        },
      );
      const twice = sent.map(([, invoice]) => invoice).filter((one = "") => service.arrivals.includes(one));
      expect({ cut, fate, twice }).toEqual({ cut, fate, twice: [] });
    });
  });
});
