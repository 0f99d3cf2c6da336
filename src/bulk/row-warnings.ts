/** Collects warnings about rows or their answers: one for each kind, with the number of rows. */
import type { Problem } from "../domain/errors.ts";
import type { Row } from "./row.ts";

export interface RowWarning extends Problem {
  /** The line of the first row. */
  readonly line: number;
  /** The number of rows with this warning. */
  readonly rows: number;
}

/** The most kinds to keep: a service may name any number of fields. */
const MAX_KINDS = 20;

export class Warnings {
  private readonly kinds = new Map<string, RowWarning>();

  add({ line }: Row, warnings: readonly Problem[]): void {
    for (const { at, message } of warnings) {
      const kind = kindOf(at, message);
      const known = this.kinds.get(kind) ?? { at, message, line, rows: 0 };
      if (known.rows > 0 || this.kinds.size < MAX_KINDS)
        this.kinds.set(kind, { ...known, rows: known.rows + 1 });
    }
  }

  list(): RowWarning[] {
    return [...this.kinds.values()];
  }
}

/** Without the value in brackets at the end of a message, which differs from row to row. */
const kindOf = (at: string, message: string): string => `${at} ${message.replace(/ \([^()]*\)$/, "")}`;
