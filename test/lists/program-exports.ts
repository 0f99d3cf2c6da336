/** Exports of accounting programs, shops, payment services and banks by their real headers, rebuilt by hand, with made-up data. */
import { csvOf, numbered } from "./csv-rows.ts";

export interface ProgramExport {
  readonly program: string;
  readonly text: string;
  /** What the program itself advises for `bulk`: how its columns are named, and which rows are chosen. */
  readonly toSend: readonly string[];
  /** The sum that is still to be paid by the rows that are chosen, and their number; undefined for a list that no link is made of. */
  readonly due: { readonly links: number; readonly sums: Readonly<Record<string, string>> } | undefined;
  /** The same for `reconcile --books`. */
  readonly toCompare: readonly string[];
  /** What is booked as paid, by order number. */
  readonly paid: Readonly<Record<string, string>>;
}

const lines = (...texts: readonly string[]): string => `${texts.join("\n")}\n`;

const ADA = {
  ContactName: "Ada Ltd",
  EmailAddress: "ada@example.com",
  POAddressLine1: "1 Main St",
  POCity: "Leeds",
  POPostalCode: "LS1",
  POCountry: "GB",
};

const xeroInvoice = (InvoiceNumber: string, Total: string, paid: string, due: string, Status: string) => ({
  InvoiceNumber,
  Total,
  InvoiceAmountPaid: paid,
  InvoiceAmountDue: due,
  Status,
  InvoiceDate: "01/11/2026",
  DueDate: "2026-12-30",
  Description: "Consulting",
  Quantity: "1",
  UnitAmount: Total,
  LineAmount: Total,
  Currency: "GBP",
  Type: "Sales invoice",
  Sent: "Sent",
});

const shopOrder = (
  Name: string,
  state: string,
  Total: string,
  more: Readonly<Record<string, string>>,
): Record<string, string> => ({
  Name,
  Email: "x@example.com",
  "Financial Status": state,
  "Fulfillment Status": "fulfilled",
  Currency: "EUR",
  Subtotal: Total,
  Total,
  "Created at": "2026-11-01 09:58:12 +0000",
  "Lineitem quantity": "1",
  "Lineitem name": "Mug",
  "Lineitem price": Total,
  "Billing Name": "Ada",
  "Billing Province": "NW",
  "Shipping Name": "Ada",
  "Refunded Amount": "0.00",
  "Outstanding Balance": "0.00",
  Vendor: "Acme",
  Id: "5001",
  ...more,
});

const wooOrder = (number: string, state: string, total: string, refund: string) => ({
  "Order Number": number,
  "Order Status": state,
  "Order Date": "2026-11-01 10:00",
  "First Name (Billing)": "Ada",
  "Last Name (Billing)": "A",
  "City (Billing)": "Bonn",
  "Email (Billing)": "ada@example.com",
  "First Name (Shipping)": "Eve",
  "Last Name (Shipping)": "E",
  "City (Shipping)": "Kiel",
  "Order Subtotal Amount": "30",
  "Order Refund Amount": refund,
  "Order Total Amount": total,
  "Quantity (- Refund)": "1",
  "Item Cost": "30",
});

const payPal = (
  Type: string,
  Status: string,
  [Gross, Fee, Net]: readonly [string, string, string],
  more: Readonly<Record<string, string>>,
): Record<string, string> => ({
  Date: "01/11/2026",
  Name: "Ada",
  Type,
  Status,
  Currency: "EUR",
  Gross,
  Fee,
  Net,
  "Address Status": "Confirmed",
  "Shipping and Handling Amount": "0.00",
  "Sales Tax": "0.00",
  "State/Province/Region/County/Territory/Prefecture/Republic": "CA",
  Country: "US",
  ...more,
});

/** A line of DATEV's journal. */
const booked = (
  amount: string,
  side: string,
  account: string,
  contra: string,
  day: string,
  number: string,
) => ({
  "Umsatz (ohne Soll/Haben-Kz)": amount,
  "Soll/Haben-Kennzeichen": side,
  "WKZ Umsatz": "EUR",
  Konto: account,
  "Gegenkonto (ohne BU-Schlüssel)": contra,
  Belegdatum: day,
  "Belegfeld 1": number,
  Buchungstext: "Ada",
});

