/** What is odd about the rows of a list and sent all the same: told once a kind, however many rows it is true of. */
import type { Problem } from "../domain/errors.ts";
import type { Row } from "./row.ts";

export interface RowWarning extends Problem {
  /** The first row's. */
  readonly line: number;
  /** How many rows it is true of. */
  readonly rows: number;
}

export class Warnings {
  private readonly kinds = new Map<string, RowWarning>();

  add({ line }: Row, warnings: readonly Problem[]): void {
    for (const { at, message } of warnings) {
      const kind = `${at} ${message}`;
      const known = this.kinds.get(kind) ?? { at, message, line, rows: 0 };
      this.kinds.set(kind, { ...known, rows: known.rows + 1 });
    }
  }

  list(): RowWarning[] {
    return [...this.kinds.values()];
  }
}
