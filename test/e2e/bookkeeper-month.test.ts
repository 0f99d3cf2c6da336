/** A bookkeeper's month with the real binary and the sandbox: invoices, payments, corrections, a colleague, and two kinds of books. */
import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { runStep } from "../support/context.ts";
import { temporaryHome } from "../support/home.ts";
import { jsonLines } from "../support/json-lines.ts";
import { startSandbox } from "../support/paylink.ts";

interface Invoice {
  readonly number: string;
  readonly amount: string;
  readonly state: string;
}

const invoice = (place: number, more: Partial<Invoice> = {}): Invoice => ({
  number: `RE-2026-${String(place).padStart(4, "0")}`,
  amount: `${place},50`,
  state: "Offen",
  ...more,
});

/** As an accounting program exports its invoices: below a title, with a state and what is due. */
const exported = (invoices: readonly Invoice[]): string =>
  [
    "Rechnungen;November 2026;;;;",
    "",
    "Rechnungsnummer;Kunde;Rechnungsbetrag;Währung;Offener Betrag;Status",
    ...invoices.map(
      ({ number, amount, state }) =>
        `${number};Kunde ${number.slice(-2)};${amount};EUR;${state === "Bezahlt" ? "0,00" : amount};${state}`,
    ),
    "",
  ].join("\r\n");

const PLACES = Array.from({ length: 60 }, (_, at) => at + 1);
const PAID = PLACES.slice(0, 14);

it("needs no flags but those that the program has advised once, through a bookkeeper's month", async () => {
  const home = temporaryHome();
  await startSandbox(home);
  const list = join(home, "november.csv");
  const run = (args: readonly string[], at = home) => runStep(args, { home: at });
  const flags = ["--decimal-comma", "--header-line", "3"];
  const send = (invoices: readonly Invoice[], ...more: readonly string[]) => {
    writeFileSync(list, exported(invoices));
    return run(["bulk", list, ...flags, ...more]);
  };
  const links = async () => jsonLines((await run(["links", "list", "--json"])).stdout);
  const idOf = async (number: string): Promise<string> =>
    String(
      (await links()).find(({ invoiceId, status }) => invoiceId === number && status === "active")?.["id"],
    );

  // One round names everything that the program has to be told.
  writeFileSync(list, exported(PLACES.slice(0, 40).map((place) => invoice(place))));
  const { code, stderr } = await run(["bulk", list]);
  const advised = [
    "--header-line 3",
    "--decimal-comma",
    "Rechnungsnummer=invoiceId",
    "Kunde=customerName",
    "Rechnungsbetrag=amount",
    "=currency",
  ];
  for (const words of advised) expect(stderr).toContain(words);
  expect(code).toBe(2);
  await run([
    "config",
    "set",
    "columns",
    "Rechnungsnummer=invoiceId,Kunde=customerName,Rechnungsbetrag=amount,Währung=currency",
  ]);

  expect((await send(PLACES.slice(0, 40).map((place) => invoice(place)))).stdout).toContain(
    "40 rows: 40 created",
  );
  expect((await send(PLACES.map((place) => invoice(place)))).stdout).toContain(
    "60 rows: 20 created, 40 sent before",
  );

  const made = await links();
  const paid = PAID.map(
    (place) => made.find(({ invoiceId }) => invoiceId === invoice(place).number)?.["url"],
  );
  const codes = await Promise.all(paid.map(async (url) => (await run(["pay", String(url)])).code));
  expect(codes).toEqual(PAID.map(() => 0));

  // Two prices were wrong, and a customer has cancelled.
  const corrected = PLACES.map((place) =>
    invoice(place, place === 20 || place === 21 ? { amount: `1.0${place},00` } : {}),
  );
  const stopped = await send(corrected);
  expect(stopped).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("2 rows were sent before with another amount"),
  });
  expect((await send(corrected, "--again", "changed", "--yes")).stdout).toContain("2 created");
  expect((await run(["links", "cancel", await idOf(invoice(30).number), "--yes"])).code).toBe(0);

  // A colleague has the account and the list, and sends nothing twice.
  const colleague = temporaryHome();
  mkdirSync(colleague, { recursive: true });
  copyFileSync(join(home, "settings.json"), join(colleague, "settings.json"));
  copyFileSync(list, join(colleague, "november.csv"));
  const again = await run(["bulk", join(colleague, "november.csv"), ...flags], colleague);
  expect({ code: again.code, stdout: again.stdout }).toMatchObject({
    stdout: expect.stringContaining("60 rows: 60 sent before"),
  });

  // At the end of the month, the program says which invoices are paid: they are no list to send.
  const end = corrected.map((one, at) => (at < PAID.length ? { ...one, state: "Bezahlt" } : one));
  const ended = await send(end);
  expect(ended).toMatchObject({ code: 2, stderr: expect.stringContaining("--only Status=Offen") });
  expect((await send(end, "--only", "Status=Offen")).stdout).toContain("46 sent before");
  expect(await links()).toHaveLength(62);

  const compare = async (books: string, ...more: readonly string[]) => {
    const path = join(home, "books.csv");
    writeFileSync(path, books);
    const { stdout } = await run(["reconcile", "--json", "--books", path, "--decimal-comma", ...more]);
    const lines = jsonLines(stdout);
    const findings = lines.filter(
      ({ finding }) =>
        finding === "not booked" || finding === "booked only" || finding === "differs" || finding === "twice",
    );
    return { findings, summary: lines.at(-1) };
  };
  expect((await compare(exported(end), "--header-line", "3")).findings).toEqual([]);

  // The bank has the numbers in its texts, a fee without one, and one that a customer has typed without its zeros.
  const bank = [
    "Auftragskonto;Buchungstag;Buchungstext;Verwendungszweck;Beguenstigter/Zahlungspflichtiger;Betrag;Waehrung",
    ...PAID.map((place) => {
      const { number, amount } = invoice(place);
      const text = place === 7 ? "RE 2026 7" : `SVWZ+${number} Kunde ${place}`;
      return `DE00;02.11.26;GUTSCHRIFT;${text};Kunde ${place};${amount};EUR`;
    }),
    "DE00;30.11.26;ENTGELTABSCHLUSS;;;-3,50;EUR",
    "",
  ].join("\n");
  const { findings, summary } = await compare(bank);
  expect(
    findings.map(({ finding, invoiceId }) => `${String(finding)} ${String(invoiceId)}`).toSorted(),
  ).toEqual(["booked only RE 2026 7", "not booked RE-2026-0007"]);
  for (const { detail } of findings) expect(detail).toContain("it may be this order");
  expect(summary).toMatchObject({ unnamed: { count: 1, sums: [{ amount: -3.5, currency: "EUR" }] } });
});
