/** `paylink links`, in process, at a strict imitation of the documented service. */
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Send } from "../../src/http/exchange.ts";
import type { HttpRequest } from "../../src/http/message.ts";
import { formatLocal } from "../../src/render/layout.ts";
import { ACCOUNT, answering, never } from "../support/account.ts";
import { runCommand, type CommandOptions } from "../support/context.ts";
import { CLIENT, startDocumentedService } from "../support/documented-service.ts";
import { openSqlite } from "../support/event-stores.ts";
import { fixedAnswers } from "../support/fixed-answers.ts";
import { temporaryHome } from "../support/home.ts";
import { jsonLines } from "../support/json-lines.ts";
import { openSender } from "../support/sender.ts";
import { event, idOf } from "../support/stored-events.ts";

/** An account at the service, and a command line with it. */
async function account() {
  const home = temporaryHome();
  const service = await startDocumentedService();
  const login = await runCommand(["login", ...service.login], { home, stdin: CLIENT.secret });
  expect(login.exit).toBe(0);
  const run = (args: readonly string[], options: CommandOptions = {}) =>
    runCommand(args, { ...options, home });
  const create = async (): Promise<string> => {
    const { stdout } = await run(["create", "--amount", "10", "--invoice-id", "A-1", "--json"]);
    const { id }: { id: string } = JSON.parse(stdout);
    return id;
  };
  const links = (args: readonly string[], options?: CommandOptions) => run(["links", ...args], options);
  return { service, links, create };
}

const urlOf = (id: string): string => `https://checkout.service.example/?r=${id}`;
const SERVICE = /profile default · 127\.0\.0\.1:\d+ · /;

const NOW = new Date("2026-11-22T10:00:00.123Z");

interface Page {
  readonly records: readonly object[] | null;
  readonly totalCount?: number;
}

/** A service that answers with these pages, by the number asked for. */
function pages(...given: readonly Page[]) {
  const queries: Record<string, string>[] = [];
  const send = async ({ target }: HttpRequest) => {
    const query = Object.fromEntries(new URL(target, "http://service.example").searchParams);
    queries.push(query);
    const page = given[Math.min(Number(query["page"]), given.length) - 1];
    return { status: 200, headers: [], body: new TextEncoder().encode(JSON.stringify(page)) };
  };
  const list = (...flags: readonly string[]) =>
    runCommand(["links", "list", ...flags], { env: ACCOUNT, send, now: () => NOW });
  return { list, queries };
}

const link = (id: string, createdDate: string): object => ({
  id,
  createdDate,
  status: "active",
  amount: 10,
  currency: "GBP",
  customerName: "Ada",
  url: urlOf(id),
});
const OLD = link("old", "2026-11-20T10:00:00Z");
const NEW = link("new", "2026-11-22T09:00:00Z");
const MIDDLE = link("middle", "2026-11-21T10:00:00Z");

