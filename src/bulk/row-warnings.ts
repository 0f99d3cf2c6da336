/** What is odd about the rows of a list, or about their answers: told once a kind, however many rows it is true of. */
import type { Problem } from "../domain/errors.ts";
import type { Row } from "./row.ts";

export interface RowWarning extends Problem {
  /** The first row's. */
  readonly line: number;
  /** How many rows it is true of. */
  readonly rows: number;
}

/** Kinds that are kept: whoever reads them has seen enough, and a service may name fields without end. */
const MOST = 20;

export class Warnings {
  private readonly kinds = new Map<string, RowWarning>();

  add({ line }: Row, warnings: readonly Problem[]): void {
    for (const { at, message } of warnings) {
      const kind = kindOf(at, message);
      const known = this.kinds.get(kind) ?? { at, message, line, rows: 0 };
      if (known.rows > 0 || this.kinds.size < MOST) this.kinds.set(kind, { ...known, rows: known.rows + 1 });
    }
  }

  list(): RowWarning[] {
    return [...this.kinds.values()];
  }
}

/** The value that a message ends with, in brackets, is the row's own. */
const kindOf = (at: string, message: string): string => `${at} ${message.replace(/ \([^()]*\)$/, "")}`;
