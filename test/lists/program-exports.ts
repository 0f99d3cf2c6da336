/** Exports of accounting programs, shops, payment services and banks by their real headers, rebuilt by hand, with made-up data. */

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

export const PROGRAM_EXPORTS: readonly ProgramExport[] = [
  {
    program: "Xero",
    text: lines(
      "ContactName,EmailAddress,POAddressLine1,POCity,POPostalCode,POCountry,InvoiceNumber,Reference,InvoiceDate,DueDate,PlannedDate,Total,TaxTotal,InvoiceAmountPaid,InvoiceAmountDue,InventoryItemCode,Description,Quantity,UnitAmount,Discount,LineAmount,AccountCode,TaxType,TaxAmount,Currency,Type,Sent,Status",
      "Ada Ltd,ada@example.com,1 Main St,Leeds,LS1,GB,INV-0001,PO 17,01/11/2026,2026-12-30,,120.00,20.00,120.00,0.00,,Consulting,1,60.00,,60.00,200,20% VAT,10.00,GBP,Sales invoice,Sent,Paid",
      "Ada Ltd,ada@example.com,1 Main St,Leeds,LS1,GB,INV-0001,PO 17,01/11/2026,2026-12-30,,120.00,20.00,120.00,0.00,,Travel,1,40.00,,40.00,200,20% VAT,10.00,GBP,Sales invoice,Sent,Paid",
      "Bob plc,bob@example.com,,,,,INV-0002,,02/11/2026,2026-12-30,,50.00,0.00,20.00,30.00,,Book,1,50.00,,50.00,200,No VAT,0.00,GBP,Sales invoice,Sent,Awaiting Payment",
      "Eve,eve@example.com,,,,,INV-0003,,02/11/2026,2026-12-30,,75.00,0.00,0.00,75.00,,Book,1,75.00,,75.00,200,No VAT,0.00,GBP,Sales invoice,Sent,Awaiting Payment",
      "Dan,dan@example.com,,,,,INV-0004,,02/11/2026,2026-12-30,,80.00,0.00,0.00,0.00,,Book,1,80.00,,80.00,200,No VAT,0.00,GBP,Sales invoice,,Voided",
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
      "Invoice List by Date",
      "My Shop Ltd",
      "November 2026",
      "",
      "Date,Transaction type,Num,Customer,Memo/Description,Due date,Amount,Open balance,Status",
      "2026-11-01,Invoice,1001,Ada,Consulting,2026-12-30,200.00,0.00,Paid",
      "2026-11-02,Invoice,1002,Bob,Books,2026-12-30,150.00,150.00,Overdue",
      "2026-11-03,Invoice,1003,Eve,Books,2026-12-30,90.00,40.00,Partially paid",
    ),
    toSend: [
      "--header-line=5",
      "--only=Status=Overdue",
      "--currency=GBP",
      "--map=Transaction type=",
      "--map=Num=invoiceId",
      "--map=Customer=customerName",
      "--map=Due date=expirationDate",
    ],
    due: { links: 1, sums: { GBP: "150.00" } },
    toCompare: ["--header-line=5", "--map=Num=invoiceId", "--currency=GBP"],
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
    text: lines(
      '"EXTF";700;21;"Buchungsstapel";13;20261130120000000;;"RE";"";"";1001;1;20260101;4;20261101;20261130;"";"";1;0;0;"EUR"',
      "Umsatz (ohne Soll/Haben-Kz);Soll/Haben-Kennzeichen;WKZ Umsatz;Kurs;Basis-Umsatz;WKZ Basis-Umsatz;Konto;Gegenkonto (ohne BU-Schlüssel);BU-Schlüssel;Belegdatum;Belegfeld 1;Belegfeld 2;Skonto;Buchungstext",
      '120,00;"S";"EUR";;;"";1200;10001;"";0311;"RE-1";"";;"Zahlung Ada"',
      '60,00;"S";"EUR";;;"";1200;10002;"";0411;"RE-2";"";;"Zahlung Bob"',
      '60,00;"H";"EUR";;;"";1200;10002;"";0511;"RE-2";"";;"Rückzahlung Bob"',
      '80,50;"S";"EUR";;;"";1200;10003;"";0611;"RE-3";"";;"Zahlung Eve"',
    ),
    toSend: [],
    due: undefined,
    toCompare: ["--header-line=2", "--decimal-comma"],
    paid: { "RE-1": "EUR 120.00", "RE-2": "EUR 0.00", "RE-3": "EUR 80.50" },
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
    text: lines(
      "Name,Email,Financial Status,Paid at,Fulfillment Status,Fulfilled at,Accepts Marketing,Currency,Subtotal,Shipping,Taxes,Total,Discount Code,Discount Amount,Shipping Method,Created at,Lineitem quantity,Lineitem name,Lineitem price,Billing Name,Notes,Cancelled at,Payment Method,Payment Reference,Refunded Amount,Vendor,Outstanding Balance,Id",
      "#1001,ada@example.com,paid,2026-11-01 10:00:00 +0000,fulfilled,,no,EUR,29.98,5.00,0.00,34.98,,0.00,Standard,2026-11-01 09:58:12 +0000,2,Tee,9.99,Ada,,,card,c1,0.00,Acme,0.00,5001",
      "#1001,ada@example.com,,,,,,,,,,,,,,,1,Mug,10.00,,,,,,,Acme,,",
      "#1002,bob@example.com,pending,,,,no,EUR,20.00,0.00,0.00,20.00,,0.00,Standard,2026-11-02 09:58:12 +0000,1,Mug,20.00,Bob,,,bank,,0.00,Acme,20.00,5002",
      "#1003,eve@example.com,partially_refunded,2026-11-03 10:00:00 +0000,,,no,EUR,40.00,0.00,0.00,40.00,,0.00,Standard,2026-11-03 09:58:12 +0000,1,Mug,40.00,Eve,,,card,c3,15.00,Acme,0.00,5003",
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
    text: lines(
      "Order Number,Order Status,Order Date,Customer Note,First Name (Billing),Last Name (Billing),Email (Billing),Payment Method Title,Order Subtotal Amount,Order Refund Amount,Order Total Amount,Order Total Amount (- Refund)",
      "501,Completed,2026-11-01 10:00,,Ada,A,ada@example.com,Card,30.00,0.00,35.00,35.00",
      "502,Pending payment,2026-11-01 10:00,,Bob,B,bob@example.com,Card,30.00,0.00,32.00,32.00",
      "503,Cancelled,2026-11-01 10:00,,Eve,E,eve@example.com,Card,30.00,0.00,31.00,31.00",
    ),
    toSend: [
      "--only=Order Status=Pending payment",
      "--currency=EUR",
      "--map=Order Number=invoiceId",
      "--map=First Name (Billing)=customerDetails.billingAddress.firstName",
      "--map=Last Name (Billing)=customerName",
      "--map=Email (Billing)=customerDetails.email",
      "--map=Order Total Amount=amount",
    ],
    due: { links: 1, sums: { EUR: "32.00" } },
    toCompare: ["--currency=EUR"],
    paid: { "501": "EUR 35.00" },
  },
  {
    program: "PayPal",
    text: lines(
      '"Date","Time","TimeZone","Name","Type","Status","Currency","Gross","Fee","Net","From Email Address","To Email Address","Transaction ID","Item Title","Sales Tax","Invoice Number","Custom Number","Quantity","Receipt ID","Balance","Subject","Note","Balance Impact"',
      '"01/11/2026","10:00:00","CET","Ada","Express Checkout Payment","Completed","EUR","120.00","-3.50","116.50","ada@example.com","shop@example.com","T1","","","P-1","","1","","116.50","","","Credit"',
      '"02/11/2026","10:00:00","CET","Bob","Express Checkout Payment","Pending","EUR","30.00","-1.00","29.00","bob@example.com","shop@example.com","T2","","","P-2","","1","","116.50","","","Memo"',
      '"03/11/2026","10:00:00","CET","Ada","Payment Refund","Completed","EUR","-20.00","0.60","-19.40","shop@example.com","ada@example.com","T3","","","P-1","","1","","97.10","","","Debit"',
      '"04/11/2026","10:00:00","CET","","General Withdrawal","Completed","EUR","-97.10","0.00","-97.10","shop@example.com","","T4","","","","","","","0.00","","","Debit"',
    ),
    toSend: [],
    due: undefined,
    toCompare: [],
    paid: { "P-1": "EUR 100.00" },
  },
  {
    program: "Stripe",
    text: lines(
      "id,Description,Seller Message,Created date (UTC),Amount,Amount Refunded,Currency,Captured,Converted Amount,Converted Amount Refunded,Converted Currency,Fee,Taxes On Fee,Mode,Status,Statement Descriptor,Customer ID,Customer Description,Customer Email,Invoice ID,Transfer,order_id (metadata)",
      "ch_1,Order A-1,Payment complete.,2026-11-01 10:00:00,120.00,0.00,eur,true,120.00,0.00,eur,2.00,0.00,Live,Paid,SHOP,,,ada@example.com,,po_1,A-1",
      "ch_2,Order A-2,The bank declined.,2026-11-01 10:00:00,30.00,0.00,eur,false,30.00,0.00,eur,0.00,0.00,Live,Failed,SHOP,,,bob@example.com,,,A-2",
      "ch_3,Order A-3,Payment complete.,2026-11-01 10:00:00,50.00,20.00,eur,true,50.00,20.00,eur,1.00,0.00,Live,Paid,SHOP,,,eve@example.com,,po_1,A-3",
    ),
    toSend: [],
    due: undefined,
    toCompare: ["--map=Invoice ID="],
    paid: { "A-1": "EUR 120.00", "A-3": "EUR 30.00" },
  },
  {
    program: "a German bank",
    text: lines(
      "Auftragskonto;Buchungstag;Valutadatum;Buchungstext;Verwendungszweck;Glaeubiger ID;Mandatsreferenz;Kundenreferenz (End-to-End);Beguenstigter/Zahlungspflichtiger;Kontonummer/IBAN;BIC (SWIFT-Code);Betrag;Waehrung;Info",
      "DE00;02.11.26;02.11.26;GUTSCHRIFT;SVWZ+RE-2026-0001 Kunde 1;;;NOTPROVIDED;Ada;DE01;X;120,00;EUR;Umsatz gebucht",
      "DE00;03.11.26;03.11.26;GUTSCHR. UEBERWEISUNG;Rechnung RE-2026-0002, danke;;;NOTPROVIDED;Bob;DE02;X;80,50;EUR;Umsatz gebucht",
      "DE00;04.11.26;04.11.26;ENTGELTABSCHLUSS;;;;;;DE00;X;-3,50;EUR;Umsatz gebucht",
    ),
    toSend: [],
    due: undefined,
    toCompare: ["--decimal-comma"],
    paid: { "SVWZ+RE-2026-0001 Kunde 1": "EUR 120.00", "Rechnung RE-2026-0002, danke": "EUR 80.50" },
  },
];