describe("paylink links list", () => {
  it("prints a table with headers, and names the profile and the service", async () => {
    const { links, create } = await account();
    const [one, two] = [await create(), await create()];
    const run = await links([]);
    expect(run.exit).toBe(0);
    const [header = "", ...rows] = run.stdout.trimEnd().split("\n");
    expect(header).toMatch(
      /^ID +CREATED \([+-]\d\d:\d\d\) +STATUS +AMOUNT +CUSTOMER +ORDER NUMBER +KIND +PAID \([+-]\d\d:\d\d\)$/,
    );
    expect(rows).toHaveLength(3);
    expect(rows.at(-1)).toMatch(/^2 links active: /);
    expect(rows.join()).toContain(one);
    expect(rows.join()).toContain(two);
    expect(rows[0]).toMatch(/active +GBP 10\.00 +Ada Lovelace +A-1 +one-time +–$/);
    expect(run.stderr).toMatch(SERVICE);
  });

  it("prints one link a line with --json, and URLs alone with -q", async () => {
    const { links, create } = await account();
    const [one, two] = [await create(), await create()];
    const json = await links(["list", "--json"]);
    expect(json.stderr).toBe("");
    expect(jsonLines(json.stdout)).toMatchObject([{ id: one, amount: 10 }, { id: two }]);
    const quiet = await links(["list", "-q"]);
    expect(quiet).toMatchObject({ stdout: `${urlOf(one)}\n${urlOf(two)}\n`, stderr: "" });
  });

  it("prints CSV for a spreadsheet, without a formula in it, and the header alone for nothing", async () => {
    const one = { ...link("l1", "2026-11-21T10:00:00Z"), customerName: "=1+1", invoiceId: "A,1" };
    const { exit, stdout } = await pages({ records: [one], totalCount: 1 }).list("--csv");
    const header = "createdDate,amount,currency,status,paidDate,expirationDate,customerName,invoiceId,id,url";
    const [first, row, ...more] = stdout.trimEnd().split("\n");
    expect([exit, first, more]).toEqual([0, header, []]);
    expect(row).toMatch(/^2026-11-21T\d\d:\d\d:00[+-]\d\d:\d\d,10,GBP,active,,,'=1\+1,"A,1",l1,/);
    const nothing = await pages({ records: [], totalCount: 0 }).list("--csv");
    expect(nothing).toMatchObject({ exit: 0, stdout: `${header}\n` });
    expect((await pages({ records: [] }).list("--csv", "--quiet")).exit).toBe(2);
    expect((await pages({ records: [] }).list("--csv", "--json")).exit).toBe(2);
  });

  it("says to people that older links are left out, unless they asked for a period", async () => {
    const { list } = pages({ records: [NEW], totalCount: 1 });
    const { list: listNone } = pages({ records: [], totalCount: 0 });
    const note = "Only the last 7 days are listed. Use --since for older links.\n";
    expect((await list()).stderr).toContain(note);
    expect((await listNone("--status", "paid")).stderr).toMatch(
      /^No links of terminal \S+ found, created since \S+ .*\.\n/,
    );
    expect((await list("--since", "7d")).stderr).not.toContain(note);
    for (const flag of ["--json", "-q"]) expect(await list(flag)).toMatchObject({ exit: 0, stderr: "" });
  });

  it("requests the last 7 days, and what a fast clock has created", async () => {
    const { list, queries } = pages({ records: [], totalCount: 0 });
    expect((await list()).exit).toBe(0);
    expect((await list("--since", "2h", "--until", "2026-11-22T09:00:00Z", "--status", "paid")).exit).toBe(0);
    expect(queries).toMatchObject([
      {
        terminalId: ACCOUNT.PAYLINK_TERMINAL_ID,
        from: "2026-11-15T10:00:00Z",
        to: "2026-11-29T10:00:00Z",
        page: "1",
        size: "5000",
      },
      { from: "2026-11-22T08:00:00Z", to: "2026-11-22T09:00:00Z", status: "paid" },
    ]);
  });

  it("shows the words of an error inside a 200", async () => {
    const service = answering(200, '{"code":42,"message":"the terminal is closed"}');
    const run = await runCommand(["links", "list", "--json"], service);
    expect(run.exit).toBe(4);
    expect(JSON.parse(run.stderr)).toMatchObject({
      error: {
        code: "refused",
        message: expect.stringContaining("the terminal is closed"),
        details: { code: "42" },
      },
    });
  });

  it("puts the newest first, whatever the order of the pages", async () => {
    const { list, queries } = pages(
      { records: [OLD], totalCount: 3 },
      { records: [NEW, MIDDLE], totalCount: 3 },
      { records: [] },
    );
    expect((await list("-q")).stdout.match(/r=\w+/g)).toEqual(["r=new", "r=middle", "r=old"]);
    expect((await list("-q", "--limit", "2")).stdout.match(/r=\w+/g)).toEqual(["r=new", "r=middle"]);
    expect(queries.map(({ page }) => page)).toEqual(["1", "2", "3", "1", "2", "3"]);
  });

  it.each([
    ["does not count its links", [{ records: [NEW] }, { records: [OLD] }, { records: [] }], 3],
    ["ignores the number of the page", [{ records: [NEW, OLD], totalCount: 2 }], 2],
    ["has nothing for records", [{ records: [NEW, OLD] }, { records: null }], 2],
    ["counts more links than it has", [{ records: [NEW, OLD], totalCount: 9 }, { records: [] }], 2],
  ])("ends, and lists each link once, at a service that %s", async (_, given, requests) => {
    const { list, queries } = pages(...given);
    expect((await list("-q")).stdout.match(/r=\w+/g)).toEqual(["r=new", "r=old"]);
    expect(queries).toHaveLength(requests);
  });

  it("finds the newest of many links with --limit, and prints all of them without it", async () => {
    const second = (place: number): string => new Date(NOW.getTime() - place * 1000).toISOString();
    const places = Array.from({ length: 8000 }, (_, at) => (at * 4999) % 8000);
    const records = places.map((place) => link(`L-${place}`, second(place)));
    const list = (...flags: readonly string[]) =>
      pages({ records: records.slice(0, 5000) }, { records: records.slice(5000) }, { records: [] }).list(
        ...flags,
      );
    const ids = ({ stdout }: { readonly stdout: string }) => jsonLines(stdout).map(({ id }) => id);
    const all = places.toSorted((one, other) => one - other).map((place) => `L-${place}`);
    expect(ids(await list("--json"))).toEqual(all);
    expect(ids(await list("--json", "--limit", "3"))).toEqual(all.slice(0, 3));
  });

  it("reads on if totalCount counts one page, or fewer links come than were asked for", async () => {
    const page = (count: number, from: number) => ({
      totalCount: count,
      records: Array.from({ length: count }, (_, at) => link(`L${from + at}`, "2026-11-22T09:00:00Z")),
    });
    const { list, queries } = pages(page(5, 0), page(2, 5), page(5, 7), page(0, 0));
    expect((await list("-q")).stdout.match(/r=\w+/g)).toHaveLength(12);
    expect(queries).toHaveLength(4);
  });

  const PAID = new Date("2026-11-21T08:30:00Z");
  it.each([
    ["one-time", { amount: 10, paidDate: PAID.toISOString() }, "GBP 10.00", formatLocal(PAID).slice(0, 16)],
    [
      "reusable",
      { amount: 0, linkOptions: { mode: "REUSABLE_VARIABLE", minAmount: "5" } },
      "at least GBP 5.00",
      "–",
    ],
    ["subscription", { amount: 0, periodic: { periodicType: "ucof" } }, "GBP 0.00", "–"],
    ["verification", { amount: 0, paidDate: null }, "GBP 0.00", "–"],
  ])("says what kind of link it is, and when it was paid: %s", async (kind, members, amount, paid) => {
    const { list } = pages({ records: [{ ...NEW, ...members }] });
    const [, row = ""] = (await list()).stdout.split("\n");
    expect(row.split(/ {2,}/)).toEqual(expect.arrayContaining(["active", amount, kind, paid]));
  });

  it("finds an order number in any spelling that looks the same, and asks once for each status", async () => {
    const of = (id: string, status: string, invoiceId: string) => ({
      ...link(id, "2026-11-22T09:00:00Z"),
      status,
      invoiceId,
    });
    const found = [of("one", "active", "A-1"), of("two", "paid", "A-1\u200B "), of("other", "paid", "a-1")];
    const { list, queries } = pages({ records: found }, { records: [] });
    const { stdout } = await list("--invoice-id", "A-1", "--status", "active,paid,active", "--json");
    expect(jsonLines(stdout)).toMatchObject([{ id: "one" }, { id: "two" }]);
    expect(queries.map(({ status, page }) => [status, page])).toEqual([
      ["active", "1"],
      ["active", "2"],
      ["paid", "1"],
      ["paid", "2"],
    ]);
    const table = await list("--invoice-id", "A-1");
    expect(table.stdout).toMatch(/1 link active: GBP 10\.00\n1 link paid: GBP 10\.00\n$/);
    expect((await list("--invoice-id", "A-9")).stderr).toMatch(
      /^No links of terminal \S+ found, created since /,
    );
  });

  it("escapes what a service hides in a field", async () => {
    const { list } = pages({ records: [{ ...NEW, customerName: "\u202eAda\u001b[2J" }], totalCount: 1 });
    expect((await list()).stdout).toContain("\\u{202e}Ada\\u{1b}[2J");
    const { stdout } = await list("--json");
    expect(stdout).not.toContain("\u202e");
    expect(JSON.parse(stdout)).toMatchObject({ customerName: "\u202eAda\u001b[2J" });
  });

  it("needs an account, and a terminal", async () => {
    expect((await runCommand(["links", "list"])).exit).toBe(3);
    const { PAYLINK_TERMINAL_ID: _, ...env } = ACCOUNT;
    const run = await runCommand(["links", "list"], { env });
    expect(run.exit).toBe(2);
    expect(run.stderr).toContain("--terminal-id");
  });
});

describe("paylink links show", () => {
  it("shows every field and date, by id or by URL", async () => {
    const { links, create } = await account();
    const id = await create();
    const [byId, byUrl] = [await links(["show", id]), await links(["show", urlOf(id)])];
    expect(byId.exit).toBe(0);
    expect(byUrl.stdout).toBe(byId.stdout);
    const [first, ...rows] = byId.stdout.trimEnd().split("\n");
    expect(first).toBe(urlOf(id));
    const shown = Object.fromEntries(rows.map((row) => row.trim().split(/ {2,}/)));
    expect(shown).toMatchObject({
      amount: "GBP 10.00",
      id,
      status: "active",
      customer: "Ada Lovelace",
      description: "–",
      "order number": "A-1",
      terminal: "1234567890",
      created: expect.stringMatching(/^2026-(?:01-31|02-01) /),
      expires: expect.stringMatching(/\(in \d+ days\)$/),
      viewed: "–",
      attempted: "–",
      paid: "–",
      cancelled: "–",
    });
    expect(rows.at(-2)).toMatch(SERVICE);
    expect(rows.at(-1)).toMatch(/^Order A-1: Not paid; /);
  });

  it("says how its order stands, by all links of the number and what arrived of it", async () => {
    const { links, create } = await account();
    const [id, other] = [await create(), await create()];
    expect((await links(["show", id])).stdout).toContain(
      `Order A-1: Not paid; 2 links can still be paid: GBP 10.00: ${id}; GBP 10.00: ${other}\n`,
    );
    await links(["cancel", other, "--yes"]);
    const db = join(temporaryHome(), "events.db");
    const store = openSqlite(db);
    const record = { reference: "A-1", amountTrans: 10, transCurrencyCode: "GBP" };
    await store.append(event(idOf("one"), record));
    await store.close();
    const shown = await links(["show", id, "--db", db]);
    expect(shown.stdout).toContain(
      `Order A-1: Paid once, GBP 10.00; a second link can still be paid, GBP 10.00: ${id}\n`,
    );
    const [json, quiet] = [await links(["show", id, "--json"]), await links(["show", id, "-q"])];
    expect(json.stdout + json.stderr + quiet.stdout + quiet.stderr).not.toContain("Order A-1:");
    expect((await links(["show", id, "--db", db, "-q"])).exit).toBe(2);
  });

  it("shows the link alone where its order cannot be told", async () => {
    const { links, create } = await account();
    const id = await create();
    const { exit, stdout, stderr } = await links(["show", id, "--db", join(temporaryHome(), "missing.db")]);
    expect([exit, stdout.includes(urlOf(id)), stdout.includes("Order A-1")]).toEqual([0, true, false]);
    expect(stderr).toContain("It is not known how its order stands: There is no event store at ");
    const body = JSON.stringify({ ...NEW, invoiceId: "" });
    const nameless = await runCommand(["links", "show", "new"], answering(200, body));
    expect(nameless.stdout + nameless.stderr).not.toMatch(/Order|its order stands/);
  });

  it("shows fields that the specification lacks", async () => {
    const body = JSON.stringify({ ...NEW, linkOptions: { mode: "REUSABLE" }, risk: ["low"] });
    const { stdout } = await runCommand(["links", "show", "new"], answering(200, body));
    expect(stdout).toMatch(/^ {2}mode +REUSABLE$/m);
    expect(stdout).toMatch(/^ {2}risk +\["low"\]$/m);
  });

  it.each([
    ["", ""],
    ["..", "dots alone"],
    ["pay.example/?r=L1", "with https://"],
    ["a\tb", "control character"],
    ["https://shop.example/", "as parameter r"],
    ["https://shop.example/?r=../x", "dots alone"],
  ])("refuses %j, which is not a link, and says why", async (text, reason) => {
    const run = await runCommand(["links", "show", text], { env: ACCOUNT, send: never });
    expect(run.exit).toBe(2);
    expect(run.stderr).toContain("<link>");
    expect(run.stderr).toContain(reason);
  });

  it.each(["a/b", "a b", "50%?#x", "é"])("asks for the id %j as it is", async (id) => {
    const targets: string[] = [];
    const send = async ({ target }: HttpRequest) => {
      targets.push(target);
      return { status: 200, headers: [], body: Buffer.from(JSON.stringify({ ...NEW, id })) };
    };
    for (const text of [id, `https://pay.example/?r=${encodeURIComponent(id)}`])
      expect((await runCommand(["links", "show", text], { env: ACCOUNT, send })).exit).toBe(0);
    expect(new Set(targets)).toEqual(new Set([`/v1/payment-links/${encodeURIComponent(id)}`]));
  });
});

describe("paylink links update", () => {
  it("changes the description and the expiry", async () => {
    const { links, create } = await account();
    const id = await create();
    const flags = ["--description", "Order 1", "--expires", "2099-12-31T12:00:00Z"];
    const run = await links(["update", id, ...flags, "--json"]);
    const changed = { id, description: "Order 1", expirationDate: "2099-12-31T12:00:00Z" };
    expect(JSON.parse(run.stdout)).toMatchObject(changed);
    expect(JSON.parse((await links(["show", id, "--json"])).stdout)).toMatchObject(changed);
    const card = await links(["update", urlOf(id), "--description", "Order 2"]);
    expect(card.stdout).toMatch(/^ {2}description +Order 2$/m);
    expect(card.stdout).toMatch(SERVICE);
  });
});

describe("paylink links cancel", () => {
  it("asks on a terminal, naming the service, and keeps the link after a no", async () => {
    const { links, create, service } = await account();
    const id = await create();
    const { ask, asked } = fixedAnswers({ confirm: false });
    const run = await links(["cancel", id], { ask });
    expect(run).toMatchObject({ exit: 0, stdout: "" });
    expect(run.stderr).toContain("Nothing was done.");
    expect(asked).toEqual([expect.stringContaining(`Cancel link ${id}?`)]);
    expect(asked[0]).toMatch(SERVICE);
    expect(service.requests).not.toContain(`POST /v1/payment-links/${id}/cancel`);
  });

  it("asks nothing with --yes, and cancels nothing without it if it cannot prompt", async () => {
    const { links, create } = await account();
    const { ask, asked } = fixedAnswers();
    const [one, two] = [await create(), await create()];
    expect((await links(["cancel", one, "--yes"], { ask })).stdout).toBe(`${one}  cancelled\n`);
    const refused = await links(["cancel", two]);
    expect(refused).toMatchObject({ exit: 2, stdout: "" });
    expect(refused.stderr).toMatch(/Nothing was cancelled[^]*--yes +is required/);
    const run = await links(["cancel", two, "-y"]);
    expect(run).toMatchObject({ exit: 0, stdout: `${two}  cancelled\n` });
    expect(run.stderr).toMatch(SERVICE);
    expect(asked).toEqual([]);
  });

  it("cancels each link once, by ids and URLs", async () => {
    const { links, create, service } = await account();
    const [one, two] = [await create(), await create()];
    const run = await links(["cancel", one, urlOf(two), urlOf(one), "-q", "--yes"]);
    expect(run).toMatchObject({ exit: 0, stdout: `${urlOf(one)}\n${urlOf(two)}\n`, stderr: "" });
    expect(service.requests.filter((request) => request.endsWith("/cancel"))).toHaveLength(2);
  });

  it("names a link with -q by the id that was given, where the reply has no URL", async () => {
    const service = answering(200, '{"id":"L1","status":"cancelled"}');
    const run = await runCommand(["links", "cancel", "L1", "-q", "--yes"], service);
    expect(run).toMatchObject({ exit: 0, stdout: "L1\n" });
  });

  it.each([
    ["cancel", 6],
    ["show", 5],
  ])("%s claims nothing where the answer is about another link", async (command, exit) => {
    for (const other of [
      '{"id":"L2","status":"cancelled"}',
      '{"url":"https://pay.example/?r=L2","status":"cancelled"}',
    ]) {
      const confirm = command === "cancel" ? ["--yes"] : [];
      const run = await runCommand(["links", command, "L1", "-q", ...confirm], answering(200, other));
      expect(run).toMatchObject({ exit, stdout: "" });
      expect(run.stderr).toContain("about link L2, not about L1");
    }
  });

  it("reads the link again after a success whose answer has no link", async () => {
    const { links, service, create } = await account();
    const id = await create();
    const network = openSender();
    /** The service does what it is asked to, and says no more than that. */
    const send: Send = async (request, options) => {
      const reply = await network(request, options);
      return request.method === "GET" || reply.status !== 200 || /token/.test(request.target)
        ? reply
        : { ...reply, headers: [], body: Buffer.from('{"success":true}') };
    };
    const run = await links(["cancel", id, "--yes"], { send });
    expect(run).toMatchObject({ exit: 0, stdout: `${id}  cancelled\n` });
    expect(service.requests.slice(-2)).toEqual([
      `POST /v1/payment-links/${id}/cancel`,
      `GET /v1/payment-links/${id}`,
    ]);
    const still = answering(200, '{"success":true}');
    expect(await runCommand(["links", "cancel", "L1", "--yes"], still)).toMatchObject({
      exit: 6,
      stdout: "",
    });
  });

  it("does not report a paid link as cancelled, whatever its status says", async () => {
    const paid = '{"id":"L1","status":"closed","paidDate":"2026-01-31T12:00:00Z"}';
    const run = await runCommand(["links", "cancel", "L1", "--yes"], answering(200, paid));
    expect(run).toMatchObject({ exit: 6, stdout: "" });
    expect(run.stderr).toContain("the link is paid, not cancelled");
  });

  it("continues after a refusal, and says which links were not cancelled", async () => {
    const { links, create } = await account();
    const [one, two] = [await create(), await create()];
    await links(["cancel", one, "--yes"]);
    const run = await links(["cancel", one, "unknown", two, "--json", "--yes"]);
    expect(run.exit).toBe(4);
    expect(jsonLines(run.stdout)).toMatchObject([{ id: two, status: "cancelled" }]);
    expect(JSON.parse(run.stderr)).toMatchObject({
      error: {
        code: "refused",
        message: "2 of 3 links were not cancelled.",
        details: {
          problems: [
            { at: one, message: expect.stringContaining("The payment link is cancelled") },
            { at: "unknown", message: expect.stringContaining("Invalid payment link ID") },
          ],
        },
      },
    });
  });

  it("stops when an outcome is unknown, and says what was not tried", async () => {
    const service = answering(500);
    const run = await runCommand(["links", "cancel", "L1", "L2", "--yes"], service);
    expect(run.exit).toBe(6);
    expect(service.requests.map(({ line }) => line)).toEqual(["POST /v1/payment-links/L1/cancel"]);
    expect(run.stderr).toContain("2 of 2 links may not have been cancelled.");
    expect(run.stderr).toMatch(/L2 +was not tried/);
    expect(run.stderr).toContain("paylink links show L1");
  });
});
