/** Two `listen` processes that keep their events in one database, both under load, while others read it. */
import { describe, expect, it, vi } from "vitest";
import { jsonLines, type JsonLine } from "../support/json-lines.ts";
import { temporaryHome } from "../support/home.ts";
import { readyUrl, runPaylink, startPaylink, type Running } from "../support/paylink.ts";
import { keyFile } from "../support/keys.ts";
import { answerOf, post, record, startApp, webhook } from "../support/webhooks.ts";

const OWN = 150;
const SHARED = 75;
const LANES = 8;

const utis = (events: readonly JsonLine[]): string[] =>
  events.map(({ record }) => (record as { uti: string }).uti);

const records = (count: number): JsonLine[] => Array.from({ length: count }, () => record());

/** Posts them over several lanes at once and gives the statuses. */
async function deliver(url: string, sent: readonly JsonLine[]): Promise<number[]> {
  const waiting = [...sent];
  const statuses: number[] = [];
  const lane = async (): Promise<void> => {
    for (let one = waiting.pop(); one !== undefined; one = waiting.pop())
      statuses.push(await post(url, webhook(url, one)));
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  return statuses;
}

describe("two listeners on one database", () => {
  it("lose nothing and store nothing twice, and readers see each event complete", async () => {
    const home = temporaryHome();
    const start = () => startPaylink(["listen", "--port", "0", "--json", "--key", keyFile(home)], { home });
    const listeners = [start(), start()];
    const shared = records(SHARED);
    const sent = listeners.map(() => [...records(OWN), ...shared]);
    const delivered = new AbortController();
    const deliveries = Promise.all(
      listeners.map(async (listener, index) => deliver(await readyUrl(listener), sent[index] ?? [])),
    ).finally(() => delivered.abort());
    const read = async (): Promise<void> => {
      while (!delivered.signal.aborted) {
        const exported = await runPaylink(["events", "list", "--all", "--json"], { home });
        const listed = await runPaylink(["events", "list", "--limit", "5"], { home });
        expect([exported, listed]).toMatchObject([{ code: 0 }, { code: 0 }]);
        const seen = utis(jsonLines(exported.stdout));
        expect(new Set(seen).size).toBe(seen.length);
      }
    };
    const [statuses] = await Promise.all([deliveries, read()]);
    expect(new Set(statuses.flat())).toEqual(new Set([200]));

    const shown = (await Promise.all(listeners.map((listener) => listener.stop())))
      .flatMap(({ stdout }) => jsonLines(stdout))
      .filter(({ type }) => type === "event");
    expect(shown).toHaveLength(2 * (OWN + SHARED));
    expect(new Set(shown.map(({ id }) => id)).size).toBe(shown.length);
    const repeated = utis(shown.filter((event) => event["repeated"] === true));
    expect(repeated.toSorted()).toEqual(utis(shared.map((record) => ({ record }))).toSorted());

    const kept = utis(jsonLines((await runPaylink(["events", "list", "--all", "--json"], { home })).stdout));
    expect(kept.toSorted()).toEqual([...new Set(utis(shown))].toSorted());
    const [again = ""] = repeated;
    const { stdout } = await runPaylink(["events", "show", again], { home });
    expect(stdout.match(/repeated/g)).toHaveLength(1);
  });

  it("forward a webhook that both get at once a single time, and the other one says to ask again", async () => {
    const home = temporaryHome();
    let listeners: Running[] = [];
    const received = (): number =>
      listeners.flatMap(({ stdout }) => jsonLines(stdout())).filter(({ type }) => type === "event").length;
    // Answers when both have the webhook.
    const app = await startApp(async (_, index) => {
      await vi.waitFor(() => expect(received()).toBe(2 * (index + 1)), 30_000);
      return index % 4 === 3 ? 500 : 200;
    });
    const args = ["listen", "--port", "0", "--json", "--key", keyFile(home), "--forward-to", app.url];
    listeners = [0, 1].map(() => startPaylink(args, { home }));
    const urls = await Promise.all(listeners.map(readyUrl));
    for (const one of records(8)) {
      const answers = await Promise.all(urls.map((url) => answerOf(url, webhook(url, one))));
      const [first, second] = answers.toSorted((one, other) => one.status - other.status);
      expect([first?.status, second?.status]).toEqual([app.taken.length % 4 === 0 ? 500 : 200, 503]);
      expect(second?.headers.get("retry-after")).toBe("5");
    }
    expect(app.taken).toHaveLength(8);
  });
});
