/** The service of a simulated world: its links, and everything that can become of a request on its way there and back. */
import { SendError } from "../../../src/http/exchange.ts";
import type { HttpReply, HttpRequest } from "../../../src/http/message.ts";

/** What becomes of a request. */
export interface Fate {
  /** Whether it has its effect. */
  readonly acts: boolean;
  /** Whether what comes back tells that. */
  readonly isClear: boolean;
  /** A reply that is not the service's own one; an error in place of a reply; or nothing at all. */
  readonly end: "reply" | "silence" | SendError | HttpReply;
}

const text = (status: number, body: string, ...headers: (readonly [string, string])[]): HttpReply => ({
  status,
  headers: [["Content-Type", "application/json"], ...headers],
  body: Buffer.from(body),
});

const RESET = new SendError("the connection was closed", true);
const NOT_REACHED = new SendError("connection refused", false);

export const FATES = {
  "is done": { acts: true, isClear: true, end: "reply" },
  "is done, and its answer is lost": { acts: true, isClear: false, end: RESET },
  "is done, and never answered": { acts: true, isClear: false, end: "silence" },
  "is done, and answered with 500": { acts: true, isClear: false, end: text(500, "") },
  "is done, and cut short by a gateway (504)": {
    acts: true,
    isClear: false,
    end: text(504, "<h1>Gateway Timeout</h1>"),
  },
  "is done, and cut short by a gateway (503)": {
    acts: true,
    isClear: false,
    end: text(503, "<h1>Unavailable</h1>"),
  },
  "is done, and cut short by a gateway (408)": { acts: true, isClear: false, end: text(408, "") },
  "is done, and answered without the link": {
    acts: true,
    isClear: false,
    end: text(200, '{"result":"done"}'),
  },
  "is lost": { acts: false, isClear: false, end: RESET },
  "is never answered": { acts: false, isClear: false, end: "silence" },
  "is answered with 500": { acts: false, isClear: false, end: text(500, "") },
  "is answered with 408": { acts: false, isClear: false, end: text(408, "") },
  "is refused": { acts: false, isClear: true, end: text(422, '{"code":30,"message":"not this one"}') },
  "is too early": { acts: false, isClear: true, end: text(503, '{"code":503,"message":"not now"}') },
  "is too much": { acts: false, isClear: true, end: text(429, "", ["Retry-After", "3"]) },
  "does not arrive": { acts: false, isClear: true, end: NOT_REACHED },
} satisfies Record<string, Fate>;

export type FateName = keyof typeof FATES;

export interface Link {
  readonly id: string;
  /** The order, or the customer and the amount where a row has no number. */
  readonly key: string;
  readonly orderNumber: string | undefined;
  readonly amount: string;
  status: "active" | "paid" | "cancelled" | "expired";
  readonly json: Readonly<Record<string, unknown>>;
}

interface Asked {
  readonly invoiceId?: string;
  readonly customerName: string;
  readonly amount: number;
  readonly currency?: string;
}

/** Which payment a request is for. */
export function keyOfRequest({ body }: HttpRequest): string {
  const { invoiceId, customerName, amount } = JSON.parse(Buffer.from(body).toString()) as Asked;
  return invoiceId ?? `${customerName} ${amount}`;
}

export const isCreation = ({ method, target }: HttpRequest): boolean =>
  method === "POST" && !target.includes("/cancel");

const CREATED = Date.UTC(2026, 10, 21, 10);

export class OddService {
  readonly links: Link[] = [];
  readonly #refusesDuplicates: boolean;

  constructor(refusesDuplicates: boolean) {
    this.#refusesDuplicates = refusesDuplicates;
  }

  /** Links of a payment that somebody may pay, or has paid. */
  openLinks(key: string): readonly Link[] {
    return this.links.filter(
      (link) => link.key === key && link.status !== "cancelled" && link.status !== "expired",
    );
  }

  /** Does what a request asks for. */
  act(request: HttpRequest): HttpReply {
    const { method, target } = request;
    const { pathname } = new URL(target, "http://service.test");
    if (isCreation(request)) return this.#create(request);
    const [, , , id, action] = pathname.split("/");
    if (id === undefined) return this.#list(target);
    const link = this.links.find((one) => one.id === decodeURIComponent(id));
    if (link === undefined) return text(404, '{"code":275,"message":"Invalid payment link ID"}');
    if (method === "POST" && action === "cancel") {
      if (link.status !== "active")
        return text(422, JSON.stringify({ code: 30, message: `The link is ${link.status}` }));
      link.status = "cancelled";
    }
    return text(200, JSON.stringify(shown(link)));
  }

  #create(request: HttpRequest): HttpReply {
    const asked = JSON.parse(Buffer.from(request.body).toString()) as Asked;
    const key = keyOfRequest(request);
    if (this.#refusesDuplicates && asked.invoiceId !== undefined && this.openLinks(key).length > 0)
      return text(422, '{"code":31,"message":"There is a link of this order"}');
    return text(200, JSON.stringify(shown(this.#make(asked, key))));
  }

  /** A link of an order that no list asks for. */
  add(invoiceId: string, amount: number): Link {
    return this.#make({ invoiceId, customerName: "Ada", amount, currency: "EUR" }, invoiceId);
  }

  #make(asked: Asked, key: string): Link {
    const { invoiceId: orderNumber, amount } = asked;
    const number = this.links.length + 1;
    const id = `L${number}`;
    const events = { viewedDate: null, attemptedDate: null, paidDate: null, cancelledDate: null };
    const createdDate = new Date(CREATED + number * 1000).toISOString();
    const json = { ...asked, ...events, id, url: `https://pay.test/${id}`, createdDate };
    const link: Link = { id, key, orderNumber, amount: String(amount), status: "active", json };
    this.links.push(link);
    return link;
  }

  /** All on the first page, whatever the period. */
  #list(target: string): HttpReply {
    const isFirst = new URL(target, "http://service.test").searchParams.get("page") === "1";
    const records = isFirst ? this.links.map(shown) : [];
    return text(200, JSON.stringify({ totalCount: records.length, records }));
  }
}

const shown = ({ json, status }: Link): object => ({ ...json, status });
