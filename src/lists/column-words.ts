/** The words of lists: what the names of columns mean, and what their cells say of a payment, in the languages of the programs that write them. */
import { isKnownCurrency } from "../domain/money.ts";

/** What a column says of a row's money, besides what a request asks for: these can be named with `--map`. */
export const MONEY_ROLES = ["paid", "due", "state", "in", "out", "sign"] as const;

/** `account`: DATEV's, of which a line has two. `fee`, `net`, `beside`: it is known, and never what a customer has paid. `running`: what is due, or the balance of an account. `text`: an order number may be in it. */
export type ColumnRole =
  | (typeof MONEY_ROLES)[number]
  | "paidOn"
  | "voidOn"
  | "kind"
  | "account"
  | "fee"
  | "net"
  | "beside"
  | "running"
  | "item"
  | "text";

export const isMoneyRole = (word: string): word is (typeof MONEY_ROLES)[number] =>
  MONEY_ROLES.some((role) => role === word);

/** Besides the label of a field and the last part of its path. */
export const FIELD_WORDS: Readonly<Record<string, string>> = {
  invoiceId:
    "invoice, invoice no, invoice number, invoice id, order, order no, order id, order number, order reference, doc number, document number, merchant reference, " +
    "rechnung, rechnungsnummer, rechnungsnr, rechnung nr, rechnung no, bestellnummer, auftragsnummer, belegnummer, beleg nr, belegfeld 1, " +
    "facture, numéro de facture, n° facture, identifiant de facture, factura, número de factura, fattura, numero fattura, fatura, faktura, numer faktury, fakturanummer, fakturanr, factuur, factuurnummer",
  amount:
    "price, total, sum, value, payment amount, credit debit amount, total amount, total price, grand total, gross, gross amount, total incl vat, invoice total, invoice amount, order total, order total amount, " +
    "betrag, betrag inkl mwst, betrag transaktion, transaktionsbetrag, zahlungsbetrag, gesamtbetrag, rechnungsbetrag, summe, gesamt, brutto, bruttobetrag, betrag brutto, rechnungsbetrag brutto, umsatz, preis, " +
    "montant, montant ttc, total ttc, brut, montant brut, avant commission, montant de l opération, montant opération en euro, prix, importe, importe total, importo, totale, prezzo, precio, valor, preço, bedrag, transactiebedrag, totaal, kwota, kwota transakcji, kwota brutto, wartość brutto, belopp, beløb, beløp, bruttobeløb, totalt, lordo, totaal incl btw, montant total, montant total ttc, сумма, 金額",
  currency:
    "ccy, cur, curr, currency code, order currency, order currency code, invoice currency, transaction currency, payment currency, gross currency, währung, rechnungswährung, zahlungswährung, wkz umsatz, devise, moneda, moeda, divisa, munt, muntsoort, valuta, waluta, валюта, 通貨",
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
export const WEAK_ORDER_NUMBERS =
  "reference, ref, référence, referencia, referens, num, number, nummer, numéro, número, numero, numer";

export const ROLE_WORDS: Readonly<Record<ColumnRole, string>> = {
  due:
    "amount due, due amount, balance due, balance owing, open balance, open amount, outstanding, outstanding amount, outstanding balance, amount outstanding, " +
    "invoice amount due, amount due signed, amount residual, remaining amount, remaining balance, unpaid, unpaid amount, " +
    "reste à payer, reste à régler, reste dû, solde dû, montant dû, left to pay, zu zahlen, noch zu zahlen, nog te betalen, da saldare, da incassare, pozostało, importe adeudado, da pagare, importo dovuto, saldo aperto, " +
    "fälliger betrag, op saldo, em aberto, valor em aberto, em dívida, valor em dívida, por cobrar, non incassato, te betalen, verschuldigd bedrag, do zapłaty, pozostało do zapłaty, " +
    "kvar att betala, obetalt, restsaldo, udestående, utestående, restbeløp, avoinna, zbývá uhradit, k úhradě, hátralék, rest de plată, остаток, к оплате, 未払",
  paid:
    "paid, is paid, amount paid, paid amount, invoice amount paid, total paid, paid in full, payments received, payment received, amount received, " +
    "zahlungseingang, " +
    "betalt beløp, innbetalt, maksettu, uhrazeno, zaplaceno, fizetve, kifizetve, achitat, 支払済",
  paidOn:
    "zahldatum, zahlungsdatum, ausgleichsdatum, betaaldatum, betalingsdatum, betalningsdatum, betalingsdato, data pagamento, data di pagamento, data incasso, data de pagamento, data zapłaty",
  voidOn: "cancellation date, stornodatum, written off, written off at, written off on, anulowano",
  state:
    "status, state, payment status, payment state, invoice status, order status, financial status, paid status, transaction status, " +
    "zahlungsstatus, zahlstatus, zahlungsstand, rechnungsstatus, bezahlstatus, bestellstatus, " +
    "betaalstatus, betalingsstatus, betalningsstatus, status płatności, stav, stav platby, állapot, stare, tila, 状態",
  in:
    "credit, credit amount, gross credit, money in, paid in, deposit, deposits, haben, habenbetrag, eingang, einnahme, einnahmen, gutschrift, gutschriften, " +
    "crédit, encaissement, abono, haber, ingreso, avere, accredito, accrediti, entrata, entrate, crédito, credito, wpływy, uznania, insättning",
  out:
    "debit, debit amount, gross debit, money out, paid out, withdrawal, withdrawals, refund, refunds, refund amount, refunded amount, amount refunded, order refund amount, " +
    "charged back, amount charged back, chargeback, chargebacks, chargeback amount, soll, sollbetrag, ausgang, ausgabe, ausgaben, belastung, lastschrift, erstatteter betrag, " +
    "débit, décaissement, cargo, debe, retiro, dare, addebito, addebiti, uscita, uscite, débito, debito, obciążenia, wydatki, uttag",
  sign:
    "soll haben, soll haben kennzeichen, soll haben kz, s h, sh, s h kennzeichen, debit credit, credit debit, debit or credit, credit or debit, debit credit indicator, credit debit indicator, " +
    "dr cr, cr dr, d c, dc, af bij, débit crédit, debe haber, dare avere",
  kind: "type, kind, transaction type, txn type, document type, doc type, invoice type, dokumenttyp, rechnungsart, typ, art, buchungsart, buchungstext, umsatzart, vorgang, belegart, type de transaction, tipo, soort, typ operacji",
  account: "konto, gegenkonto ohne bu schlüssel",
  fee: "fee, fees, transaction fee, processing fee, gebühr, gebühren, transaktionsgebühr, fremde gebühren, entgelt, frais, commission, comisión, commissione, kosten, provision, opłata, avgift, комиссия",
  net: "net, net amount, netto, nettobetrag, betrag netto, neto, gutgeschriebener betrag",
  beside:
    "subtotal, sub total, untaxed amount, amount untaxed, tax excluded, untaxed total, total excl vat, order total amount refund, zwischensumme, " +
    "montant ht, total ht, base imponible, imponibile, kwota netto, wartość netto, nettobeløb, totaal excl btw, tax, tax amount, tax total, vat, vat amount, mwst, ust, steuer, steuerbetrag, tva, montant tva, iva, importe iva, importo iva, btw, btw bedrag, kwota vat, moms, " +
    "account balance, running balance, kontostand, saldo nach buchung, solde du compte, saldo na mutatie, saldo na trn, " +
    "local amount, orig amount, original amount, amount foreign currency, presentment amount, customer facing amount, ursprungsbetrag, fremdwährungsbetrag, oorspr bedrag",
  running: "balance, saldo, current balance",
  item: "line amount, unit amount, unit price, line total, lineitem price, item price, einzelpreis, prix unitaire, precio unitario, prezzo unitario, eenheidsprijs",
  text: "verwendungszweck, vorgang verwendungszweck, zahlungszweck, mitteilungen, beschreibung 3, avisierungstext, notification text, purpose, payment reference, payment details, remittance information, memo, narrative, description, memo description, transaction description, libellé opération, détail de l écriture, libellé, label, communication, concepto, más datos, movimiento, descrizione estesa, dettagli, descrizione, causale, omschrijving, omschrijving 1, mededelingen, tytuł, opis operacji, meddelande, rubrik, beskrivning, customer note, customer reference, kundenreferenz, notes and tags, details, beschreibung, buchungstext, text",
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
    "paid, fully paid, paid in full, in payment, settled, cleared, completed, complete, succeeded, success, successful, captured, received, payment received, collected, paid out, payment accepted, remote payment accepted, payment complete, payment completed, overpaid, executed, " +
    "bezahlt, abgeschlossen, vollständig bezahlt, beglichen, ausgeglichen, erledigt, eingegangen, gezahlt, komplett bezahlt, zahlung erhalten, zahlung eingegangen, überzahlt, erfolgreich, payé, payée, terminé, terminée, réglé, réglée, acquitté, acquittée, soldé, soldée, encaissé, encaissée, paiement accepté, paiement reçu, exécuté, pagado, pagada, cobrado, cobrada, pago aceptado, " +
    "pagato, pagata, saldato, saldata, incassato, incassata, pagamento accettato, pago, paga, liquidado, liquidada, betaald, voldaan, zapłacono, zapłacona, zapłacone, opłacona, opłacone, betald, slutbetald, betalt, zaplaceno, uhrazeno, fizetve, maksettu, plătit, оплачено, оплачен, 支払済, 入金済",
  part:
    "part paid, partpaid, partly paid, partially paid, partial, paid in part, partial payment, deposit paid, " +
    "teilbezahlt, teilweise bezahlt, teilzahlung, partiellement payé, partiellement payée, partiellement réglée, parcialmente pagado, parcialmente pagada, parcial, cobrado parcialmente, " +
    "parzialmente pagato, parzialmente pagata, parcialmente pago, parcialmente paga, parzialmente saldata, deels betaald, gedeeltelijk betaald, częściowo zapłacona, częściowo opłacona, delvis betald, delbetald, delvist betalt, частично оплачено, частично оплачен",
  open:
    "open, unpaid, not paid, outstanding, due, overdue, past due, pending, awaiting payment, awaiting, sent, issued, viewed, active, attempted, authorised, authorized, uncaptured, " +
    "pending payment, requires payment method, requires capture, incomplete, awaiting check payment, awaiting bank wire payment, pending submission, pending customer approval, submitted for settlement, " +
    "émis, émise, envoyé, envoyée, emitida, enviada, emessa, inviata, offen, unbezahlt, nicht bezahlt, umsatz vorgemerkt, non contabilizzato, reserverat, ausstehend, überfällig, fällig, gemahnt, mahnstufe 1, mahnstufe 2, mahnstufe 3, versendet, verschickt, vorgemerkt, impayé, impayée, en attente, en retard, à payer, échue, pendiente, impagado, impagada, vencido, vencida, no pagado, no pagada, " +
    "da pagare, non pagato, non pagata, non saldato, non saldata, scaduto, scaduta, in attesa, pendente, em aberto, vencida, onbetaald, niet betaald, openstaand, te laat, vervallen, nieopłacona, nieopłacone, niezapłacona, oczekuje, przeterminowana, wystawiona, wysłana, obetald, ikke betalt, ubetalt, forfallen, förfallen, не оплачено, 未払",
  void:
    "void, voided, cancelled, canceled, deleted, written off, uncollectible, bad debt, trash, trashed, " +
    "storniert, storno, abgebrochen, gelöscht, ausgebucht, uneinbringlich, annulé, annulée, anulado, anulada, cancelado, cancelada, annullato, annullata, geannuleerd, oninbaar, anulowana, anulowane, makulerad, kreditert, krediteret, krediterad, annulleret, отменено, отменён, キャンセル",
  draft:
    "draft, entwurf, brouillon, borrador, bozza, rascunho, concept, szkic, utkast, kladde, черновик, 下書き",
  refunded:
    "refund, refunded, fully refunded, payment refund, chargeback, charge back, charged back, credited, reversal, reversed, payment reversal, credit note, credit memo, sales credit note, sales credit memo, customer refund, refund receipt, " +
    "rechnungskorrektur, stornorechnung, note de crédit, nota de crédito, nota di credito, creditnota, kreditnota, kreditfaktura, " +
    "erstattet, rückerstattet, zurückerstattet, gutgeschrieben, erstattung, rückerstattung, rücklastschrift, remboursé, remboursée, remboursement, avoir, reembolsado, reembolsada, reembolso, " +
    "rimborsato, rimborsata, rimborso, stornato, stornata, terugbetaald, terugbetaling, gecrediteerd, zwrócono, zwrócona, zwrot, återbetald, återbetalning, refunderet, refundert, возврат",
  refundedInPart:
    "partially refunded, partial refund, partly refunded, teilweise erstattet, partiellement remboursé",
  failed:
    "failed, failure, refused, declined, denied, rejected, error, unsuccessful, expired, blocked, reverted, payment error, customer approval denied, " +
    "fehlgeschlagen, abgelehnt, fehler, abgelaufen, échoué, échec, refusé, fallido, fallida, rechazado, rechazada, expirado, fallito, rifiutato, falhou, recusado, mislukt, geweigerd, odrzucona, nieudana, misslyckad, avvist, отклонено",
  posted:
    "posted, gebucht, umsatz gebucht, contabilizzato, verbucht, exported, exportiert, finalized, festgeschrieben, comptabilisée, registrada, registrata, geboekt, zaksięgowana, bokförd",
  unclear:
    "processing, on hold, in process, in progress, in bearbeitung, disputed, under review, suspected fraud, approved, submitted, closed",
};

/** Most commands read settings, and no list. */
export function madeOnce<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | undefined;
  return () => (made ??= { value: make() }).value;
}

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

