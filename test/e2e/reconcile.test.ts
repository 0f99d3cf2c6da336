/** A merchant who loses payments in different ways, at the sandbox and at the documented service, and asks which and why. */
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { startListenCommand, startListenWith, startSandboxCommand } from "../support/background-command.ts";
import { CLIENT, startDocumentedService } from "../support/documented-service.ts";
import { runStep } from "../support/context.ts";
import { temporaryHome } from "../support/home.ts";
import { jsonLines } from "../support/json-lines.ts";
import { OTHER_KEYS } from "../support/keys.ts";
import { freePort, listenOnFreePort } from "../support/ports.ts";
import { usePostgres } from "../support/postgres.ts";
import { readmeBlock } from "../support/readme.ts";

/** An application that accepts every webhook but those of orders with this word in their number. */
async function startShop(refused: string): Promise<string> {
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      response.statusCode = Buffer.concat(parts).includes(refused) ? 500 : 200;
      response.end();
    });
  });
  return String(await listenOnFreePort(server));
}

/** The flags of a receiver that forwards to the shop, and tries once. */
const forwardingTo = (shop: string): string[] => `--ack stored --forward-to ${shop} --retry none`.split(" ");

const BOOKS = `Order number;Total;Currency
A-GOOD;10.00;EUR
A-SILENT;10;EUR
A-DEAD;10;EUR
A-FAILS;10;EUR
A-AMOUNT;1;EUR
A-NOBODY;10;EUR
`;

it("names each payment that was lost at the sandbox, with its reason and a next step that works", async () => {
  const home = temporaryHome();
  await startSandboxCommand(home);
  const run = (...words: string[]) => runStep(words, { home });
  const listening = await startListenCommand(home, ...forwardingTo(await startShop("FAILS")));
  const callback = listening.url;
  const pay = async (number: string, ...flags: string[]): Promise<void> => {
    const create = ["create", "--amount", "10", "--currency", "EUR", "--invoice-id", number, "-q"];
    const { stdout } = await run(...create, ...flags);
    expect((await run("pay", stdout.trim())).code).toBe(0);
  };
  await run("config", "unset", "callbackUrl");
  await pay("A-SILENT");
  await pay("A-DEAD", "--callback-url", `http://127.0.0.1:${await freePort()}/`);
  for (const number of ["A-GOOD", "A-FAILS", "A-AMOUNT", "A-UNBOOKED"])
    await pay(number, "--callback-url", callback);
  await listening.until(/(?:"type":"forward"[^]*){4}/);
  const books = join(home, "books.csv");
  writeFileSync(books, BOOKS);

  const found = await run("reconcile", "--books", books, "--json");
  expect(found.code).toBe(10);
  expect(JSON.parse(found.stderr)).toMatchObject({ error: { code: "records_differ" } });
  const lines = jsonLines(found.stdout);
  expect(
    lines
      .slice(0, -1)
      .map(({ finding, invoiceId }) => `${String(finding)} ${String(invoiceId)}`)
      .toSorted(),
  ).toEqual([
    "booked only A-NOBODY",
    "differs A-AMOUNT",
    "missed A-DEAD",
    "missed A-SILENT",
    "not booked A-UNBOOKED",
    "undelivered A-FAILS",
  ]);
  expect(lines.at(-1)).toMatchObject({
    type: "summary",
    paid: { count: 6, sums: [{ currency: "EUR", amount: 60 }] },
    agree: { count: 1 },
    findings: { missed: { count: 2, sums: [{ currency: "EUR", amount: 20 }] }, undelivered: { count: 1 } },
  });
  for (const { next } of lines.slice(0, -1)) {
    const [, words = ""] = /^paylink ([\w -]+)$/.exec(String(next)) ?? [];
    // One of them asks for an order that nobody knows, which is the answer.
    expect([next, (await run(...words.split(" "))).code]).toEqual([next, expect.toBeOneOf([0, 4, 10])]);
  }

  const shown = await run("reconcile", "--books", books);
  expect(shown.stdout).toMatch(
    /^6 paid links, EUR 60\.00: 1 agrees; 2 missed, EUR 20\.00; 1 undelivered, EUR 10\.00; 1 differs, EUR 10\.00; 1 not booked, EUR 10\.00; 1 booked only, EUR 10\.00\n/,
  );
  expect(shown.stdout).toMatch(
    /The service says A-SILENT was paid, EUR 10\.00 at \S+ \S+ \S+; no webhook for it arrived here/,
  );
  const quiet = await run("reconcile", "-q");
  expect(quiet.stdout.trim().split("\n").toSorted()).toEqual(["A-DEAD", "A-FAILS", "A-SILENT"]);
});