export const PROGRAM_EXPORTS: readonly ProgramExport[] = [
  {
    program: "Xero",
    text: csvOf(
      ",",
      "ContactName,EmailAddress,POAddressLine1,POAddressLine2,POAddressLine3,POAddressLine4,POCity,PORegion,POPostalCode,POCountry,SAAddressLine1,SAAddressLine2,SAAddressLine3,SAAddressLine4,SACity,SARegion,SAPostalCode,SACountry,InvoiceNumber,Reference,InvoiceDate,DueDate,PlannedDate,Total,TaxTotal,InvoiceAmountPaid,InvoiceAmountDue,InventoryItemCode,Description,Quantity,UnitAmount,Discount,LineAmount,AccountCode,TaxType,TaxAmount,TrackingName1,TrackingOption1,TrackingName2,TrackingOption2,Currency,Type,Sent,Status".split(
        ",",
      ),
      {
        ...ADA,
        ...xeroInvoice("INV-0001", "120.00", "120.00", "0.00", "Paid"),
        UnitAmount: "60.00",
        LineAmount: "60.00",
      },
      {
        ...ADA,
        ...xeroInvoice("INV-0001", "120.00", "120.00", "0.00", "Paid"),
        UnitAmount: "40.00",
        LineAmount: "40.00",
      },
      { ContactName: "Bob plc", ...xeroInvoice("INV-0002", "50.00", "20.00", "30.00", "Awaiting Payment") },
      { ContactName: "Eve", ...xeroInvoice("INV-0003", "75.00", "0.00", "75.00", "Awaiting Payment") },
      { ContactName: "Dan", ...xeroInvoice("INV-0004", "80.00", "0.00", "0.00", "Voided"), Sent: "" },
    ),
    toSend: [
      "--only=InvoiceAmountPaid=0.00",
      "--only=Status=Awaiting Payment",
      "--map=ContactName=customerName",
      "--map=EmailAddress=customerDetails.email",
      "--map=InvoiceNumber=invoiceId",
      "--map=DueDate=expirationDate",
      "--map=Total=amount",
      "--map=POAddressLine1=customerDetails.billingAddress.address1",
      "--map=POPostalCode=customerDetails.billingAddress.postalcode",
    ],
    due: { links: 1, sums: { GBP: "75.00" } },
    toCompare: [],
    paid: { "INV-0001": "GBP 120.00", "INV-0002": "GBP 20.00" },
  },
  {
    program: "QuickBooks",
    text: lines(
      "Invoice List,,,,,,,",
      '"My Shop, Ltd",,,,,,,',
      "All Dates,,,,,,,",
      "Date,Transaction type,Num,Name,Memo,Due date,Amount,Open balance",
      "11/01/2026,Invoice,1001,Ada,,2026-12-30,200.00,0.00",
      "11/02/2026,Invoice,1002,Bob,,2026-12-30,150.00,150.00",
      "11/03/2026,Invoice,1003,Eve,,2026-12-30,90.00,40.00",
    ),
    toSend: [
      "--header-line=4",
      "--only=Open balance=150.00",
      "--currency=GBP",
      "--map=Transaction type=",
      "--map=Num=invoiceId",
      "--map=Name=customerName",
      "--map=Due date=expirationDate",
    ],
    due: { links: 1, sums: { GBP: "150.00" } },
    toCompare: ["--header-line=4", "--map=Num=invoiceId", "--currency=GBP"],
    paid: { "1001": "GBP 200.00", "1003": "GBP 50.00" },
  },
  {
    program: "Sage",
    text: lines(
      "Type,Invoice Number,Customer Name,Reference,Issue Date,Due Date,Net Amount,VAT Amount,Total Amount,Outstanding Amount,Status",
      "Sales Invoice,SI-1,Ada,PO 1,2026-11-01,2026-12-30,100.00,20.00,120.00,0.00,Paid",
      "Sales Invoice,SI-2,Bob,PO 2,2026-11-01,2026-12-30,50.00,10.00,60.00,60.00,Unpaid",
      "Sales Invoice,SI-3,Eve,PO 3,2026-11-01,2026-12-30,30.00,6.00,36.00,10.00,Part Paid",
      "Sales Invoice,SI-4,Dan,PO 4,2026-11-01,2026-12-30,30.00,6.00,36.00,0.00,Void",
    ),
    toSend: [
      "--only=Status=Unpaid",
      "--currency=GBP",
      "--map=Invoice Number=invoiceId",
      "--map=Due Date=expirationDate",
      "--map=Total Amount=amount",
    ],
    due: { links: 1, sums: { GBP: "60.00" } },
    toCompare: ["--currency=GBP"],
    paid: { "SI-1": "GBP 120.00", "SI-3": "GBP 26.00" },
  },
  {
    program: "Lexware",
    text: lines(
      "Belegnummer;Belegdatum;Fälligkeit;Kunde;Nettobetrag;Bruttobetrag;Währung;Offener Betrag;Status",
      "RE-1;01.11.2026;01.12.2026;Ada;100,00;119,00;EUR;0,00;Bezahlt",
      "RE-2;02.11.2026;01.12.2026;Bob;1.000,00;1.190,00;EUR;1.190,00;Überfällig",
      "RE-3;03.11.2026;01.12.2026;Eve;50,00;59,50;EUR;9,50;Teilbezahlt",
      "RE-4;03.11.2026;01.12.2026;Dan;50,00;59,50;EUR;59,50;Entwurf",
    ),
    toSend: [
      "--decimal-comma",
      "--only=Status=Überfällig",
      "--map=Belegnummer=invoiceId",
      "--map=Kunde=customerName",
      "--map=Bruttobetrag=amount",
      "--map=Währung=currency",
    ],
    due: { links: 1, sums: { EUR: "1190.00" } },
    toCompare: ["--decimal-comma"],
    paid: { "RE-1": "EUR 119.00", "RE-3": "EUR 50.00" },
  },
  {
    program: "DATEV",
    text:
      '"EXTF";700;21;"Buchungsstapel";13;20261130120000000;;"RE";"";"";1001;1;20260101;4;20261101;20261130;"";"";1;0;0;"EUR"\n' +
      csvOf(
        ";",
        [
          ..."Umsatz (ohne Soll/Haben-Kz);Soll/Haben-Kennzeichen;WKZ Umsatz;Kurs;Basisumsatz;WKZ Basisumsatz;Konto;Gegenkonto (ohne BU-Schlüssel);BU-Schlüssel;Belegdatum;Belegfeld 1;Belegfeld 2;Skonto;Buchungstext;Postensperre;Diverse Adressnummer;Geschäftspartnerbank;Sachverhalt;Zinssperre;Beleglink".split(
            ";",
          ),
          ...numbered(
            8,
            (n) => `Beleginfo – Art ${n}`,
            (n) => `Beleginfo – Inhalt ${n}`,
          ),
          ..."KOST1 – Kostenstelle;KOST2 – Kostenstelle;Kost Menge;EU-Land u. USt-IdNr.;EU-Steuersatz;Abw. Versteuerungsart;Sachverhalt L+L;Funktionsergänzung L+L;BU 49 Hauptfunktionstyp;BU 49 Hauptfunktionsnummer;BU 49 Funktionsergänzung".split(
            ";",
          ),
          ...numbered(
            20,
            (n) => `Zusatzinformation – Art ${n}`,
            (n) => `Zusatzinformation – Inhalt ${n}`,
          ),
          ..."Stück;Gewicht;Zahlweise;Forderungsart;Veranlagungsjahr;Zugeordnete Fälligkeit;Skontotyp;Auftragsnummer;Buchungstyp;USt-Schlüssel (Anzahlungen);EU-Mitgliedstaat (Anzahlungen);Sachverhalt L+L (Anzahlungen);EU-Steuersatz (Anzahlungen);Erlöskonto (Anzahlungen);Herkunft-Kz;Leerfeld;KOST-Datum;SEPA-Mandatsreferenz;Skontosperre;Gesellschaftername;Beteiligtennummer;Identifikationsnummer;Zeichnernummer;Postensperre bis;Bezeichnung;Kennzeichen;Festschreibung;Leistungsdatum;Datum Zuord.;Fälligkeit;Generalumkehr;Steuersatz;Land;Abrechnungsreferent;BVV-Position;EU-Mitgliedstaat u. UStID (Ursprung);EU-Steuersatz (Ursprung);Abw. Skontokonto".split(
            ";",
          ),
        ],
        booked("1120,00", "S", "10001", "8400", "0111", "RE-1"),
        booked("1120,00", "S", "1200", "10001", "0311", "RE-1"),
        booked("60,00", "S", "1200", "10002", "0411", "RE-2"),
        booked("60,00", "H", "1200", "10002", "0511", "RE-2"),
        booked("80,50", "H", "10003", "1200", "0611", "RE-3"),
        // Sold for money at once, and then invoices alone, by either chart of accounts.
        booked("30,00", "S", "1000", "8400", "0611", "RE-4"),
        booked("40,00", "S", "1800", "4400", "0611", "RE-5"),
        booked("90,00", "S", "1400", "8400", "0711", "RE-6"),
        booked("90,00", "S", "1200", "4400", "0711", "RE-7"),
        booked("90,00", "H", "4400", "10008", "0711", "RE-8"),
      ),
    toSend: [],
    due: undefined,
    toCompare: ["--header-line=2", "--decimal-comma"],
    paid: {
      "RE-1": "EUR 1120.00",
      "RE-2": "EUR 0.00",
      "RE-3": "EUR 80.50",
      "RE-4": "EUR 30.00",
      "RE-5": "EUR 40.00",
    },
  },
  {
    program: "Odoo",
    text: lines(
      "Number,Invoice Partner Display Name,Invoice/Bill Date,Due Date,Tax Excluded,Total,Amount Due,Currency,Payment Status,Status",
      "INV/2026/00001,Ada,2026-11-01,2026-12-30,100.00,121.00,0.00,EUR,Paid,Posted",
      "INV/2026/00002,Bob,2026-11-01,2026-12-30,50.00,60.50,60.50,EUR,Not Paid,Posted",
      "INV/2026/00003,Eve,2026-11-01,2026-12-30,80.00,96.80,46.80,EUR,Partially Paid,Posted",
      "INV/2026/00004,Dan,2026-11-01,2026-12-30,80.00,96.80,96.80,EUR,Not Paid,Draft",
    ),
    toSend: [
      "--only=Payment Status=Not Paid",
      "--only=Status=Posted",
      "--map=Number=invoiceId",
      "--map=Invoice Partner Display Name=customerName",
      "--map=Due Date=expirationDate",
      "--map=Total=amount",
    ],
    due: { links: 1, sums: { EUR: "60.50" } },
    toCompare: ["--map=Number=invoiceId"],
    paid: { "INV/2026/00001": "EUR 121.00", "INV/2026/00003": "EUR 50.00" },
  },
  {
    program: "Shopify",
    text: csvOf(
      ",",
      [
        ..."Name,Email,Financial Status,Paid at,Fulfillment Status,Fulfilled at,Accepts Marketing,Currency,Subtotal,Shipping,Taxes,Total,Discount Code,Discount Amount,Shipping Method,Created at,Lineitem quantity,Lineitem name,Lineitem price,Lineitem compare at price,Lineitem sku,Lineitem requires shipping,Lineitem taxable,Lineitem fulfillment status,Billing Name,Billing Street,Billing Address1,Billing Address2,Billing Company,Billing City,Billing Zip,Billing Province,Billing Country,Billing Phone,Shipping Name,Shipping Street,Shipping Address1,Shipping Address2,Shipping Company,Shipping City,Shipping Zip,Shipping Province,Shipping Country,Shipping Phone,Notes,Note Attributes,Cancelled at,Payment Method,Payment Reference,Refunded Amount,Vendor,Outstanding Balance,Employee,Location,Device ID,Id,Tags,Risk Level,Source,Lineitem discount".split(
          ",",
        ),
        ...numbered(
          5,
          (n) => `Tax ${n} Name`,
          (n) => `Tax ${n} Value`,
        ),
        ..."Phone,Receipt Number,Duties,Billing Province Name,Shipping Province Name,Payment ID,Payment Terms Name,Next Payment Due At,Payment References".split(
          ",",
        ),
      ],
      shopOrder("#1001", "paid", "34.98", {
        "Lineitem name": "Tee",
        "Lineitem price": "9.99",
        "Lineitem quantity": "2",
      }),
      {
        Name: "#1001",
        Email: "x@example.com",
        "Lineitem quantity": "1",
        "Lineitem name": "Mug",
        "Lineitem price": "10.00",
        Vendor: "Acme",
      },
      shopOrder("#1002", "pending", "20.00", {
        "Outstanding Balance": "20.00",
        "Fulfillment Status": "unfulfilled",
      }),
      shopOrder("#1003", "partially_refunded", "40.00", { "Refunded Amount": "15.00" }),
      shopOrder("#1004", "voided", "16.00", { "Cancelled at": "2026-11-04 10:00:00 +0000" }),
    ),
    toSend: [
      "--only=Financial Status=pending",
      "--map=Name=invoiceId",
      "--map=Billing Name=customerName",
      "--map=Total=amount",
      "--map=Email=customerDetails.email",
      "--map=Notes=description",
    ],
    due: { links: 1, sums: { EUR: "20.00" } },
    toCompare: ["--map=Name=invoiceId"],
    paid: { "#1001": "EUR 34.98", "#1003": "EUR 25.00" },
  },
  {
    program: "WooCommerce",
    text: csvOf(
      ",",
      "Order Number,Order Status,Order Date,Customer Note,First Name (Billing),Last Name (Billing),Company (Billing),Address 1&2 (Billing),City (Billing),State Code (Billing),Postcode (Billing),Country Code (Billing),Email (Billing),Phone (Billing),First Name (Shipping),Last Name (Shipping),Address 1&2 (Shipping),City (Shipping),State Code (Shipping),Postcode (Shipping),Country Code (Shipping),Payment Method Title,Cart Discount Amount,Order Subtotal Amount,Shipping Method Title,Order Shipping Amount,Order Refund Amount,Order Total Amount,Order Total Tax Amount,SKU,Item #,Item Name,Quantity (- Refund),Item Cost,Coupon Code,Discount Amount,Discount Amount Tax".split(
        ",",
      ),
      wooOrder("501", "Completed", "35", "0"),
      wooOrder("502", "Pending payment", "32", "0"),
      wooOrder("503", "Cancelled", "31", "0"),
      wooOrder("504", "Completed", "30", "-10"),
    ),
    toSend: [
      "--only=Order Status=Pending payment",
      "--currency=EUR",
      "--map=Order Number=invoiceId",
      "--map=First Name (Billing)=customerDetails.billingAddress.firstName",
      "--map=Last Name (Billing)=customerName",
      "--map=Email (Billing)=customerDetails.email",
      "--map=City (Billing)=customerDetails.billingAddress.city",
      "--map=Order Total Amount=amount",
    ],
    due: { links: 1, sums: { EUR: "32.00" } },
    toCompare: ["--currency=EUR"],
    paid: { "501": "EUR 35.00", "504": "EUR 20.00" },
  },
  {
    program: "PayPal",
    text: csvOf(
      ",",
      "Date,Time,TimeZone,Name,Type,Status,Currency,Gross,Fee,Net,From Email Address,To Email Address,Transaction ID,Shipping Address,Address Status,Item Title,Item ID,Shipping and Handling Amount,Insurance Amount,Sales Tax,Option 1 Name,Option 1 Value,Option 2 Name,Option 2 Value,Reference Txn ID,Invoice Number,Custom Number,Quantity,Receipt ID,Balance,Address Line 1,Address Line 2/District/Neighborhood,Town/City,State/Province/Region/County/Territory/Prefecture/Republic,Zip/Postal Code,Country,Contact Phone Number,Subject,Note,Country Code,Balance Impact".split(
        ",",
      ),
      payPal("Express Checkout Payment", "Completed", ["1,120.00", "-3.50", "1,116.50"], {
        "Invoice Number": "P-1",
        "Balance Impact": "Credit",
        Balance: "1,116.50",
      }),
      payPal("Express Checkout Payment", "Pending", ["30.00", "-1.00", "29.00"], {
        "Invoice Number": "P-2",
        "Balance Impact": "Memo",
        Balance: "1,116.50",
      }),
      payPal("Payment Refund", "Completed", ["-1,020.00", "0.60", "-1,019.40"], {
        "Invoice Number": "P-1",
        "Balance Impact": "Debit",
        Balance: "97.10",
      }),
      payPal("General Withdrawal", "Completed", ["-97.10", "0.00", "-97.10"], {
        "Balance Impact": "Debit",
        Balance: "0.00",
      }),
    ),
    toSend: [],
    due: undefined,
    toCompare: [],
    paid: { "P-1": "EUR 100.00" },
  },
  {
    program: "Stripe",
    text: lines(
      "id,Created date (UTC),Amount,Amount Refunded,Currency,Captured,Converted Amount,Converted Amount Refunded,Converted Currency,Fee,Is Link,Mode,Payment Source Type,Status,Taxes On Fee,Description,Customer Email,Invoice ID,Transfer,order_id (metadata)",
      "ch_1,2026-11-01 10:00:00,120.00,0.00,eur,true,120.00,0.00,eur,2.00,false,Live,card,Paid,0.00,Order A-1,ada@example.com,,po_1,A-1",
      "ch_2,2026-11-01 10:00:00,30.00,0.00,eur,false,30.00,0.00,eur,0.00,false,Live,card,Failed,0.00,Order A-2,bob@example.com,,,A-2",
      "ch_3,2026-11-01 10:00:00,50.00,20.00,eur,true,50.00,20.00,eur,1.00,false,Live,card,Paid,0.00,Order A-3,eve@example.com,,po_1,A-3",
    ),
    toSend: [],
    due: undefined,
    toCompare: [],
    paid: { "A-1": "EUR 120.00", "A-3": "EUR 30.00" },
  },
  {
    program: "Pennylane",
    text: lines(
      "Numéro;Date;Client;Montant HT;Montant TVA;Montant TTC;Reste à payer;Statut;Devise",
      "F-1;01/11/2026;Ada;100,00;20,00;120,00;0,00;Payée;EUR",
      "F-2;01/11/2026;Bob;100,00;20,00;120,00;120,00;En retard;EUR",
      "F-3;01/11/2026;Eve;100,00;20,00;120,00;20,00;Partiellement payée;EUR",
    ),
    toSend: [
      "--decimal-comma",
      "--only=Statut=En retard",
      "--map=Numéro=invoiceId",
      "--map=Client=customerName",
      "--map=Montant TTC=amount",
      "--map=Devise=currency",
    ],
    due: { links: 1, sums: { EUR: "120.00" } },
    toCompare: ["--decimal-comma"],
    paid: { "F-1": "EUR 120.00", "F-3": "EUR 100.00" },
  },
  {
    program: "Fakturownia",
    text: lines(
      "Numer;Data wystawienia;Termin płatności;Nabywca;Wartość netto;Wartość VAT;Wartość brutto;Waluta;Status;Kwota opłacona",
      "FV 1/2026;2026-11-01;2026-12-30;Ada;100,00;23,00;123,00;PLN;Opłacona;123,00",
      "FV 2/2026;2026-11-01;2026-12-30;Bob;100,00;23,00;123,00;PLN;Wystawiona;0,00",
      "FV 3/2026;2026-11-01;2026-12-30;Eve;100,00;23,00;123,00;PLN;Częściowo opłacona;23,00",
    ),
    toSend: [
      "--decimal-comma",
      "--only=Status=Wystawiona",
      "--map=Numer=invoiceId",
      "--map=Nabywca=customerName",
      "--map=Wartość brutto=amount",
      "--map=Waluta=currency",
    ],
    due: { links: 1, sums: { PLN: "123.00" } },
    toCompare: ["--decimal-comma"],
    paid: { "FV 1/2026": "PLN 123.00", "FV 3/2026": "PLN 23.00" },
  },
  {
    program: "Magento",
    text: lines(
      '"ID","Purchase Point","Purchase Date","Bill-to Name","Ship-to Name","Grand Total (Base)","Grand Total (Purchased)","Status","Customer Email","Subtotal","Shipping and Handling","Customer Name","Payment Method","Total Refunded"',
      '"000000001","Main","Nov 1, 2026","Ada","Ada","120.00","120.00","Complete","ada@example.com","115","5","Ada","checkmo","20.00"',
      '"000000002","Main","Nov 1, 2026","Bob","Bob","50.00","50.00","Pending","bob@example.com","50","0","Bob","checkmo",""',
    ),
    toSend: [
      "--currency=EUR",
      "--only=Status=Pending",
      "--map=ID=invoiceId",
      "--map=Grand Total (Base)=",
      "--map=Grand Total (Purchased)=amount",
      "--map=Customer Email=customerDetails.email",
    ],
    due: { links: 1, sums: { EUR: "50.00" } },
    toCompare: ["--currency=EUR", "--map=ID=invoiceId", "--map=Grand Total (Base)="],
    paid: { "000000001": "EUR 100.00" },
  },
  {
    program: "Mollie",
    text: lines(
      "Date,Payment method,Currency,Amount,Status,ID,Description,Consumer name,Consumer bank account,Consumer BIC,Settlement currency,Settlement amount,Settlement reference,Amount refunded,Amount charged back",
      "2026-11-01 10:00:00,ideal,EUR,120.00,paid,tr_1,A-1,Ada,NL01,X,EUR,120.00,100.1,20.00,0.00",
      "2026-11-01 10:00:00,ideal,EUR,50.00,expired,tr_2,A-2,Bob,,,,,,,",
      "2026-11-01 10:00:00,creditcard,EUR,70.00,paid,tr_4,A-4,Bob,,,EUR,70.00,100.1,0.00,30.00",
    ),
    toSend: [],
    due: undefined,
    toCompare: [],
    paid: { "A-1": "EUR 100.00", "A-4": "EUR 40.00" },
  },
  {
    program: "SumUp, with a reference that nobody fills",
    text: lines(
      "E-Mail,Datum,Transaktions-ID,Zahlungsart,Status,Kartentyp,Letzte 4 Ziffern,Durchgeführt mit,Zahlungsmethode,Eingabemodus,Autorisierungscode,Beschreibung,Betrag inkl. MwSt.,Netto,Steuerbetrag,Trinkgeldbetrag,Gebühr,Auszahlung,Auszahlungsdatum,Auszahlungs-ID,Referenz",
      "bar@example.com,2026-11-30 19:56:55,T1,Umsatz,Erfolgreich,VISA,0000,CREDIT,POS,CONTACTLESS,740559,A-1,100.0,98.0,2.0,0.0,2.0,98.0,,,",
      ",2026-11-30 19:57:11,T1,Auszahlung,Gezahlt,,,,,,,,100.0,,,,2.0,98.0,2026-12-03,952982,",
      "bar@example.com,2026-11-30 18:37:00,T3,Umsatz,Abgebrochen,UNKNOWN,,UNKNOWN,N/A,N/A,,A-3,9.0,8.77,0.23,0.0,0.0,,,,",
    ),
    toSend: [],
    due: undefined,
    toCompare: ["--currency=EUR"],
    paid: { "A-1": "EUR 100.00" },
  },
  {
    program: "QuickBooks, of invoices and their payments",
    text: lines(
      "Transaction List by Date",
      "Date,Transaction Type,Num,Posting,Name,Memo/Description,Account,Split,Amount",
      "2026-11-01,Invoice,1001,Yes,Ada,,Accounts Receivable,Sales,200.00",
      "2026-11-05,Payment,1001,Yes,Ada,,Undeposited Funds,Accounts Receivable,200.00",
      "2026-11-06,Invoice,1002,Yes,Bob,,Accounts Receivable,Sales,75.00",
    ),
    toSend: [],
    due: undefined,
    toCompare: ["--header-line=2", "--currency=USD"],
    paid: { "1001": "USD 200.00" },
  },
  {
    program: "a Dutch bank",
    text: lines(
      '"Datum";"Naam / Omschrijving";"Rekening";"Tegenrekening";"Code";"Af Bij";"Bedrag (EUR)";"Mutatiesoort";"Mededelingen";"Saldo na mutatie";"Tag"',
      '"20261101";"Ada";"NL01";"NL02";"OV";"Bij";"120,00";"Overschrijving";"RE-1";"1120,00";""',
      '"20261102";"Bob";"NL01";"NL03";"GT";"Af";"50,00";"Online bankieren";"huur";"1070,00";""',
      '"20261103";"Bob";"NL01";"NL03";"GT";"Af";"10,00";"Online bankieren";"gas";"1060,00";""',
    ),
    toSend: [],
    due: undefined,
    toCompare: ["--decimal-comma"],
    paid: { "RE-1": "EUR 120.00", huur: "EUR -50.00", gas: "EUR -10.00" },
  },
];
