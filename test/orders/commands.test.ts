/** The commands and the page that name an order say of every history what `standingOf` says: one store and one service have them all. */
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { comparableText } from "../../src/values/comparable-text.ts";
import { stringifyJson } from "../../src/values/json.ts";
import type { Send } from "../../src/http/exchange.ts";
import { standingText } from "../../src/orders/standing-words.ts";
import { standingOf } from "../../src/orders/standing.ts";
import { ACCOUNT } from "../support/account.ts";
import { runCommand } from "../support/context.ts";
import { openSqlite } from "../support/event-stores.ts";
import { temporaryHome } from "../support/home.ts";
import { openInspector, wordsOf } from "../support/inspector.ts";
import { jsonLines } from "../support/json-lines.ts";
import { KEYS, OTHER_KEYS } from "../support/keys.ts";
import { idOf } from "../support/stored-events.ts";
import { arrived, keyOf } from "./arrived.ts";
import { histories as vectors, type History, linksOf, orderOf, VECTORS_NOW } from "./vectors.ts";

/** One service names each link once. */
const histories: readonly History[] = vectors.map((history, at) => {
  const named = (id: unknown): string => `${String(id)}-${at}`;
  const { standing, links } = history;
  const payable = standing["payable"];
  return {
    ...history,
    links: links.map((link) => ({ ...link, id: named(link["id"]) })),
    standing: { ...standing, ...(Array.isArray(payable) ? { payable: payable.map(named) } : {}) },
  };
});

interface OrderMember {
  readonly number: string;
}

const keysOf = ({ keys = [1, 2] }: History): readonly number[] => keys;
const orderWithout = (history: History) => orderOf(history, { knowsLinks: false });
/** What arrived of the order itself. */
const hasArrived = (history: History): boolean => (orderWithout(history).payments ?? []).length > 0;
const isReusable = ({ links }: History): boolean => links.some((link) => "linkOptions" in link);

/** The service lists all links, and shows each. */
const send: Send = async ({ target }) => {
  const url = new URL(target, "http://service.example");
  const all = histories.flatMap(linksOf).map((link) => stringifyJson(link));
  const one = /\/payment-links\/(.+)$/.exec(url.pathname)?.[1];
  const page = `{"totalCount":${all.length},"records":[${url.searchParams.get("page") === "1" ? all.join() : ""}]}`;
  const body = one === undefined ? page : (all.find((link) => link.includes(`"id":"${one}"`)) ?? "{}");
  return { status: 200, headers: [], body: new TextEncoder().encode(body) };
};

/** A store of all histories, and a command line with it and with the keys of the run of a history. */
async function filledStore() {
  const db = join(temporaryHome(), "events.db");
  const store = openSqlite(db);
  await Promise.all(
    histories.flatMap((history, at) =>
      history.events.map((event, place) =>
        store.append(arrived(event, history, idOf(`v${at + 100}-${place + 10}`))),
      ),
    ),
  );
  const run = (args: readonly string[], keys: readonly number[]) => {
    const pems = keys.map((key) => (key === 1 ? KEYS : OTHER_KEYS).publicPem);
    const env = { ...ACCOUNT, PAYLINK_WEBHOOK_KEY: pems.join("\n"), PAYLINK_DB: db };
    return runCommand(args, { env, send, now: () => VECTORS_NOW });
  };
  return { store, run };
}

describe("the vectors", () => {
  it("are said by events show", async () => {
    const { run } = await filledStore();
    for (const history of histories) {
      const { stdout, exit } = await run(["events", "show", history.number, "--json"], keysOf(history));
      const order: OrderMember | undefined = exit === 0 ? JSON.parse(stdout).order : undefined;
      // The number of a reusable link finds its payments, each an order of another number.
      const own = order?.number === comparableText(history.number) ? order : undefined;
      expect([history.name, own]).toEqual([
        history.name,
        hasArrived(history) ? history.withoutLinks : undefined,
      ]);
    }
  });

  it("are said by reconcile with their numbers", async () => {
    const { run } = await filledStore();
    for (const keys of [[1, 2], [1]]) {
      const own = histories.filter((history) => keysOf(history).join() === keys.join());
      expect(own).not.toEqual([]);
      const { stdout } = await run(["reconcile", ...own.map(({ number }) => number), "--json"], keys);
      const verdicts = jsonLines(stdout).filter(({ type }) => type === "verdict");
      expect(verdicts.map(({ invoiceId, order }) => [invoiceId, order])).toEqual(
        // Each payment of a reusable link is an order of its own.
        own.map((history) => [history.number, isReusable(history) ? undefined : history.standing]),
      );
    }
  });

  it("are said by links show", async () => {
    const { run } = await filledStore();
    for (const history of histories) {
      const link = history.links.find(({ invoiceId }) => invoiceId === history.number);
      if (link === undefined) continue;
      const { stdout } = await run(["links", "show", String(link["id"])], keysOf(history));
      const text = standingText(standingOf(orderOf(history, { knowsLinks: true })));
      expect(stdout.replaceAll(/\s+/g, " ")).toContain(`Order ${history.number}: ${text}`);
    }
  });

  it("are said by the page of the order", async () => {
    const { store } = await filledStore();
    for (const history of histories) {
      const { request } = openInspector(store, { keys: async () => keysOf(history).map(keyOf) });
      const page = await request("GET", `/orders/${encodeURIComponent(history.number)}`);
      // The number of a reusable link, and any other with an ending, leads to the list.
      expect([history.name, page.status === 200]).toEqual([history.name, hasArrived(history)]);
      if (hasArrived(history))
        expect(wordsOf(page.text)).toContain(` ${standingText(standingOf(orderWithout(history)))}. `);
    }
  });
});
