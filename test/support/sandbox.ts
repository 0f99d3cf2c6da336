/** An in-process sandbox for tests: a ledger on disk, a stopped clock, and a function as its network. */
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { LISTENER_URL, SANDBOX_URL } from "../../src/domain/known-services.ts";
import type { SendOptions } from "../../src/http/exchange.ts";
import type { HttpRequest } from "../../src/http/message.ts";
import { createClock } from "../../src/sandbox/clock.ts";
import { dashboardCookie } from "../../src/sandbox/access.ts";
import { createSandbox } from "../../src/sandbox/server.ts";
import { AS_THE_SERVICE, type SandboxSetup } from "../../src/sandbox/setup.ts";
import { createSigningKeys } from "../../src/sandbox/signing-keys.ts";
import { openLedger } from "../../src/sandbox/store/ledger.ts";
import { temporaryHome } from "./home.ts";
import { MERCHANT } from "./merchant.ts";

export const NOW = new Date("2026-01-31T12:00:00.000Z");
export const ORIGIN = SANDBOX_URL;
export const CALLBACK = `${LISTENER_URL}paid`;
export const FAILURE_CALLBACK = `${LISTENER_URL}failed`;

export interface Answer {
  readonly status: number;
  readonly header: (name: string) => string | undefined;
  readonly text: string;
  readonly json: () => Record<string, unknown>;
}

export type Fields = Readonly<Record<string, string>>;

interface RequestOptions {
  readonly headers?: Fields;
  readonly body?: string;
  readonly authority?: string;
}

export interface TestSandboxOptions extends Partial<Omit<SandboxSetup, "clock" | "send">> {
  /** The file of the ledger. */
  readonly path?: string;
  /** The status that receivers answer. */
  readonly answer?: (request: HttpRequest, count: number) => Promise<number> | number;
}

export type TestSandbox = ReturnType<typeof openTestSandbox>;

export function openTestSandbox({ path, answer = () => 200, ...setup }: TestSandboxOptions = {}) {
  const posted: HttpRequest[] = [];
  /** How each was posted. */
  const options: SendOptions[] = [];
  const ledger = setup.ledger ?? openLedger(path ?? join(temporaryHome(), "sandbox.db"));
  const clock = createClock(() => NOW, NOW);
  const now = (): Date => clock.now();
  const sandbox = createSandbox({
    ...AS_THE_SERVICE,
    merchant: MERCHANT,
    keys: createSigningKeys(MERCHANT, () => MERCHANT, now),
    newId: () => crypto.randomUUID(),
    machineNow: () => NOW,
    observe: () => undefined,
    faulted: (error) => {
      throw error;
    },
    ...setup,
    ledger,
    clock,
    send: async (webhook, how = {}) => {
      options.push(how);
      const status = await answer(webhook, posted.push(webhook));
      return { status, headers: [], body: new Uint8Array() };
    },
  });
  sandbox.start();
  onTestFinished(() => sandbox.close().catch(() => undefined));
  const request = async (
    method: string,
    target: string,
    { headers = {}, body = "", authority = new URL(ORIGIN).host }: RequestOptions = {},
  ): Promise<Answer> => {
    const reply = await sandbox.handler({
      method,
      scheme: "http",
      authority,
      target,
      headers: Object.entries(headers),
      body: new TextEncoder().encode(body),
    });
    const text = Buffer.from(reply.body).toString();
    return {
      status: reply.status,
      header: (name) => reply.headers.find(([spelled]) => spelled.toLowerCase() === name)?.[1],
      text,
      json: () => JSON.parse(text) as Record<string, unknown>,
    };
  };
  const bearer = { Authorization: `Bearer ${MERCHANT.token}` };
  const cookie = `paylink-sandbox-${new URL(ORIGIN).port}=${dashboardCookie(MERCHANT)}`;
  const addressOfPages = sandbox.dashboardAt(ORIGIN);
  const pages = new URL(addressOfPages).origin;
  /** Calls an operation of the service with the merchant's token; the body is sent as JSON. */
  const call = (method: string, target: string, body?: object): Promise<Answer> =>
    request(method, target, {
      headers: { ...bearer, "Content-Type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const post = (target: string, headers: Fields, form: Fields): Promise<Answer> =>
    request("POST", target, { headers, body: new URLSearchParams(form).toString() });
  return {
    identity: MERCHANT,
    sandbox,
    ledger,
    clock,
    posted,
    options,
    /** The Cookie header of a browser that has opened the dashboard's address. */
    cookie,
    /** The address of the dashboard, with its key. */
    addressOfPages,
    /** The origin of the dashboard. */
    pages,
    /** As the browser that has opened the dashboard's address. */
    browse: (method: "GET" | "POST", target: string, { headers = {}, body = "" }: RequestOptions = {}) =>
      request(method, target, {
        authority: new URL(pages).host,
        headers: { Cookie: cookie, Accept: "text/html", Origin: pages, ...headers },
        body,
      }),
    request,
    call,
    create: (body: object) => call("POST", "/v1/payment-links", body),
    pay: (id: string, form: Fields) => post(`/pay?r=${id}`, { Accept: "application/json" }, form),
    /** Posts to a control with the merchant's token. */
    control: (target: string, form: Fields = {}) => post(target, bearer, form),
  };
}

export const oneTime = (changes: object = {}): object => ({
  amount: 10.5,
  currency: "EUR",
  terminalId: MERCHANT.terminalId,
  customerName: "Ada Lovelace",
  expirationDate: "2026-02-07T12:00:00Z",
  paymentSettings: { callbackUrl: CALLBACK, failureCallbackUrl: FAILURE_CALLBACK },
  ...changes,
});

/** It expires by the service's default. */
export const reusable = (linkOptions: object = {}, changes: object = {}): object =>
  oneTime({ amount: 0, invoiceId: "DONATION", expirationDate: undefined, linkOptions, ...changes });

/** Creates a link and returns its id. */
export async function linkId(service: TestSandbox, request: object): Promise<string> {
  const answer = await service.create(request);
  if (answer.status !== 200) throw new Error(answer.text);
  return String(answer.json()["id"]);
}

/** Pays a new one-time link, and resolves with the record once its webhook was posted. */
export async function paidRecord(service: TestSandbox, outcome = "approved", changes: object = {}) {
  const paid = await service.pay(await linkId(service, oneTime(changes)), { outcome });
  await service.sandbox.idle();
  return paid.json();
}
