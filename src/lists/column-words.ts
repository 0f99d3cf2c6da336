/** The words of lists: what the names of columns mean, and what their cells say of a payment, in the languages of the programs that write them. */
import { isKnownCurrency } from "../domain/money.ts";

/** What a column says of a row's money, besides what a request asks for: these can be named with `--map`. */
export const MONEY_ROLES = ["paid", "due", "state", "in", "out", "sign"] as const;

/** `beside`: it is known, and never what a customer has paid. `running`: what is due, or the balance of an account. `text`: an order number may be in it. */
export type ColumnRole =
  | (typeof MONEY_ROLES)[number]
  | "paidOn"
  | "voidOn"
  | "kind"
  | "beside"
  | "running"
  | "item"
  | "text";

export const isMoneyRole = (word: string): word is (typeof MONEY_ROLES)[number] =>
  MONEY_ROLES.some((role) => role === word);

/** Besides the label of a field and the last part of its path. */
export const FIELD_WORDS: Readonly<Record<string, string>> = {
  invoiceId:
    "invoice, invoice no, invoice number, invoice id, order, order no, order id, order number, order reference, doc number, document number, " +
    "rechnung, rechnungsnummer, rechnungsnr, rechnung nr, bestellnummer, auftragsnummer, belegnummer, beleg nr, belegfeld 1, " +
    "facture, numéro de facture, n° facture, factura, número de factura, fattura, numero fattura, fatura, faktura, numer faktury, fakturanummer, factuur, factuurnummer",
  amount:
    "price, total, sum, total amount, total price, grand total, gross, gross amount, total incl vat, invoice total, invoice amount, order total, order total amount, " +
    "betrag, gesamtbetrag, rechnungsbetrag, summe, gesamt, brutto, bruttobetrag, betrag brutto, rechnungsbetrag brutto, umsatz, preis, " +
    "montant, montant ttc, total ttc, prix, importe, importe total, importo, totale, prezzo, precio, valor, preço, bedrag, totaal, kwota, kwota brutto, belopp, beløb, beløp, сумма, 金額",
  currency:
    "ccy, cur, curr, currency code, transaction currency, währung, wkz umsatz, devise, moneda, moeda, valuta, waluta, валюта, 通貨",
  customerName:
    "name, full name, client, client name, payer, company, contact name, customer full name, invoice partner display name, kunde, kundenname, cliente, klant, nom, nombre",
  expirationDate: "expiry, expiry date, due date, valid until",
  description: "note, text",
  "customerDetails.email": "mail, e-mail address",
  "customerDetails.billingAddress.address1": "street",
  "customerDetails.billingAddress.city": "town",
  "customerDetails.billingAddress.postalcode": "zip, zip code",
};

/** An order number where no column says so more clearly. */
export const WEAK_ORDER_NUMBERS = "reference, ref, référence, referencia";

