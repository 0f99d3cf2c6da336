/** The tables of the sandbox's database, with one migration for each version. */

/** Members of a link's request, written as in the index of invoices. */
export const INVOICE_ID = "json_extract(request, '$.invoiceId')";
export const TERMINAL_ID = "json_extract(request, '$.terminalId')";

export const SANDBOX_MIGRATIONS = [
  `CREATE TABLE links (
     seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, request TEXT NOT NULL,
     created TEXT NOT NULL, expires TEXT NOT NULL,
     viewed TEXT, attempted TEXT, paid TEXT, cancelled TEXT);
   CREATE TABLE payments (
     seq INTEGER PRIMARY KEY, uti TEXT NOT NULL UNIQUE, link TEXT NOT NULL,
     reference TEXT NOT NULL, outcome TEXT NOT NULL, record TEXT NOT NULL);
   CREATE INDEX payments_reference ON payments (reference);
   CREATE TABLE deliveries (
     seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, link TEXT NOT NULL, uti TEXT NOT NULL,
     url TEXT NOT NULL, origin TEXT NOT NULL, body BLOB NOT NULL, state TEXT NOT NULL,
     attempts INTEGER NOT NULL, tries INTEGER NOT NULL, due INTEGER NOT NULL);
   CREATE INDEX deliveries_due ON deliveries (due, seq) WHERE state = 'waiting';
   CREATE INDEX deliveries_origin ON deliveries (origin, due, seq) WHERE state = 'waiting';
   CREATE TABLE attempts (
     delivery TEXT NOT NULL, number INTEGER NOT NULL, at TEXT NOT NULL, headers TEXT NOT NULL,
     base TEXT NOT NULL, status INTEGER, answer TEXT NOT NULL, detail TEXT NOT NULL,
     PRIMARY KEY (delivery, number)) WITHOUT ROWID;`,
  `CREATE INDEX links_invoice ON links (${INVOICE_ID}, ${TERMINAL_ID}) WHERE ${INVOICE_ID} IS NOT NULL;`,
  `ALTER TABLE attempts ADD COLUMN answer_headers TEXT NOT NULL DEFAULT '[]';
   ALTER TABLE attempts ADD COLUMN duration INTEGER;
   ALTER TABLE deliveries ADD COLUMN failed INTEGER AS (state = 'failed') VIRTUAL;
   CREATE INDEX deliveries_listed ON deliveries (failed, seq);
   CREATE INDEX deliveries_link ON deliveries (link, failed, seq);
   CREATE INDEX deliveries_uti ON deliveries (uti, failed, seq);
   CREATE INDEX payments_link ON payments (link, seq);`,
  `ALTER TABLE payments ADD COLUMN customer TEXT NOT NULL DEFAULT '{}';
   ALTER TABLE payments ADD COLUMN form TEXT;
   CREATE UNIQUE INDEX payments_form ON payments (link, form) WHERE form IS NOT NULL;`,
] as const;
