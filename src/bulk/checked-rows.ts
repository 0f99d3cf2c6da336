/** What a run keeps of the rows that it has checked: the key of each, and little else. The rest is read again when needed. */
import type { Problem } from "../domain/errors.ts";
import { MadeRows, type Rows } from "../lists/packed-rows.ts";
import type { ResultLink, RowToPlan } from "./plan.ts";
import type { ListRow } from "../lists/read-list.ts";
import type { RowIdentity, RowRequest } from "./row.ts";

export interface CheckedRow extends RowToPlan {
  readonly row: ListRow;
  readonly problems: readonly Problem[];
  /** Where it goes; undefined for a row that cannot be sent. */
  readonly terminal: string | undefined;
}

interface Kept {
  readonly identity: RowIdentity | undefined;
  readonly own: ResultLink | undefined;
  readonly isValid: boolean;
}

export class CheckedRows extends MadeRows<CheckedRow> {
  readonly keys: (string | undefined)[] = [];
  readonly invalid = new Set<number>();
  readonly own = new Map<number, ResultLink>();
  readonly terminals: (string | undefined)[] = [];
  /** Each of them once, so that a million rows share one text. */
  private readonly terminalNames = new Map<string, string>();
  private readonly rows: Rows<ListRow>;
  private readonly requestOf: (row: ListRow) => RowRequest;

  constructor(rows: Rows<ListRow>, requestOf: (row: ListRow) => RowRequest) {
    super();
    this.rows = rows;
    this.requestOf = requestOf;
  }

  get length(): number {
    return this.keys.length;
  }

  /** Keeps the next row of the list. */
  add({ identity, own, isValid }: Kept): void {
    if (own !== undefined) this.own.set(this.length, own);
    if (!isValid) this.invalid.add(this.length);
    this.terminals.push(identity && this.shared(identity.terminal));
    this.keys.push(identity?.key);
  }

  protected make(place: number): CheckedRow | undefined {
    return place in this.keys ? new KeptRow(this, place) : undefined;
  }

  readAgain(at: number): { readonly row: ListRow; readonly request: RowRequest } {
    const row = this.rows.at(at);
    if (row === undefined) throw new RangeError(`The list has no row ${at}.`);
    return { row, request: this.requestOf(row) };
  }

  private shared(terminal: string): string {
    const known = this.terminalNames.get(terminal) ?? terminal;
    this.terminalNames.set(known, known);
    return known;
  }
}

class KeptRow implements CheckedRow {
  private readonly kept: CheckedRows;
  private readonly at: number;
  private found: ReturnType<CheckedRows["readAgain"]> | undefined;
  private knownIdentity: RowIdentity | undefined;

  constructor(kept: CheckedRows, at: number) {
    this.kept = kept;
    this.at = at;
  }

  get key(): string | undefined {
    return this.kept.keys[this.at];
  }

  get terminal(): string | undefined {
    return this.kept.terminals[this.at];
  }

  get own(): ResultLink | undefined {
    return this.kept.own.get(this.at);
  }

  get isValid(): boolean {
    return !this.kept.invalid.has(this.at);
  }

  get row(): ListRow {
    return this.again.row;
  }

  get problems(): readonly Problem[] {
    return this.again.request.problems;
  }

  get identity(): RowIdentity | undefined {
    this.knownIdentity ??= this.again.request.identity();
    return this.knownIdentity;
  }

  private get again(): ReturnType<CheckedRows["readAgain"]> {
    this.found ??= this.kept.readAgain(this.at);
    return this.found;
  }
}
