/** The lists that are sent in a simulated world, read and checked once. */
import { checkRows, type Checked } from "../../../src/bulk/read.ts";
import { Columns } from "../../../src/lists/columns.ts";
import { readList } from "../../../src/lists/read-list.ts";
import type { RowContext } from "../../../src/bulk/row.ts";
import { requestBuilder } from "../../../src/service/request.ts";
import { resolveSettings } from "../../../src/settings/resolved-settings.ts";

export const SETTINGS = resolveSettings({
  env: {
    PAYLINK_BASE_URL: "https://service.test",
    PAYLINK_TOKEN: "token",
    PAYLINK_TERMINAL_ID: "1",
    PAYLINK_CALLBACK_URL: "https://shop.test/webhooks",
  },
});

interface Order {
  /** Undefined for a row that only its content tells from others. */
  readonly number?: string;
  readonly customer: string;
  readonly amount: number;
}

const numbered = (at: number, amount: number): Order => ({ number: `O${at}`, customer: "Ada", amount });
const other = (at: number): Order => ({ customer: `Ben ${at}`, amount: 50 + at });

const ORDERS = [numbered(1, 10), numbered(2, 20), numbered(3, 30), other(1), numbered(4, 40), other(2)];

/** The whole list comes first. */
const LISTS = [
  ORDERS,
  ORDERS.toReversed(),
  ORDERS.slice(0, 3),
  ORDERS.slice(2),
  // Prices that were corrected.
  ORDERS.map((order, at) => (at < 2 ? { ...order, amount: order.amount + 1 } : order)),
];

export interface CheckedList extends Pick<Checked, "rows"> {
  readonly rowContext: RowContext;
  /** What each row pays for, in the words of the service. */
  readonly keys: readonly string[];
  readonly amounts: readonly number[];
}

async function checked(orders: readonly Order[]): Promise<CheckedList> {
  const lines = orders.map(({ number = "", customer, amount }) => `${number},${customer},${amount}\n`);
  const columns = new Columns();
  const list = await readList(Buffer.from(`invoiceId,customerName,amount\n${lines.join("")}`), columns);
  const rowContext: RowContext = {
    build: requestBuilder({ flags: { currency: "EUR" }, base: undefined, settings: SETTINGS }),
    service: "https://service.test",
    currency: undefined,
    defaults: new Set(),
    list,
  };
  const { signal } = new AbortController();
  const parts = {
    list,
    columns,
    context: rowContext,
    now: new Date(0),
    only: [],
    signal,
    checked: () => undefined,
  };
  return {
    ...(await checkRows(parts)),
    rowContext,
    keys: orders.map(({ number, customer, amount }) => number ?? `${customer} ${amount}`),
    amounts: orders.map(({ amount }) => amount),
  };
}

export const CHECKED_LISTS: readonly CheckedList[] = await Promise.all(LISTS.map(checked));