it("shows all that happened to an order, with one verdict", async () => {
  const home = temporaryHome();
  await startSandboxCommand(home, "--duplicate-invoices", "accept");
  const run = (...words: string[]) => runStep(words, { home });
  const listening = await startListenCommand(home, ...forwardingTo(await startShop("FAILS")));
  const callback = listening.url;
  const create = ["create", "--amount", "10", "--currency", "EUR", "--callback-url", callback, "-q"];
  const link = (await run(...create, "--invoice-id", "A-1")).stdout.trim();
  expect(await run("reconcile", "A-1")).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("Not paid; its link can still be paid, EUR 10.00: "),
  });
  await run("pay", link, "--outcome", "partially-approved");
  await listening.until(/(?:"type":"forward"[^]*){1}/);
  expect((await run("reconcile", "A-1")).stdout).toContain(
    "Paid in part, EUR 5.00; EUR 5.00 is missing; its link can still be paid",
  );
  await run("pay", link);
  await listening.until(/(?:"type":"forward"[^]*){2}/);
  const told = await run("reconcile", "A-1", "--json");
  expect(told.code).toBe(0);
  const lines = jsonLines(told.stdout);
  expect(lines.map(({ what, type }) => what ?? type)).toEqual([
    "link created",
    "link viewed",
    "webhook arrived",
    "forwarded",
    "payment attempted",
    "link paid",
    "webhook arrived",
    "forwarded",
    "verdict",
  ]);
  expect(lines.at(-1)).toMatchObject({
    agrees: true,
    verdict: expect.stringMatching(
      /^Paid in 2 parts, EUR 10\.00; your application accepted it at 20\S+ \d\d:\d\d:\d\d [+-]\d\d:\d\d\.$/,
    ),
  });
  // A second link that is open is found before it is paid.
  const second = (await run(...create, "--invoice-id", "A-1")).stdout.trim();
  const [id] = second.match(/[^=/]+$/) ?? [];
  expect(await run("reconcile", "A-1")).toMatchObject({
    code: 10,
    stdout: expect.stringContaining(`; a second link can still be paid, EUR 10.00: ${id};`),
  });
  const findings = jsonLines((await run("reconcile", "--json")).stdout);
  expect(findings).toContainEqual(
    expect.objectContaining({
      finding: "payable",
      invoiceId: "A-1",
      link: id,
      next: `paylink links cancel ${id}`,
    }),
  );
  expect((await run("links", "cancel", String(id), "--yes")).code).toBe(0);
  expect((await run("reconcile", "A-1")).code).toBe(0);
  // The link's own address names it too.
  expect((await run("reconcile", link)).code).toBe(0);
  expect((await run("reconcile", "--books", "-")).code).toBe(2);
  expect(await run("reconcile", "A-2")).toMatchObject({ code: 4, stderr: expect.stringContaining("A-2") });
});

/** `db` is the event store; undefined for the profile's own. */
async function loseAtDocumentedService(db?: string): Promise<void> {
  const home = temporaryHome();
  const env = db === undefined ? {} : { PAYLINK_DB: db };
  const service = await startDocumentedService({ largestPage: 2 });
  const run = (...words: string[]) => runStep(words, { home, env });
  const login = ["login", ...service.login, "--webhook-key", service.keyFile];
  expect((await runStep(login, { home, input: CLIENT.secret })).code).toBe(0);
  const listening = await startListenWith({ home, env });
  const callback = listening.url;
  const create = async (number: string, ...flags: string[]): Promise<string> => {
    const { stdout } = await run(
      "create",
      "--amount",
      "10",
      "--currency",
      "GBP",
      "--invoice-id",
      number,
      "--json",
      ...flags,
    );
    return (JSON.parse(stdout) as { readonly id: string }).id;
  };
  const heard = (number: string): Promise<string> => create(number, "--callback-url", callback);
  await service.pay(await create("A-SILENT"), "approved");
  await service.pay(await heard("A-GOOD"), "approved");
  await service.pay(await heard("A-FORGED"), "approved", { key: OTHER_KEYS.privateKey });
  await service.pay(await heard("A-CHANGED"), "approved", { amount: 1 });
  const twice = await heard("A-TWICE");
  await service.pay(twice, "approved");
  await service.pay(twice, "approved");
  await service.pay(await heard("A-DECLINED"), "declined");
  const events = jsonLines((await listening.stop()).stdout);
  expect(
    events.filter(({ verdict }) => JSON.stringify(verdict ?? {}).includes("order_paid_before")),
  ).toMatchObject([{ type: "event", reference: "A-TWICE" }]);

  const found = await run("reconcile", "--since", "1h", "--json");
  expect(found.code).toBe(10);
  const lines = jsonLines(found.stdout);
  const [refused] = lines.filter(({ finding }) => finding === "refused");
  expect(
    lines
      .slice(0, -1)
      .map(({ finding, invoiceId }) => `${String(finding)} ${String(invoiceId)}`)
      .toSorted(),
  ).toEqual(["differs A-CHANGED", "missed A-SILENT", "refused A-FORGED", "twice A-TWICE"]);
  expect(refused).toMatchObject({
    detail: expect.stringContaining("signature_invalid. The body of that webhook is not verified."),
    next: expect.stringMatching(/^paylink events accept \w+$/),
  });
  const timelines = await run("reconcile", "A-TWICE", "A-GOOD", "--json");
  expect(timelines.code).toBe(10);
  expect(jsonLines(timelines.stdout).filter(({ type }) => type === "verdict")).toMatchObject([
    {
      invoiceId: "A-TWICE",
      agrees: false,
      verdict: expect.stringMatching(/^Paid twice, GBP 20\.00: GBP 10\.00 too much\. Refund it/),
    },
    { invoiceId: "A-GOOD", agrees: true, verdict: expect.stringMatching(/^Paid once, GBP 10\.00/) },
  ]);
  // The event store of another account has nothing of it, and says so.
  const other = await run("reconcile", "--since", "1h", "--db", join(home, "none.db"));
  expect(other.code).toBe(2);
  expect((await run("reconcile", "-p", "dna-test", "A-FORGED")).code).toBeGreaterThan(0);
}

