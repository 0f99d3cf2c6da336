/** What a row says of its payment, whatever the name of the column and the form of its cells. */
import { describe, expect, it } from "vitest";
import { claimOf } from "../../src/bulk/settled-rows.ts";
import { readList } from "../../src/lists/read-list.ts";
import { ListMoney } from "../../src/lists/row-money.ts";

async function saidBy(name: string, cell: string): Promise<string | undefined> {
  const text = `invoiceId,customerName,amount,"${name}"\nA-1,Ada,100.00,"${cell}"\nA-2,Bob,50.00,\n`;
  const { columns, rows } = await readList(new TextEncoder().encode(text));
  const money = new ListMoney(columns, rows, { decimalComma: false });
  return rows.map((row) => claimOf(money.of(row))).find((claim) => claim !== undefined)?.says;
}

describe("a row is believed to be", () => {
  it.each([
    [
      "paid",
      "100.00",
      "Paid,Payments/Credits,Total Received,Amount Paid to Date,InvoiceAmountPaid,Summe bezahlt,Geleistete Zahlungen,Total payé,Importe cobrado,Kwota opłacona,Zahlungseingang,Encaissé",
    ],
    [
      "paid in part",
      "40.00",
      "Paid,Less payments,Bereits bezahlt,Montant encaissé,Deposit paid,Reeds betaald bedrag",
    ],
    [
      "that nothing is due",
      "0.00",
      "Total due,Amount Remaining,Still owing,Balance outstanding,Offene Summe,Noch offener Betrag,Reste dû,Restante,Importe pendiente,Nog openstaand,Da saldare,Invoice balance",
    ],
    [
      "paid",
      "01.11.2026",
      "Settled on,Received on,Zahlungseingang,Zahldatum,Date de paiement,Fecha de cobro,Betaald op",
    ],
    ["paid", "✓", "Paid?,Settled,Ausgeglichen,Zahlung erhalten,Pagada"],
    ["paid", "WAHR", "Bezahlt,Erledigt"],
    ["void", "yes", "Void,Storno,Annulé,Anulada,Refunded,Is deleted"],
    ["paid", "Bezahlt", "Status Zahlung,Invoice State,Lifecycle,OP-Kennung"],
    ["refunded", "Gecrediteerd", "Factuurstatus,Phase"],
  ])("%s by %s in %s", async (says, cell, names) => {
    const found = await Promise.all(names.split(",").map(async (name) => [name, await saidBy(name, cell)]));
    expect(found).toEqual(names.split(",").map((name) => [name, says]));
  });

  it.each([
    ["FALSCH", "Bezahlt"],
    ["☐", "Paid?"],
    ["offen", "Bezahlt,Lifecycle"],
    ["not yet", "Paid"],
    ["100.00", "Total due,Offene Summe,Tax paid,Fees paid,Opening balance"],
    ["2026-12-30", "Due on,Payment due,Payment due date,Status date"],
    ["Ada", "Payee,Received by"],
    ["Complete set", "Article"],
  ])("one to send by %s in %s", async (cell, names) => {
    for (const name of names.split(",")) expect([name, await saidBy(name, cell)]).toEqual([name, undefined]);
  });
});