/** The words of a column's name without what is in brackets, and without a currency behind the first word. */
const bareWordsOf = (name: string): string[] =>
  wordsIn(name.replace(/(?<=\S\s*)(?:\([^()]*\)|\[[^[\]]*\])/gu, " ")).filter(
    (word, at, words) =>
      at === 0 || !(isCurrencyWord(word) || (word === "in" && isCurrencyWord(words[at + 1] ?? ""))),
  );

const isCurrencyWord = (word: string): boolean => isKnownCurrency(word) || /^euros?$/.test(word);

export const bareSpellingOf = (name: string): string => bareWordsOf(name).join("");

/** Each says what a column is, in any order, beside words that say nothing more: `Total paid`, `Invoice State`, `Noch offener Betrag`. */
const TELLING_WORDS: Readonly<Partial<Record<ColumnRole, string>>> = {
  paid:
    "paid, received, collected, settled, payments, applied, bezahlt, bezahlte, bezahlter, gezahlt, gezahlter, beglichen, ausgeglichen, erhalten, eingegangen, erledigt, zahlungen, " +
    "payé, réglé, réglée, encaissé, encaissée, pagado, pagada, cobrado, cobrada, pagato, pagata, saldato, saldata, incassato, incassata, pago, paga, " +
    "betaald, betaalde, voldaan, zapłacono, zapłacona, opłacono, opłacona, betald, slutbetald, betalt, оплачено",
  due:
    "due, outstanding, unpaid, owed, owing, remaining, residual, open, offen, offene, offener, rest, restbetrag, restsumme, restforderung, restant, restante, " +
    "pendiente, residuo, openstaand, openstaande, restbelopp, restbeløb",
  running: "balance, bal, saldo, solde",
  state: "status, state, statut, état, estado, stato, situación, situação, zustand, статус",
  voidOn:
    "void, voided, cancelled, canceled, deleted, storno, storniert, annulé, annulée, anulado, anulada, annullato, annullata, geannuleerd, anulowana, annulleret, makulerad",
  out: "refunded, refund, refunds, reversed, erstattet, erstattung, remboursé, remboursée, reembolsado, reembolsada, rimborsato, terugbetaald",
};