export const ROLE_WORDS: Readonly<Record<ColumnRole, string>> = {
  due:
    "amount due, due amount, balance due, balance owing, open balance, open amount, outstanding, outstanding amount, outstanding balance, amount outstanding, " +
    "invoice amount due, amount due signed, amount residual, residual, remaining, remaining amount, remaining balance, unpaid, unpaid amount, " +
    "offen, offener betrag, betrag offen, offener saldo, saldo offen, noch offen, offener rest, restbetrag, " +
    "reste à payer, solde dû, montant dû, restant dû, pendiente, importe pendiente, saldo pendiente, importe adeudado, da pagare, importo dovuto, residuo, saldo aperto, " +
    "em aberto, valor em aberto, openstaand, openstaand bedrag, openstaand saldo, te betalen, do zapłaty, pozostało do zapłaty, " +
    "kvar att betala, restbelopp, restbeløb, udestående, utestående, остаток, к оплате, 未払",
  paid:
    "paid, is paid, amount paid, paid amount, invoice amount paid, total paid, paid in full, payments received, payment received, amount received, " +
    "bezahlt, bezahlter betrag, betrag bezahlt, gezahlt, gezahlter betrag, beglichen, " +
    "payé, montant payé, réglé, montant réglé, pagado, importe pagado, pagato, importo pagato, pago, valor pago, betaald, betaald bedrag, " +
    "zapłacono, kwota zapłacona, betald, betalt, betalt beløp, betalt beløb, оплачено, 支払済",
  paidOn:
    "paid at, paid on, paid date, date paid, payment date, fully paid on date, bezahlt am, zahlungsdatum, payé le, pagado el, pagato il, betaald op",
  voidOn:
    "cancelled at, cancelled on, cancelled, is cancelled, cancelled date, canceled at, canceled on, canceled, is canceled, canceled date, cancellation date, date cancelled, " +
    "voided, voided at, voided on, is void, void date, refunded at, refunded on, refund date, deleted at, " +
    "storniert, storniert am, stornodatum, erstattet am, annulé le, remboursé le, anulado el, annullato il, geannuleerd op, anulowano",
  state:
    "status, state, payment status, payment state, invoice status, order status, financial status, paid status, transaction status, " +
    "zahlungsstatus, zahlstatus, zahlungsstand, rechnungsstatus, bezahlstatus, bestellstatus, statut, état, statut du paiement, statut de paiement, " +
    "estado, estado del pago, estado de pago, stato, stato pagamento, situação, betaalstatus, betalingsstatus, betalningsstatus, status płatności, статус, 状態",
  in:
    "credit, credit amount, money in, paid in, deposit, deposits, haben, habenbetrag, eingang, zahlungseingang, einnahme, einnahmen, gutschrift, gutschriften, " +
    "crédit, encaissement, abono, haber, ingreso, avere, accredito, entrata, entrate, crédito, wpływy, uznania, insättning",
  out:
    "debit, debit amount, money out, paid out, withdrawal, withdrawals, refund, refunds, refund amount, refunded amount, amount refunded, refunded, order refund amount, " +
    "soll, sollbetrag, ausgang, ausgabe, ausgaben, belastung, lastschrift, erstattet, erstattung, erstatteter betrag, " +
    "débit, décaissement, remboursé, montant remboursé, cargo, debe, retiro, reembolsado, dare, addebito, uscita, uscite, rimborsato, débito, terugbetaald, obciążenia, wydatki, uttag",
  sign:
    "soll haben, soll haben kennzeichen, soll haben kz, s h, sh, s h kennzeichen, debit credit, credit debit, debit or credit, credit or debit, debit credit indicator, credit debit indicator, " +
    "dr cr, cr dr, d c, dc, af bij, débit crédit, debe haber, dare avere",
  kind: "type, kind, transaction type, txn type, document type, doc type, invoice type, dokumenttyp, rechnungsart, typ, art, buchungsart, buchungstext, umsatzart, vorgang, belegart, type de transaction, tipo, soort, typ operacji",
  beside:
    "fee, fees, transaction fee, processing fee, gebühr, gebühren, fremde gebühren, entgelt, frais, comisión, commissione, kosten, provision, opłata, avgift, комиссия, " +
    "net, net amount, netto, nettobetrag, betrag netto, subtotal, sub total, untaxed amount, amount untaxed, tax excluded, untaxed total, total excl vat, order total amount refund, zwischensumme, " +
    "montant ht, total ht, base imponible, imponibile, kwota netto, tax, tax amount, tax total, vat, vat amount, mwst, ust, steuer",
  running: "balance, saldo, solde, kontostand, current balance, account balance",
  item: "line amount, unit amount, unit price, line total, lineitem price, item price, einzelpreis, prix unitaire, precio unitario, prezzo unitario, eenheidsprijs",
  text: "verwendungszweck, purpose, payment reference, payment details, remittance information, memo, narrative, details, description, memo description, libellé, communication, concepto, causale, omschrijving, mededelingen, tytuł, meddelande, customer note, customer reference, kundenreferenz",
};

/** What a cell of a state says: `posted` says nothing of the payment, `unclear` may be either. */
export type PaymentState =
  | "paid"
  | "part"
  | "open"
  | "void"
  | "draft"
  | "refunded"
  | "refundedInPart"
  | "failed"
  | "posted"
  | "unclear";

