/** The ledger's tables, and the status of a link in SQL. */

/**
 * One step a version: a step that was released never changes, and a further one takes ledgers to the next version.
 *
 * `outcome`, `at` (milliseconds since 1970, by the sandbox's clock), `currency` and `amount` (as `scaledAmount` has it) repeat what the
 * record of a payment has, for the filters and sums of lists: `payments_at` and `deliveries_at` have all that these ask of many
 * rows, so that no records are read.
 */
export const LEDGER_STEPS: readonly string[] = [
  `
  CREATE TABLE links (
    seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, request TEXT NOT NULL,
    invoiceId TEXT AS (json_extract(request, '$.invoiceId')) STORED,
    reusable INTEGER NOT NULL AS (json_type(request, '$.linkOptions') IS NOT NULL) STORED,
    createdDate TEXT NOT NULL, expirationDate TEXT NOT NULL, searched TEXT NOT NULL,
    viewedDate TEXT, attemptedDate TEXT, paidDate TEXT, cancelledDate TEXT);
  CREATE INDEX links_created ON links (createdDate);
  CREATE INDEX links_paid ON links (invoiceId) WHERE paidDate IS NOT NULL AND NOT reusable;
  CREATE TABLE payments (
    seq INTEGER PRIMARY KEY, uti TEXT NOT NULL UNIQUE, linkId TEXT NOT NULL,
    outcome TEXT NOT NULL, at INTEGER, currency TEXT NOT NULL, amount INTEGER,
    searched TEXT NOT NULL, record TEXT NOT NULL, form TEXT);
  CREATE INDEX payments_link ON payments (linkId, seq);
  CREATE INDEX payments_at ON payments (at, outcome, currency, amount);
  CREATE UNIQUE INDEX payments_form ON payments (linkId, form) WHERE form IS NOT NULL;
  CREATE TABLE deliveries (
    seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, linkId TEXT NOT NULL, uti TEXT NOT NULL,
    state TEXT NOT NULL, outcome TEXT NOT NULL, at INTEGER,
    url TEXT NOT NULL, searched TEXT NOT NULL, body BLOB NOT NULL,
    attempts INTEGER NOT NULL, tries INTEGER NOT NULL, due INTEGER NOT NULL);
  CREATE INDEX deliveries_due ON deliveries (due, seq) WHERE state = 'pending';
  CREATE INDEX deliveries_failed ON deliveries (seq) WHERE state = 'failed';
  CREATE INDEX deliveries_at ON deliveries (at, state, outcome);
  CREATE INDEX deliveries_uti ON deliveries (uti, seq);
  CREATE TABLE attempts (
    deliveryId TEXT NOT NULL, number INTEGER NOT NULL, at TEXT NOT NULL, signedAt TEXT NOT NULL,
    headers TEXT NOT NULL, verdict TEXT, status INTEGER, answerHeaders TEXT NOT NULL, answer TEXT NOT NULL,
    detail TEXT NOT NULL, duration INTEGER,
    PRIMARY KEY (deliveryId, number)) WITHOUT ROWID;
  CREATE TABLE clock (ahead INTEGER NOT NULL);`,
];

/** `linkStatusAt` as SQL; its parameter is the current time. */
export const LINK_STATUS = `CASE
  WHEN cancelledDate IS NOT NULL THEN 'cancelled'
  WHEN paidDate IS NOT NULL AND NOT reusable THEN 'paid'
  WHEN julianday(expirationDate) <= julianday(?) THEN 'expired'
  WHEN attemptedDate IS NOT NULL AND paidDate IS NULL THEN 'attempted'
  WHEN viewedDate IS NULL THEN 'active'
  ELSE 'viewed' END`;