const NEUTRAL_WORDS =
  "amount, amounts, amt, total, totals, sum, value, invoice, order, bill, document, doc, transaction, of, the, is, was, fully, already, still, so, far, less, credits, deposit, " +
  "betrag, summe, wert, gesamt, rechnung, rechnungen, beleg, auftrag, bestellung, der, die, das, ist, schon, bereits, noch, geleistete, vollständig, posten, forderung, forderungen, saldo, balance, " +
  "montant, facture, commande, somme, déjà, de, du, des, la, importe, factura, pedido, del, importo, totale, fattura, ordine, di, da, del, della, do, " +
  "bedrag, totaal, factuur, van, nog, reeds, kwota, suma, faktura, faktury, zapłaty, belopp, beløb, valor, fatura";

const DATE_WORDS = "date, datum, dato, fecha, time, gmt, utc, at, on, am, op, em, le, el, il";

/** A name of these and of a word for a date is that of the date of a payment. */
const PAYMENT_WORDS =
  "payment, zahlung, paiement, règlement, encaissement, pago, cobro, pagamento, incasso, betaling, betalning";

const tellingWords = madeOnce(() => ({
  roles: meaningsBySpelling(Object.entries(TELLING_WORDS) as [ColumnRole, string][]),
  neutral: new Set(meaningsBySpelling([[true, NEUTRAL_WORDS]]).keys()),
  dates: new Set(meaningsBySpelling([[true, DATE_WORDS]]).keys()),
  payments: new Set(meaningsBySpelling([[true, PAYMENT_WORDS]]).keys()),
}));