const STATE_WORDS: Readonly<Record<PaymentState, string>> = {
  paid:
    "paid, fully paid, paid in full, in payment, settled, cleared, completed, complete, succeeded, success, successful, captured, received, payment received, " +
    "bezahlt, vollständig bezahlt, beglichen, ausgeglichen, erledigt, eingegangen, gezahlt, payé, payée, réglé, réglée, acquitté, soldé, encaissé, pagado, pagada, cobrado, cobrada, " +
    "pagato, pagata, saldato, saldata, pago, paga, liquidado, betaald, voldaan, zapłacono, zapłacona, zapłacone, opłacona, opłacone, betald, betalt, оплачено, оплачен, 支払済, 入金済",
  part:
    "part paid, partpaid, partly paid, partially paid, partial, paid in part, partial payment, " +
    "teilbezahlt, teilweise bezahlt, teilzahlung, partiellement payé, partiellement payée, partiellement réglée, parcialmente pagado, parcialmente pagada, " +
    "parzialmente pagato, parzialmente pagata, parcialmente pago, deels betaald, gedeeltelijk betaald, częściowo zapłacona, częściowo opłacona, delvis betald, delvist betalt, частично оплачено",
  open:
    "open, unpaid, not paid, outstanding, due, overdue, past due, pending, awaiting payment, awaiting, sent, issued, viewed, active, attempted, authorised, authorized, uncaptured, " +
    "pending payment, requires payment method, requires capture, incomplete, " +
    "offen, unbezahlt, nicht bezahlt, ausstehend, überfällig, fällig, gemahnt, versendet, verschickt, impayé, impayée, en attente, en retard, à payer, échue, pendiente, impagado, impagada, vencido, vencida, no pagado, no pagada, " +
    "da pagare, non pagato, non pagata, scaduto, scaduta, in attesa, pendente, em aberto, vencida, onbetaald, niet betaald, openstaand, vervallen, nieopłacona, nieopłacone, niezapłacona, oczekuje, przeterminowana, obetald, ikke betalt, ubetalt, forfallen, förfallen, не оплачено, 未払",
  void:
    "void, voided, cancelled, canceled, deleted, written off, uncollectible, bad debt, " +
    "storniert, storno, abgebrochen, gelöscht, ausgebucht, uneinbringlich, annulé, annulée, anulado, anulada, cancelado, cancelada, annullato, annullata, geannuleerd, anulowana, anulowane, makulerad, kreditert, krediteret, отменено, キャンセル",
  draft:
    "draft, entwurf, brouillon, borrador, bozza, rascunho, concept, szkic, utkast, kladde, черновик, 下書き",
  refunded:
    "refund, refunded, fully refunded, payment refund, chargeback, charge back, charged back, reversal, reversed, payment reversal, credit note, credit memo, sales credit note, sales credit memo, customer refund, refund receipt, " +
    "rechnungskorrektur, stornorechnung, note de crédit, nota de crédito, nota di credito, creditnota, kreditnota, kreditfaktura, " +
    "erstattet, rückerstattet, erstattung, rückerstattung, rücklastschrift, remboursé, remboursée, remboursement, avoir, reembolsado, reembolsada, reembolso, " +
    "rimborsato, rimborsata, rimborso, stornato, stornata, terugbetaald, terugbetaling, zwrócono, zwrócona, zwrot, återbetald, återbetalning, refunderet, refundert, возврат",
  refundedInPart:
    "partially refunded, partial refund, partly refunded, teilweise erstattet, partiellement remboursé",
  failed:
    "failed, failure, declined, denied, rejected, error, unsuccessful, expired, blocked, " +
    "fehlgeschlagen, abgelehnt, fehler, abgelaufen, échoué, échec, refusé, fallido, fallida, rechazado, rechazada, expirado, fallito, rifiutato, falhou, recusado, mislukt, geweigerd, odrzucona, nieudana, misslyckad, avvist, отклонено",
  posted:
    "posted, gebucht, verbucht, exported, exportiert, finalized, festgeschrieben, comptabilisée, registrada, registrata, geboekt, zaksięgowana, bokförd",
  unclear:
    "processing, on hold, in process, in progress, in bearbeitung, disputed, under review, approved, submitted, closed, abgeschlossen",
};

const wordsOf = (words: string): string[] => words.split(/, +/);

/** The spellings of each word, by what it means. */
export const meaningsBySpelling = <Meaning>(
  tables: Iterable<readonly [Meaning, string]>,
): Map<string, Meaning> => {
  const found = new Map<string, Meaning>();
  for (const [meaning, words] of tables)
    for (const word of wordsOf(words))
      for (const spelling of [spellingOf(word), spellingOf(withoutUmlauts(word))])
        if (!found.has(spelling)) found.set(spelling, meaning);
  return found;
};

/** As it is written where a program knows no umlauts. */
const withoutUmlauts = (word: string): string =>
  word.replace(/[äöüß]/g, (letter) => ({ ä: "ae", ö: "oe", ü: "ue" })[letter] ?? "ss");

/** The letters and digits of a text, without accents. */
export const spellingOf = (text: string): string => wordsIn(text).join("");

const wordsIn = (text: string): string[] =>
  text
    .normalize("NFKD")
    .toLowerCase()
    .replace(/\p{M}/gu, "")
    .split(/[^\p{L}\d]+/u)
    .filter((word) => word !== "");

/** The name of a column without what is in brackets, and without the code of a currency behind the first word. */
export const bareSpellingOf = (name: string): string =>
  wordsIn(name.replace(/(?<=\S\s*)(?:\([^()]*\)|\[[^[\]]*\])/gu, " "))
    .filter((word, at) => at === 0 || !isKnownCurrency(word))
    .join("");

let states: ReadonlyMap<string, PaymentState> | undefined;

/** What a cell of a state says without a doubt, whatever follows: the customer is still to pay. */
const STILL_TO_PAY: ReadonlySet<PaymentState> = new Set(["open", "failed", "posted"]);

/** What a cell says of the payment; undefined for an unknown word. `Paid (cash)` and `Refunded on 3 May` are unclear. */
export function stateIn(cell: string): PaymentState | undefined {
  states ??= meaningsBySpelling(Object.entries(STATE_WORDS) as [PaymentState, string][]);
  const known = states.get(spellingOf(cell));
  if (known !== undefined) return known;
  const first = states.get(wordsIn(cell)[0] ?? "");
  return first === undefined || STILL_TO_PAY.has(first) ? undefined : "unclear";
}