describe("finds what was lost at the documented service: refused, changed, paid twice, without a callback", () => {
  it("with a file as the event store", () => expect(loseAtDocumentedService()).resolves.toBeUndefined());

  describe("with PostgreSQL", () => {
    const server = usePostgres();
    it("as the event store", async () =>
      expect(loseAtDocumentedService(await server().createDatabase())).resolves.toBeUndefined());
  });
});

/** Pays a link with a callback and, if it is told so, one without. */
const SHOP = `
  const { PAYLINK_BASE_URL, PAYLINK_TOKEN, PAYLINK_TERMINAL_ID, PAYLINK_CALLBACK_URL } = process.env;
  async function pay(invoiceId, paymentSettings) {
    const request = { amount: 10, currency: "EUR", terminalId: PAYLINK_TERMINAL_ID, customerName: "Ada", invoiceId,
      expirationDate: "2099-01-01T00:00:00Z", paymentSettings };
    const reply = await fetch(PAYLINK_BASE_URL + "/v1/payment-links", { method: "POST", body: JSON.stringify(request),
      headers: { Authorization: "Bearer " + PAYLINK_TOKEN, "Content-Type": "application/json" } });
    await fetch((await reply.json()).url, { method: "POST", body: new URLSearchParams({ outcome: "approved" }) });
  }
  (async () => {
    await pay("T-HEARD", { callbackUrl: PAYLINK_CALLBACK_URL });
    if (process.argv[1] === "lose") await pay("T-SILENT");
    process.exitCode = Number(process.argv[2] ?? 0);
  })();`;

it("fails paylink test --reconcile if a payment did not reach the application", async () => {
  const home = temporaryHome();
  const test = (flags: readonly string[], ...args: string[]) =>
    runStep(["test", ...flags, "--", process.execPath, "-e", SHOP, ...args], { home });
  const lost = await test(["--reconcile"], "lose");
  expect(lost.code).toBe(10);
  expect(lost.stderr).toContain("1 payment did not reach your application: T-SILENT (EUR 10.00).");
  expect((await test(["--reconcile", "--json"], "lose")).stdout).toMatch(/"exit":0,.*"lost":1\}/);
  expect((await test([], "lose")).code).toBe(0);
  expect((await test(["--reconcile"])).code).toBe(0);
  // The command's own failure comes first.
  expect((await test(["--reconcile"], "lose", "3")).code).toBe(3);
  const refusing = ["--reconcile", "--forward-to", await startShop("T-HEARD")];
  expect(await test(refusing)).toMatchObject({ code: 10, stderr: expect.stringContaining("T-HEARD") });
});

it("prints what the README shows", async () => {
  const home = temporaryHome();
  await startSandboxCommand(home);
  const run = (...words: string[]) => runStep(words, { home });
  const listening = await startListenCommand(home);
  const callback = listening.url;
  await run("config", "unset", "callbackUrl");
  for (const flags of [["A-1", "--callback-url", callback], ["A-2"]]) {
    const create = ["create", "--amount", "10", "--currency", "EUR", "-q", "--invoice-id"];
    await run("pay", (await run(...create, ...flags)).stdout.trim());
  }
  await listening.until(/"type":"event"/);
  const command = "$ paylink reconcile --since 1d\n";
  const [shown = "", printed] = [
    readmeBlock("console", command).slice(command.length),
    (await run("reconcile", "--since", "1d")).stdout,
  ].map((text) =>
    text
      .replace(/\d{4}-\d\d-\d\d [\d:]+ [+-][\d:]+/, "TIME")
      .replace(/(?<=links show )\w+/, "ID")
      .replace(/\s+/g, " "),
  );
  expect(printed).toBe(shown);
});