/** What a column is by the words of its name, where they are no phrase that is known; undefined if one of them says something else. */
export function roleByWords(name: string): ColumnRole | undefined {
  const { roles, neutral, dates, payments } = tellingWords();
  const words = bareWordsOf(
    name.replace(/(?<=\p{Ll})(?=\p{Lu})/gu, " ").replace(/\b(?:to date|in full)\b/i, " "),
  );
  const isKnown = (word: string): boolean =>
    [roles, neutral, dates, payments].some((known) => known.has(word));
  if (!words.every(isKnown)) return undefined;
  const found = new Set(words.flatMap((word) => roles.get(word) ?? []));
  const isDate = words.some((word) => dates.has(word));
  if (found.has("state")) return isDate ? undefined : "state";
  if (found.size > 1) found.delete("running");
  const [role, another] = found;
  if (role === undefined) return isDate && words.some((word) => payments.has(word)) ? "paidOn" : undefined;
  if (another !== undefined || !isDate) return another === undefined ? role : undefined;
  return DATED[role];
}

/** What the date of it says. */
const DATED: Readonly<Partial<Record<ColumnRole, ColumnRole>>> = {
  paid: "paidOn",
  voidOn: "voidOn",
  out: "voidOn",
};

/** A date with digits alone. */
export const DATE_CELL = /^\d{1,4}([./-])\d{1,2}\1\d{2,4}$/;

