/** `paylink events`, in process: the options of each subcommand, and what each does with stored webhooks. */
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openEventDatabase } from "../../src/store/sqlite/event-file.ts";
import { startListenCommand } from "../support/background-command.ts";
import { runCommand, type CommandEnd } from "../support/context.ts";
import { fixedAnswers } from "../support/fixed-answers.ts";
import { temporaryHome } from "../support/home.ts";
import { jsonLines } from "../support/json-lines.ts";
import { freePort, listenOnFreePort } from "../support/ports.ts";
import { keyFile, KEY_ENV } from "../support/keys.ts";
import { forged, post, record, startApp, webhook } from "../support/webhooks.ts";

type Fields = Readonly<Record<string, unknown>>;

interface StoredHome {
  readonly home: string;
  readonly events: (...args: string[]) => Promise<CommandEnd>;
  readonly utis: readonly string[];
}

/** A home in which `listen` stored a webhook for each record, in that order, and then a rejected one. */
async function storedHome(...records: readonly Fields[]): Promise<StoredHome> {
  const home = temporaryHome();
  const listen = await startListenCommand(home, "--key", keyFile(home));
  for (const one of records) expect(await post(listen.url, webhook(listen.url, one))).toBe(200);
  expect(await post(listen.url, forged(webhook(listen.url, record())))).toBe(401);
  await listen.stop();
  return {
    home,
    events: (...args) => runCommand(["events", ...args], { home, env: KEY_ENV }),
    utis: records.map(({ uti }) => String(uti)),
  };
}

const APPROVED = record({ reference: "INV-1" });
const DECLINED = record({ reference: "INV-2", transApproved: false });

/** What Express answers where a handler throws. */
const SMTP_PAGE = `<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Error</title></head>
<body><pre>Error: SMTP: connection refused<br> &nbsp; &nbsp;at book (shop.mjs:41:60)</pre></body></html>`;

