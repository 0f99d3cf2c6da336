/** What the parts of `paylink bulk` hand to one another: an open list, how it is sent, and the claim on its journal. */
import type { Checked } from "../../bulk/check-rows.ts";
import type { Input } from "../../bulk/input.ts";
import type { Ledger } from "../../bulk/row-ledger.ts";
import type { BuildRequest } from "../../bulk/row-request.ts";
import type { Rows } from "../../bulk/rows.ts";
import type { RowWarning } from "../../bulk/row-warnings.ts";
import type { Context } from "../../context.ts";
import { PaylinkError } from "../../domain/errors.ts";
import { renderRowWarning, rowsOf } from "../../render/bulk-progress.ts";
import { safeText } from "../../render/safe-text.ts";
import type { InForce } from "../../store/in-force.ts";
import type { BulkFlags } from "./command.ts";
import type { BulkOptions } from "./options.ts";
import type { Reporter } from "./reporter.ts";

/** A list that is open: its rows, how requests come of them, and who is told. */
export interface List {
  readonly input: Input;
  readonly rows: Rows;
  readonly build: BuildRequest;
  readonly reporter: Reporter;
}

export interface SendParts extends BulkOptions {
  readonly settings: InForce;
  /** Where journals are kept. */
  readonly folder: string;
  readonly output: string;
  readonly flags: BulkFlags;
}

/** A journal that is ours alone for this run, with what its list asks for today. */
export interface Claim {
  readonly ledger: Ledger;
  /** Where the journal stands. */
  readonly journal: string;
  readonly checked: Checked;
  /** Rows that had their link before this run. */
  readonly earlier: number;
  readonly release: () => Promise<void>;
}

/** How a run ended. */
export interface End {
  /** What ended it before its last row; undefined where nothing did. */
  readonly reason: unknown;
  /** How the service's answers broke the specification. */
  readonly breaches: readonly RowWarning[];
}

/** A column that is misspelled would else be left out in silence. */
export function noteUnsent({ columns }: Checked, { out }: Context): void {
  const unsent = [...columns].flatMap(([name, sent]) => (sent ? [] : [safeText(name)]));
  if (unsent.length > 0) out.note(`Kept for the results, and not sent: ${unsent.join(", ")}`);
}

export function noteWarnings(warnings: readonly RowWarning[], { out }: Context): void {
  for (const warning of warnings)
    out.note(renderRowWarning(warning, warning.line, warning.rows, out.notePaint));
}

export function badRows({ asks, invalid }: Checked): PaylinkError {
  return new PaylinkError(
    "usage",
    `${rowsOf(invalid.size)} of ${asks.length} cannot be sent. Nothing was sent.`,
    {
      hint: "Mend what is named above, or send the others with --skip-invalid.",
      details: { rows: asks.length, invalid: invalid.size },
    },
  );
}
