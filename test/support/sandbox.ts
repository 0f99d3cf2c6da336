/** An in-process sandbox for tests: a ledger on disk, a stopped clock, and a function as its network. */
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { LISTENER_URL, SANDBOX_URL } from "../../src/domain/addresses.ts";
import type { HttpReply, HttpRequest } from "../../src/http/message.ts";
import { createClock, type Clock } from "../../src/sandbox/clock.ts";
import { createIds } from "../../src/sandbox/ids.ts";
import { createSigningKeys } from "../../src/sandbox/signing-keys.ts";
import { SCHEDULE } from "../../src/sandbox/deliveries.ts";
import type { Ledger } from "../../src/sandbox/store/ledger.ts";
import { createSandbox, type Sandbox } from "../../src/sandbox/server.ts";
import type { SandboxSetup } from "../../src/sandbox/setup.ts";
import type { SandboxIdentity } from "../../src/sandbox/identity.ts";
import { openLedger } from "../../src/sandbox/store/ledger.ts";
import { SERVICE_FORM } from "../../src/signatures/cover.ts";
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

export interface TestSandbox {
  readonly identity: SandboxIdentity;
  readonly sandbox: Sandbox;
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly posted: HttpRequest[];
  /** The timeout of each POST, in milliseconds. */
  readonly timeouts: (number | undefined)[];
  /** Whether each POST accepts a self-signed certificate. */
  readonly insecure: (boolean | undefined)[];
  readonly request: (method: string, path: string, options?: RequestOptions) => Promise<Answer>;
  /** Calls an operation of the service with the merchant's token; the body is sent as JSON. */
  readonly call: (method: string, path: string, body?: object) => Promise<Answer>;
  readonly create: (body: object) => Promise<Answer>;
  readonly pay: (id: string, form: Readonly<Record<string, string>>) => Promise<Answer>;
  /** The Cookie header of a browser that has opened the dashboard's address. */
  readonly cookie: string;
  /** Posts to a control with the merchant's token. */
  readonly control: (path: string, form?: Readonly<Record<string, string>>) => Promise<Answer>;
}

interface RequestOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly authority?: string;
}

export interface TestSandboxOptions extends Partial<
  Pick<
    SandboxSetup,
    | "schedule"
    | "fault"
    | "allowRemote"
    | "allowedHosts"
    | "insecure"
    | "form"
    | "duplicateInvoices"
    | "tokenAuth"
    | "faulted"
  >
> {
  readonly path?: string;
  readonly ledger?: Ledger;
  /** The status that receivers answer. */
  readonly answer?: (request: HttpRequest, count: number) => Promise<number> | number;
}

export function openTestSandbox(setup: TestSandboxOptions = {}): TestSandbox {
  const posted: HttpRequest[] = [];
  const timeouts: (number | undefined)[] = [];
  const insecure: (boolean | undefined)[] = [];
  const ledger = setup.ledger ?? openLedger(setup.path ?? join(temporaryHome(), "sandbox.db"));
  const clock = createClock(() => NOW, NOW);
  let count = 0;
  const sandbox = createSandbox({
    merchant: MERCHANT,
    keys: createSigningKeys(
      MERCHANT,
      () => MERCHANT,
      () => clock.now(),
    ),
    ledger,
    clock,
    ids: createIds(() => crypto.randomUUID()),
    send: async (webhook, options = {}): Promise<HttpReply> => {
      posted.push(webhook);
      timeouts.push(options.timeout);
      insecure.push(options.insecure);
      const status = (await setup.answer?.(webhook, ++count)) ?? 200;
      return { status, headers: [], body: new Uint8Array() };
    },
    machineNow: () => NOW,
    allowRemote: setup.allowRemote ?? false,
    allowedHosts: setup.allowedHosts ?? [],
    insecure: setup.insecure ?? false,
    schedule: setup.schedule ?? SCHEDULE,
    fault: setup.fault,
    form: setup.form ?? SERVICE_FORM,
    duplicateInvoices: setup.duplicateInvoices ?? "refuse",
    tokenAuth: setup.tokenAuth ?? "post",
    observe: () => undefined,
    faulted:
      setup.faulted ??
      ((error) => {
        throw error;
      }),
  });
  sandbox.start();
  onTestFinished(() => sandbox.close().catch(() => undefined));
  const request = async (method: string, path: string, options: RequestOptions = {}): Promise<Answer> => {
    const reply = await sandbox.handler({
      method,
      scheme: "http",
      authority: options.authority ?? new URL(ORIGIN).host,
      target: path,
      headers: Object.entries(options.headers ?? {}),
      body: new TextEncoder().encode(options.body ?? ""),
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
  const call: TestSandbox["call"] = (method, path, body) =>
    request(method, path, {
      headers: { ...bearer, "Content-Type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const form = (values: Readonly<Record<string, string>>): string => new URLSearchParams(values).toString();
  return {
    identity: MERCHANT,
    sandbox,
    ledger,
    clock,
    posted,
    timeouts,
    insecure,
    cookie: `paylink-sandbox-${new URL(ORIGIN).port}=${new URLSearchParams(sandbox.dashboardQuery).get("key") ?? ""}`,
    request,
    call,
    create: (body) => call("POST", "/v1/payment-links", body),
    pay: (id, values) =>
      request("POST", `/pay?r=${id}`, { headers: { Accept: "application/json" }, body: form(values) }),
    control: (path, values = {}) => request("POST", path, { headers: bearer, body: form(values) }),
  };
}

export const oneTime = (service: TestSandbox, changes: object = {}): object => ({
  amount: 10.5,
  currency: "EUR",
  terminalId: service.identity.terminals[0],
  customerName: "Ada Lovelace",
  expirationDate: "2026-02-07T12:00:00Z",
  paymentSettings: { callbackUrl: CALLBACK, failureCallbackUrl: FAILURE_CALLBACK },
  ...changes,
});

export const reusable = (service: TestSandbox, linkOptions: object = {}, changes: object = {}): object => ({
  amount: 0,
  currency: "EUR",
  invoiceId: "DONATION",
  terminalId: service.identity.terminals[0],
  customerName: "Ada Lovelace",
  paymentSettings: { callbackUrl: CALLBACK, failureCallbackUrl: FAILURE_CALLBACK },
  linkOptions,
  ...changes,
});

/** Creates a link and returns its id. */
export async function linkId(service: TestSandbox, request: object): Promise<string> {
  const answer = await service.create(request);
  if (answer.status !== 200) throw new Error(answer.text);
  return String(answer.json()["id"]);
}