describe("events list", () => {
  it("shows each event in one row, and escapes control characters", async () => {
    const strange = record({ reference: "INV-9\u001b[31m" });
    const { events, utis } = await storedHome(strange, strange);
    const { stdout } = await events();
    expect(stdout).toMatch(/^RECEIVED +OUTCOME +AMOUNT +REFERENCE +UTI +NOTES\n/);
    expect((await events("list", "--rejected")).stdout).toMatch(/^RECEIVED +ID +STATUS +CODE +REASON\n/);
    // Who reads a file does it at another time: each has its date and offset.
    expect(stdout).toMatch(/\n\d{4}-\d\d-\d\d \d\d:\d\d:\d\d [+-]\d\d:\d\d +APPROVED/);
    expect(stdout).toMatch(/APPROVED +EUR 10\.50 +INV-9\\u\{1b\}\[31m/);
    expect(stdout).toMatch(new RegExp(`${utis[0]} +1 repeated`));
    expect(stdout).not.toContain("\u001b");
  });

  it("lists newest first, filters, limits and prints only what a script asks for", async () => {
    const { events, utis } = await storedHome(APPROVED, DECLINED);
    const listed = async (...flags: string[]): Promise<string[]> =>
      (await events("list", "-q", ...flags)).stdout.split("\n").filter((line) => line !== "");
    expect(await listed()).toEqual(utis.toReversed());
    expect(await listed("--outcome", "DECLINED")).toEqual([utis[1]]);
    expect(await listed("--reference", "INV-1")).toEqual([utis[0]]);
    expect(await listed("--limit", "1")).toEqual([utis[1]]);
    expect(await listed("--since", "1h", "--until", "2999-01-01")).toEqual(utis.toReversed());
    expect(await listed("--until", "1h")).toEqual([]);
    expect(await listed("INV-2")).toEqual([utis[1]]);
  });

  it("says how many more there are, also to a script", async () => {
    const { events } = await storedHome(...Array.from({ length: 22 }, () => record()));
    expect((await events("list")).stderr).toBe("20 of 22; --all shows the rest\n");
    expect((await events("list", "-q")).stderr).toBe("20 of 22; --all shows the rest\n");
    const lines = jsonLines((await events("list", "--json")).stdout);
    expect(lines.at(-1)).toMatchObject({ type: "summary", shown: 20, of: 22 });
    const all = await events("list", "--all", "-q");
    expect([all.stdout.trim().split("\n").length, all.stderr]).toEqual([22, ""]);
  });

  it("prints JSON lines and nothing on stderr", async () => {
    const { events, utis } = await storedHome(APPROVED);
    const { stdout, stderr } = await events("--json");
    expect(jsonLines(stdout)).toMatchObject([
      { type: "event", uti: utis[0], outcome: "APPROVED", amount: 10.5, currency: "EUR", delivery: null },
    ]);
    expect(stderr).toBe("");
    const [line] = jsonLines(stdout);
    expect(line).toMatchObject({ repeated: false, repeats: 0, verdict: { code: "ok" } });
    expect(Buffer.from(String(line?.["bodyBase64"]), "base64").toString()).toBe(JSON.stringify(APPROVED));
    const rejected = await events("list", "--rejected", "--json");
    expect(jsonLines(rejected.stdout)).toMatchObject([
      { type: "rejected", code: "content_digest_mismatch", status: 401 },
    ]);
  });

  it("says so if there is nothing to list", async () => {
    const { exit, stdout, stderr } = await runCommand(["events"]);
    expect({ exit, stdout }).toEqual({ exit: 0, stdout: "" });
    expect(stderr).toMatch(/^No events found in \/.*events\.db\.\n$/);
    const rejected = await runCommand(["events", "list", "--rejected", "--since", "2026-01-01T00:00Z"]);
    expect(rejected.stderr).toMatch(/^No rejected webhooks found in \/.*, since 202[56]-.*\.\n$/);
  });
});

describe("the setting eventStore", () => {
  it("says where events are, unless --db does", async () => {
    const [one, other] = [await storedHome(APPROVED), await storedHome(APPROVED)];
    const env = { PAYLINK_DB: join(one.home, "data", "events.db") };
    const list = async (...flags: string[]) =>
      (await runCommand(["events", "list", "-q", ...flags], { env })).stdout.trim();
    expect([await list(), await list("--db", join(other.home, "data", "events.db"))]).toEqual([
      one.utis[0],
      other.utis[0],
    ]);
  });
});

describe("events show", () => {
  it("shows record, request, signature and deliveries, by uti and by order number", async () => {
    const one = record({ note: "\u202Ereversed" });
    const { events, utis } = await storedHome(one, one);
    const { exit, stdout } = await events("show", (utis[0] ?? "").slice(0, 10), "--full");
    expect(exit).toBe(0);
    expect(stdout).toMatch(/rsa-v1_5-sha256 with the key k, made .*, covers content-digest content-length/);
    expect(stdout).toContain("repeated");
    expect((await events("show", String(one["reference"]), "--full")).stdout).toBe(stdout);
    const card = (await events("show", utis[0] ?? "")).stdout.split("\n");
    expect(card.filter((line) => line !== "").length).toBeLessThanOrEqual(11);
    expect(stdout).toContain("Signature-Input");
    expect(stdout).toContain("\\u{202e}reversed");
  });

  it("shows the payments of a reusable link by its number", async () => {
    const suffixed = (suffix: string) => record({ reference: `R-1-${suffix}`, amountTrans: 5 });
    const other = record({ reference: "R-1-B" });
    const { events } = await storedHome(suffixed("2J7KUS78A"), other, suffixed("4LA7TVACD"));
    const { exit, stdout, stderr } = await events("show", "R-1");
    expect(exit).toBe(0);
    expect(stdout).toMatch(/^R-1 {2}Paid 2 times by a reusable link, [A-Z]{3} 10\.00\n/);
    expect(stdout).toMatch(/R-1-2J7KUS78A[^]*R-1-4LA7TVACD/);
    expect(stdout).not.toContain("R-1-B");
    expect(stderr).toContain("paylink reconcile R-1\n");
    const json = JSON.parse((await events("show", "R-1", "--json")).stdout);
    expect([json.order, json.events.length]).toEqual([null, 2]);
  });

  it("prints one JSON document with the history", async () => {
    const { events, utis } = await storedHome(APPROVED, APPROVED);
    const { stdout, stderr } = await events("show", utis[0] ?? "", "--json");
    expect(JSON.parse(stdout)).toMatchObject({
      type: "event",
      record: { uti: utis[0] },
      arrivals: [{ id: expect.any(String) }],
      attempts: [],
      delivery: null,
    });
    expect(stderr).toBe("");
  });

  it("shows a rejected webhook with the check that failed", async () => {
    const { events } = await storedHome();
    const id = (await events("list", "--rejected", "-q")).stdout.trim();
    const { stdout } = await events("show", id);
    expect(stdout).toContain('the check "content-digest" failed');
    expect(stdout).toContain(`paylink verify --event ${id}`);
    expect(JSON.parse((await events("show", id, "--json")).stdout)).toMatchObject({ type: "rejected", id });
  });

  it("shows what the application answered, and its likely cause, while the service sends it again and after", async () => {
    const home = temporaryHome();
    const answers = [
      [
        403,
        { "Content-Type": "text/html; charset=iso-8859-1", "Set-Cookie": "s=1" },
        "Jeton p\xe9rim\xe9: CSRF",
      ],
      [500, { "Content-Type": "text/html" }, SMTP_PAGE],
      [302, { Location: "/login" }, ""],
    ] as const;
    const app = createServer((_, response) => {
      const [status, headers, text] = answers[taken++] ?? [200, {}, ""];
      response.writeHead(status, headers).end(Buffer.from(text, "latin1"));
    });
    let taken = 0;
    const port = await listenOnFreePort(app);
    const listen = await startListenCommand(home, "--key", keyFile(home), "-f", `127.0.0.1:${port}/hook`);
    const one = record();
    const show = async (...flags: string[]): Promise<string> =>
      (await runCommand(["events", "show", String(one["uti"]), ...flags], { home })).stdout;
    const attempts = async (): Promise<unknown> =>
      (JSON.parse(await show("--json")) as { attempts: unknown }).attempts;
    expect(await post(listen.url, webhook(listen.url, one))).toBe(403);
    expect(await attempts()).toMatchObject([{ status: 403, reply: { text: "Jeton périmé: CSRF" } }]);
    expect(JSON.stringify(await attempts())).not.toContain("s=1");
    expect(await show()).toMatch(
      /forwarded .*: answered 403 in \d+ ms: .*Jeton périmé: CSRF\n.*CSRF[^\n]*\n/,
    );
    expect(await show()).not.toContain("iso-8859-1");
    expect(await post(listen.url, webhook(listen.url, one))).toBe(500);
    expect(await post(listen.url, webhook(listen.url, one))).toBe(302);
    expect(await show()).toMatch(/redirects? [^\n]*\/login/);
    // Of an attempt that others followed too: the words of its page, and with --full all of it.
    expect(await show()).toMatch(
      /answered 500 in \d+ ms: Error: SMTP: connection refused at book \(shop\.mjs:41:60\)/,
    );
    expect(await show()).not.toContain("<pre>");
    const full = await show("--full");
    expect(full).toMatch(
      /answered 403 [^]*content-type: text\/html; charset=iso-8859-1\n[^]*Jeton périmé: CSRF\n[^]*answered 500 [^]*<pre>Error: SMTP[^]*answered 302 [^]*location: \/login\n/i,
    );
    await listen.stop();
  });

  it("refuses a name without an event", async () => {
    const { exit, stderr } = await runCommand(["events", "show", "nothing", "--json"]);
    expect(exit).toBe(2);
    expect(JSON.parse(stderr)).toMatchObject({ error: { code: "event_not_found" } });
  });
});

describe("a card number that is not masked", () => {
  const NUMBER = "4111111111111111";
  const MASKED = "************1111";

  it("is a violation, and masked in every output; the stored bytes still verify", async () => {
    const one = record({ cardPan: NUMBER, receipt: { cardNumber: NUMBER } });
    const { home, events, utis } = await storedHome(one);
    const [uti = ""] = utis;
    const shown = await events("show", uti, "--full");
    expect(shown.stdout).toMatch(/cardPan +\*{12}1111\n/);
    expect(shown.stdout).toContain("! cardPan must be text, with the card number masked");
    const lines = [(await events("show", uti, "--json")).stdout, (await events("list", "--json")).stdout];
    const verified = await runCommand(["verify", "--event", uti, "--key", keyFile(home), "--json"], { home });
    expect(verified.exit).toBe(0);
    for (const { stdout } of [shown, await events("list"), await events("list", "--json"), verified])
      expect(stdout).not.toContain(NUMBER);
    for (const line of lines) {
      expect(line).not.toContain(NUMBER);
      const { record: read, bodyBase64 } = JSON.parse(line) as { record: unknown; bodyBase64: string };
      expect(read).toMatchObject({ cardPan: MASKED, receipt: { cardNumber: MASKED } });
      expect(Buffer.from(bodyBase64, "base64").toString()).toBe(JSON.stringify(one));
    }
  });
});

describe("the name of an event", () => {
  it("is ambiguous only among those that begin with it", async () => {
    const sent = ["ax-1", "ax-2", "bx-1"].map((uti) => record({ uti }));
    const { events } = await storedHome(...sent);
    const exported = jsonLines((await events("list", "--json")).stdout);
    expect(exported).toHaveLength(3);
    const byUti = await events("show", "ax");
    expect(byUti.stderr).toContain("Several events have the name ax: ax-2, ax-1.");
    const [{ id: first } = {}] = exported;
    const start = String(first).slice(0, 3);
    const byId = await events("show", start);
    expect(byId.exit).toBe(2);
    const [, names = ""] = /have the name \S+: (.*)\.\n/.exec(byId.stderr) ?? [];
    expect(names.split(", ").length).toBeGreaterThan(2);
    for (const name of names.split(", ")) expect(name.startsWith(start)).toBe(true);
  });
});

describe("events prune", () => {
  const prune = ["events", "prune", "--before", "2999-01-01"];

  it("says what it will delete, and deletes it only if the user agrees", async () => {
    const { home, events } = await storedHome(APPROVED);
    const no = fixedAnswers({ confirm: false });
    const refused = await runCommand(prune, { home, ask: no.ask });
    expect(refused).toMatchObject({ exit: 0, stdout: "", stderr: "Nothing was done.\n" });
    expect(no.asked).toEqual([
      expect.stringMatching(/^Delete 1 event and 1 rejected webhook received before 2999-01-01.*\?$/),
    ]);
    expect((await events("list", "-q")).stdout).not.toBe("");
    await runCommand(prune, { home, ask: fixedAnswers().ask });
    expect((await events("list", "-q")).stdout).toBe("");
  });

  it("asks nothing with --yes, or if nothing would be deleted", async () => {
    const { home, events } = await storedHome(APPROVED);
    const { ask, asked } = fixedAnswers({ confirm: false });
    const none = await events("prune", "--before", "1h", "--yes", "--json");
    expect(JSON.parse(none.stdout)).toMatchObject({ events: 0, rejections: 0 });
    expect((await events("list", "-q")).stdout).not.toBe("");
    expect((await runCommand([...prune, "--yes"], { home, ask })).stdout).toContain(
      "Deleted 1 event and 1 rejected webhook received before",
    );
    expect((await events("list", "-q")).stdout).toBe("");
    await runCommand(prune, { home, ask });
    expect(asked).toEqual([]);
  });
});

describe("a damaged database", () => {
  /** Overwrites the last pages of a store with many events, which are in the middle of what is read. */
  async function damagedStore(): Promise<string> {
    const home = temporaryHome();
    const listen = await startListenCommand(home, "--key", keyFile(home));
    const notes = Array.from({ length: 150 }, () => record({ note: "x".repeat(2000) }));
    await Promise.all(notes.map((one) => post(listen.url, webhook(listen.url, one))));
    await listen.stop();
    const path = `${home}/data/events.db`;
    const database = openEventDatabase(path);
    database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    database.close();
    const bytes = readFileSync(path);
    bytes.fill(0xff, Math.floor(bytes.length * 0.2), Math.floor(bytes.length * 0.25));
    const copy = `${home}/damaged.db`;
    writeFileSync(copy, bytes);
    return copy;
  }

  it("is reported by list after the readable events, and at once if the file is not a database", async () => {
    const path = await damagedStore();
    const exported = await runCommand(["events", "list", "--all", "--db", path, "--json"]);
    expect(exported.exit).toBe(2);
    expect(jsonLines(exported.stdout).length).toBeGreaterThan(0);
    expect(JSON.parse(exported.stderr)).toMatchObject({
      error: { code: "file_unreadable", message: expect.stringContaining(path) },
    });
    writeFileSync(path, "x".repeat(10_000));
    for (const args of [
      ["list"],
      ["show", "a"],
      ["prune", "--before", "1d", "-y"],
      ["replay", "a", "--to", "1"],
    ]) {
      const { exit, stderr } = await runCommand(["events", ...args, "--db", path, "--json"], {
        env: KEY_ENV,
      });
      expect(exit).toBe(2);
      expect(JSON.parse(stderr)).toMatchObject({ error: { code: "file_unreadable" } });
    }
  });

  it("is reported if a row is not as paylink wrote it", async () => {
    const { home, events } = await storedHome(APPROVED);
    const database = openEventDatabase(`${home}/data/events.db`);
    database.exec("UPDATE events SET head = '{'");
    database.close();
    const { exit, stderr } = await events("list");
    expect(exit).toBe(2);
    expect(stderr).toContain("is damaged");
  });
});

describe("events replay", () => {
  it("says that nothing is left to replay", async () => {
    const { events } = await storedHome(DECLINED);
    for (const filter of [["--outcome", "approved"], ["--failed"]])
      expect(await events("replay", "--all", ...filter, "--to", "1")).toMatchObject({
        exit: 0,
        stderr: "No event matches. Nothing was sent.\n",
      });
  });

  it("sends the chosen events in order of arrival, with their bytes, and stores each forward", async () => {
    const sent = ["first", "second", "third"].map((reference) => record({ reference }));
    const { events, utis } = await storedHome(...sent, DECLINED);
    const app = await startApp(async (_, index) => {
      await new Promise((resolve) => setTimeout(resolve, 5));
      return index === 1 ? 500 : 200;
    });
    const filter = ["--all", "--outcome", "approved"];
    const { exit, stdout, stderr } = await events("replay", ...filter, "--to", app.url, "--json");
    expect(app.taken.map(({ body }): unknown => JSON.parse(body.toString()))).toEqual(sent);
    expect(jsonLines(stdout).map(({ uti, status }) => [uti, status])).toEqual([
      [utis[0], 200],
      [utis[1], 500],
      [utis[2], 200],
    ]);
    expect(exit).toBe(4);
    expect(JSON.parse(stderr)).toMatchObject({
      error: { code: "not_accepted", message: `${app.url} did not accept 1 of 3 events.` },
    });
    const shown = await events("show", utis[1] ?? "", "--json");
    expect(JSON.parse(shown.stdout)).toMatchObject({
      attempts: [{ status: 500, target: app.url, isReplay: true }],
      delivery: null,
    });
  });

  it("exits 5 if nothing answers, for every form of an address", async () => {
    const { events } = await storedHome(APPROVED);
    const port = await freePort();
    const addresses = [port, `${port}/hook`, `localhost:${port}`, `http://127.0.0.1:${port}/`];
    const brokers = [`nats://127.0.0.1:${port}/payments`, `amqp://127.0.0.1:${port}/payments?key=a`];
    for (const to of [...addresses, ...brokers]) {
      const replayed = await events("replay", "--all", "--to", to);
      expect(replayed).toMatchObject({ exit: 5, stderr: expect.stringContaining("Nothing answers at") });
    }
  });

  it("exits 4 if a gateway answers in place of the application, and says why", async () => {
    const { events } = await storedHome(APPROVED);
    const app = await startApp(() => 502);
    const { exit, stdout, stderr } = await events("replay", "--all", "--to", app.url);
    expect({ exit, stderr }).toEqual({
      exit: 4,
      stderr: expect.stringContaining("did not accept 1 of 1 event"),
    });
    expect(stdout).toContain("The proxy in front of your application cannot reach it");
  });

  it("does not blame an application that is not started", async () => {
    const { events } = await storedHome(APPROVED);
    const { exit, stderr } = await events("replay", "--all", "--to", "http://shop.invalid/");
    expect({ exit, stderr }).toEqual({
      exit: 5,
      stderr: expect.stringContaining("The host name is unknown here"),
    });
  });

  it("sends nothing if one of the names is unknown or of a rejected webhook", async () => {
    const { events, utis } = await storedHome(APPROVED);
    const rejected = (await events("list", "--rejected", "-q")).stdout.trim();
    const app = await startApp(() => 200);
    for (const [name, code] of [
      [rejected, "usage"],
      ["unknown", "event_not_found"],
    ] as const) {
      const { exit, stderr } = await events("replay", utis[0] ?? "", name, "--to", app.url, "--json");
      expect(exit).toBe(2);
      expect(JSON.parse(stderr)).toMatchObject({ error: { code } });
    }
    expect(app.taken).toEqual([]);
  });
});
