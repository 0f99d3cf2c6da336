/** A service that creates links and counts them by invoice, and that fails in whatever way a test asks for. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { listenOnFreePort } from "./ports.ts";

/**
 * `create otherwise` makes a link over another amount, `answer again` repeats the last answer, as a cache does; `created …` fails after
 * the link was created.
 */
export type Fate =
  | "create"
  | "create otherwise"
  | "answer again"
  | "created without a URL"
  | "created and reset"
  | "created and silent"
  | "reset"
  | { readonly status: number; readonly retryAfter?: number };

export interface LinkService {
  readonly url: string;
  /** Links by invoice. */
  readonly links: Map<string, number>;
  /** Every link that was created, newest last: a test may change its status. */
  readonly created: ServiceLink[];
  /** The requests that list, show or cancel links. */
  readonly others: string[];
  /** Requests to create links, by invoice, in the order of their arrival. */
  readonly arrivals: string[];
  /** What is sent for the account: environment variables. */
  readonly env: Readonly<Record<string, string>>;
}

interface Arrival {
  readonly invoiceId: string;
  /** How many requests arrived before. */
  readonly before: number;
}

interface ServiceLink {
  readonly id: string;
  readonly invoiceId: string;
  status: string;
  readonly json: Readonly<Record<string, unknown>>;
}

const CREATED = "2026-01-31T12:00:00Z";

export async function startLinkService(
  fateOf: (arrival: Arrival) => Fate | Promise<Fate>,
  {
    listStatus = () => 200,
    cancelStatus = () => 200,
    listed = () => undefined,
  }: {
    /** What a cancellation is answered with: 504 once it is done, another one in its place. */
    readonly cancelStatus?: () => number;
    readonly listStatus?: () => number;
    /** Called after a page was listed. */
    readonly listed?: (links: readonly ServiceLink[]) => void;
  } = {},
): Promise<LinkService> {
  const links = new Map<string, number>();
  const createdLinks: ServiceLink[] = [];
  const others: string[] = [];
  const arrivals: string[] = [];
  const create = (invoiceId: string, request: object): string => {
    const number = (links.get(invoiceId) ?? 0) + 1;
    links.set(invoiceId, number);
    const id = `${invoiceId}.${number}`;
    const events = { viewedDate: null, attemptedDate: null, paidDate: null, cancelledDate: null };
    const added = { id, url: `https://pay.example/pay?r=${id}`, status: "active", createdDate: CREATED };
    const json = { ...request, ...events, ...added };
    createdLinks.push({ id, invoiceId, status: "active", json });
    return JSON.stringify(json);
  };
  const shown = ({ json, status }: ServiceLink): object => ({ ...json, status });
  /** Lists every link on the first page, whatever the period; cancels what is neither paid nor cancelled. */
  const read = (method: string, target: string): [status: number, body: object] => {
    others.push(`${method} ${target.replace(/\?.*/, "")}`);
    const url = new URL(target, "http://service");
    const [, , , id, action] = url.pathname.split("/");
    if (id === undefined) {
      const records = url.searchParams.get("page") === "1" ? createdLinks.map(shown) : [];
      listed(createdLinks);
      return [listStatus(), { totalCount: records.length, records }];
    }
    const link = createdLinks.find((one) => one.id === decodeURIComponent(id));
    if (link === undefined) return [404, { code: 275, message: "Invalid payment link ID" }];
    if (action === "cancel") {
      const status = cancelStatus();
      if (status === 504) link.status = "cancelled";
      if (status !== 200) return [status, {}];
      if (["paid", "cancelled", "expired"].includes(link.status))
        return [422, { code: 30, message: `The payment link is ${link.status}` }];
      link.status = "cancelled";
    }
    return [200, shown(link)];
  };
  const answer = async (
    request: object,
    incoming: IncomingMessage,
    outgoing: ServerResponse,
  ): Promise<void> => {
    const invoiceId = "invoiceId" in request ? String(request.invoiceId) : "";
    const before = arrivals.length;
    arrivals.push(invoiceId);
    const fate = await fateOf({ invoiceId, before });
    if (typeof fate === "object") {
      const wait = fate.retryAfter === undefined ? {} : { "Retry-After": String(fate.retryAfter) };
      // The words of the service itself: a gateway's 503 would leave the outcome open.
      outgoing
        .writeHead(fate.status, wait)
        .end(fate.status === 503 ? '{"code":503,"message":"not now"}' : "");
    } else if (fate === "create")
      outgoing.writeHead(200, { "Content-Type": "application/json" }).end(create(invoiceId, request));
    else if (fate === "create otherwise")
      outgoing
        .writeHead(200, { "Content-Type": "application/json" })
        .end(create(invoiceId, { ...request, amount: 1 }));
    else if (fate === "answer again")
      outgoing
        .writeHead(200, { "Content-Type": "application/json" })
        .end(JSON.stringify(createdLinks.at(-1)?.json));
    else if (fate === "created without a URL") {
      create(invoiceId, request);
      outgoing.writeHead(200, { "Content-Type": "application/json" }).end('{"result":"done"}');
    } else {
      if (fate !== "reset") create(invoiceId, request);
      if (fate !== "created and silent") incoming.socket.destroy();
    }
  };
  const server = createServer((incoming, outgoing) => {
    const chunks: Buffer[] = [];
    incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
    incoming.on("end", () => {
      const { method = "", url: target = "" } = incoming;
      if (method === "GET" || target.endsWith("/cancel")) {
        const [status, reply] = read(method, target);
        outgoing.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(reply));
        return;
      }
      const body: unknown = JSON.parse(Buffer.concat(chunks).toString());
      void answer(typeof body === "object" && body !== null ? body : {}, incoming, outgoing);
    });
  });
  const url = `http://127.0.0.1:${await listenOnFreePort(server)}`;
  return {
    url,
    links,
    arrivals,
    created: createdLinks,
    others,
    env: {
      PAYLINK_BASE_URL: url,
      PAYLINK_TOKEN: "t",
      PAYLINK_TERMINAL_ID: "1",
      PAYLINK_CALLBACK_URL: "https://shop.example/webhooks",
    },
  };
}
