/** Order numbers of a list that a person may take for that of another row or link, such as en-3 and EN-3: they are other orders. */
import { nearKey } from "../lists/order-numbers.ts";
import { ownText } from "../service/all-links.ts";
import type { RowIdentity } from "./row.ts";

type OrderRow = Pick<RowIdentity, "key" | "terminal" | "orderNumber">;

export class NearNumbers {
  /** The first row of each. */
  private readonly rows = new Map<string, OrderRow>();
  /** The number of the other row or link, by the key of the row. */
  readonly others = new Map<string, string>();

  constructor(rows: readonly OrderRow[]) {
    for (const row of rows) {
      const first = this.rowNear(row.terminal, row.orderNumber);
      if (first === undefined) this.rows.set(nearName(row.terminal, row.orderNumber), row);
      else if (first.key !== row.key) this.others.set(row.key, first.orderNumber);
    }
  }

  /** A link that the service lists, which is that of the row with this key if there is one. */
  addLink(terminal: string, orderNumber: string, key: string): void {
    const row = this.rowNear(terminal, orderNumber);
    if (row !== undefined && row.key !== key) this.others.set(row.key, ownText(orderNumber));
  }

  private rowNear(terminal: string, orderNumber: string): OrderRow | undefined {
    return this.rows.get(nearName(terminal, orderNumber));
  }
}

/** Of a number without letters and digits, nothing is nearly it. */
const nearName = (terminal: string, orderNumber: string): string =>
  `${terminal} ${nearKey(orderNumber) || `=${orderNumber}`}`;