/** Kinds of lines: an invoice asks for money, and where a list has payments too, they are what came. */
export const INVOICE_KIND =
  /^(?:sales|tax)?(?:invoice|rechnung|facture|factura|fattura|factuur|fatura|faktura)$/;
export const PAYMENT_KIND =
  /^(?:customer|receive|received|invoice)?(?:payment|salesreceipt|zahlung|zahlungseingang|paiement|reglement|pago|pagamento|betaling|betalning)$/;

/** The sides of an account. */
const SIDES: ReadonlyMap<string, "D" | "C"> = new Map([
  ...["s", "soll", "d", "dr", "db", "debit", "dbit", "debe", "dare", "af", "ma", "debet", "out"].map(
    (word) => [word, "D"] as const,
  ),
  ...["h", "haben", "c", "cr", "credit", "crdt", "k", "haber", "avere", "bij", "kredit", "in"].map(
    (word) => [word, "C"] as const,
  ),
]);

export const sideOf = (cell: string): "D" | "C" | undefined =>
  cell === "-" || cell === "−" ? "D" : cell === "+" ? "C" : SIDES.get(spellingOf(cell));

/** The cell for money in, where each cell is the side of a bank's account that a line is on, and there are both; else undefined. */
export function moneyInOf(cells: readonly string[]): string | undefined {
  const sides = new Set(cells.map((cell) => SIDES.get(spellingOf(cell))));
  return sides.size === 2 && !sides.has(undefined) ? cells.find((cell) => sideOf(cell) === "C") : undefined;
}

const states = madeOnce(() => meaningsBySpelling(Object.entries(STATE_WORDS) as [PaymentState, string][]));

/** What a cell of a state says without a doubt, whatever follows: the customer is still to pay. */
const STILL_TO_PAY: ReadonlySet<PaymentState> = new Set(["open", "failed", "posted"]);

/** What is paid out, sent or delivered has states of its own. */
const OTHER_STATES =
  /payout|settlement|fulfil|shipping|shipment|deliver|auszahl|versand|liefer|expédition|envío|spedizione|verzend/i;

/** Whether cells are states of payments, if the name of their column says nothing: each is one, and not every customer is still to pay. */
export function saysStates(name: string, cells: readonly string[]): boolean {
  if (OTHER_STATES.test(name)) return false;
  const filled = cells.filter((cell) => spellingOf(cell) !== "");
  const known = (cell: string): PaymentState | undefined => states().get(spellingOf(cell));
  return filled.every((cell) => known(cell) !== undefined) && filled.some((cell) => SETTLED.has(known(cell)));
}

const SETTLED: ReadonlySet<PaymentState | undefined> = new Set([
  "paid",
  "part",
  "void",
  "draft",
  "refunded",
  "refundedInPart",
  "posted",
] as const);

/** What a cell says of the payment; undefined for an unknown word. `Paid (cash)` and `Refunded on 3 May` are unclear. */
export function stateIn(cell: string): PaymentState | undefined {
  const known = states().get(spellingOf(cell));
  if (known !== undefined) return known;
  const first = states().get(wordsIn(cell)[0] ?? "");
  return first === undefined || STILL_TO_PAY.has(first) ? undefined : "unclear";
}
