/** A service behind a proxy of the test: the sandbox or the documented one, whose answers the test replaces, loses or rewrites. */
import { createServer } from "node:http";
import { mkdirSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { startSandboxCommand } from "./background-command.ts";
import { startDocumentedService, SERVICE_TOKEN } from "./documented-service.ts";
import { storeProfiles, temporaryHome } from "./home.ts";
import { MERCHANT } from "./merchant.ts";
import { listenOnFreePort } from "./ports.ts";

/** In place of the answer; with `lost`, the service gets the request, and the connection closes. */
type InPlace = { readonly status: number; readonly page?: string } | "lost";

export interface Behaviour {
  /** What becomes of a request: `POST /v1/payment-links/L1/cancel` with its body. Undefined for the service's own answer. */
  answer?: ((request: string, body: string) => InPlace | undefined) | undefined;
  /** A text of the service's own answers, and what stands in its place. */
  rewritten?: readonly [from: RegExp, to: string] | undefined;
}

export interface LinkThere {
  readonly id: string;
  readonly invoiceId?: string;
  readonly amount: number;
  readonly status: string;
  readonly expirationDate: string;
}

/** Where each service is, and how a customer pays there. */
const SERVICES = {
  "the sandbox": async () => {
    const { url } = await startSandboxCommand(temporaryHome());
    const pay = async (id: string): Promise<void> => {
      const body = new URLSearchParams({ outcome: "approved" });
      await fetch(`${url}pay?r=${id}`, { method: "POST", headers: { Accept: "application/json" }, body });
    };
    return { url: url.replace(/\/$/, ""), token: MERCHANT.token, pay };
  },
  "the documented service": async () => {
    const { url, tokenUrl, tokenForm, pay } = await startDocumentedService();
    await fetch(tokenUrl, { method: "POST", body: tokenForm });
    return { url, token: SERVICE_TOKEN, pay: async (id: string) => void (await pay(id, "approved")) };
  },
} as const;

export const SERVICE_NAMES = Object.keys(SERVICES) as (keyof typeof SERVICES)[];

export async function startProxiedService(name: keyof typeof SERVICES) {
  const { url, token, pay } = await SERVICES[name]();
  const behaviour: Behaviour = {};
  const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      const { method = "", url: target = "" } = request;
      const body = Buffer.concat(parts).toString();
      const inPlace = behaviour.answer?.(`${method} ${target}`, body);
      if (typeof inPlace === "object") {
        const { status, page } = inPlace;
        response.writeHead(status, { "Content-Type": page === undefined ? "application/json" : "text/html" });
        return response.end(page ?? '{"message":"no"}');
      }
      const sent = fetch(url + target, { method, headers, ...(body === "" ? {} : { body }) });
      void sent.then(async (reply) => {
        const text = await reply.text();
        if (inPlace === "lost") return response.destroy();
        const [from, to] = behaviour.rewritten ?? [/^$/, ""];
        response.writeHead(reply.status, { "Content-Type": reply.headers.get("Content-Type") ?? "" });
        return response.end(text.replace(from, to));
      });
    });
  });
  const proxy = `http://127.0.0.1:${await listenOnFreePort(server)}`;
  const call = async (method: string, path: string, body?: object): Promise<unknown> => {
    const reply = await fetch(`${url}/v1/payment-links${path}`, {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status} ${await reply.text()}`);
    return reply.json();
  };
  const { terminalId } = MERCHANT;
  const links = async (): Promise<readonly LinkThere[]> => {
    const [from, to] = [-86_400_000, 86_400_000].map((age) => new Date(Date.now() + age).toISOString());
    const query = new URLSearchParams({ terminalId, from: from ?? "", to: to ?? "", size: "5000" });
    const reply = (await call("GET", `?${query.toString()}`)) as { records: LinkThere[] | null };
    return reply.records ?? [];
  };
  const open = async (): Promise<readonly LinkThere[]> =>
    (await links()).filter(
      ({ status, expirationDate }) =>
        !["paid", "cancelled", "expired"].includes(status) && Date.parse(expirationDate) > Date.now(),
    );
  /** The link of an order that can be paid. */
  const linkOf = async (invoiceId: string): Promise<string> => {
    const [link, ...others] = (await open()).filter((one) => one.invoiceId === invoiceId);
    if (link === undefined || others.length > 0) throw new Error(`${invoiceId} does not have one link.`);
    return link.id;
  };
  return {
    behaviour,
    links,
    linkOf,
    /** The amounts of the links of each order that can be paid. */
    payable: async (): Promise<Readonly<Record<string, readonly number[]>>> => {
      const found: Record<string, number[]> = {};
      for (const { invoiceId = "", amount } of await open()) (found[invoiceId] ??= []).push(amount);
      return found;
    },
    pay: async (invoiceId: string) => pay(await linkOf(invoiceId)),
    cancel: async (invoiceId: string) => void (await call("POST", `/${await linkOf(invoiceId)}/cancel`)),
    expire: async (...orders: readonly string[]): Promise<void> => {
      const expirationDate = new Date(Date.now() + 2_000).toISOString().replace(/\.\d+/, "");
      for (const order of orders) await call("PATCH", `/${await linkOf(order)}`, { expirationDate });
      while (Date.now() <= Date.parse(expirationDate) + 1_000) await pause(100);
    },
    create: async (invoiceId: string, amount: number): Promise<void> => {
      const expirationDate = "2099-01-01T00:00:00Z";
      const request = { amount, currency: "EUR", terminalId, customerName: "Ada", invoiceId, expirationDate };
      await call("POST", "", request);
    },
    /** The home of a machine that knows the account and nothing else. */
    machine: (): string => {
      const home = temporaryHome();
      mkdirSync(home, { recursive: true });
      const account = { baseUrl: proxy, token, terminalId, currency: "EUR", customerName: "Ada" };
      storeProfiles(home, { shop: account });
      return home;
    },
  };
}
