/** A sandbox in process: its own ledger on disk, a clock that stands still, and a network that is a function. */
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { HttpReply, HttpRequest } from "../../src/http/message.ts";
import { createClock, type Clock } from "../../src/sandbox/clock.ts";
import { SCHEDULE } from "../../src/sandbox/deliveries.ts";
import { createIds, seededIds } from "../../src/sandbox/ids.ts";
import { createSandbox, type Sandbox } from "../../src/sandbox/sandbox.ts";
import type { SandboxParts } from "../../src/sandbox/service.ts";
import { createSigningKeys } from "../../src/sandbox/signing-keys.ts";
import { newIdentity, type SandboxIdentity } from "../../src/store/sandbox/sandbox-identity.ts";
import { openLedger } from "../../src/store/sandbox/sqlite-ledger.ts";
import { temporaryHome } from "./home.ts";

export const NOW = new Date("2026-01-31T12:00:00.000Z");
export const ORIGIN = "http://127.0.0.1:4010";
export const CALLBACK = "http://127.0.0.1:4000/paid";
export const FAILURE_CALLBACK = "http://127.0.0.1:4000/failed";

let drawn = 0;
/** One RSA key for all: making one takes longer than most tests. */
const IDENTITY: SandboxIdentity = newIdentity(() => `${++drawn}0000000-0000-4000-8000-000000000000`);

export interface Answer {
  readonly status: number;
  readonly header: (name: string) => string | undefined;
  readonly text: string;
  readonly json: () => Record<string, unknown>;
}

export interface Stage {
  readonly identity: SandboxIdentity;
  readonly sandbox: Sandbox;
  readonly clock: Clock;
  readonly posted: HttpRequest[];
  /** Milliseconds that each receiver was given. */
  readonly patience: (number | undefined)[];
  readonly ask: (method: string, path: string, options?: Asked) => Promise<Answer>;
  readonly create: (request: object) => Promise<Answer>;
  readonly pay: (id: string, form: Readonly<Record<string, string>>) => Promise<Answer>;
  /** With the merchant's token. */
  readonly turn: (path: string, form?: Readonly<Record<string, string>>) => Promise<Answer>;
}

interface Asked {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly authority?: string;
}

export interface StageOptions extends Partial<Pick<SandboxParts, "schedule" | "fault" | "allowRemote">> {
  readonly path?: string;
  readonly seed?: number;
  /** What receivers answer. */
  readonly answer?: (request: HttpRequest, count: number) => Promise<number> | number;
}

export function openStage(options: StageOptions = {}): Stage {
  const posted: HttpRequest[] = [];
  const patience: (number | undefined)[] = [];
  const ledger = openLedger(options.path ?? join(temporaryHome(), "sandbox.db"));
  const clock = createClock(() => NOW, NOW);
  let count = 0;
  const newId = (): string => crypto.randomUUID();
  const sandbox = createSandbox({
    merchant: IDENTITY,
    keys: createSigningKeys(
      IDENTITY,
      () => IDENTITY,
      () => clock.now(),
    ),
    ledger,
    clock,
    ids: createIds(options.seed === undefined ? newId : seededIds(options.seed, ledger.counts())),
    newToken: newId,
    send: async (request, { timeout } = {}): Promise<HttpReply> => {
      posted.push(request);
      patience.push(timeout);
      const status = (await options.answer?.(request, ++count)) ?? 200;
      return { status, headers: [], body: new Uint8Array() };
    },
    machineNow: () => NOW,
    allowRemote: options.allowRemote ?? false,
    schedule: options.schedule ?? SCHEDULE,
    fault: options.fault,
    observe: () => undefined,
    faulted: (error) => {
      throw error;
    },
  });
  sandbox.start();
  onTestFinished(() => sandbox.close().catch(() => undefined));
  const ask = async (method: string, path: string, asked: Asked = {}): Promise<Answer> => {
    const reply = await sandbox.handler({
      method,
      scheme: "http",
      authority: asked.authority ?? "127.0.0.1:4010",
      target: path,
      headers: Object.entries(asked.headers ?? {}),
      body: new TextEncoder().encode(asked.body ?? ""),
    });
    const chunks: Uint8Array[] = [];
    if (reply.body instanceof Uint8Array) chunks.push(reply.body);
    const text = Buffer.concat(chunks).toString();
    return {
      status: reply.status,
      header: (name) => reply.headers.find(([spelled]) => spelled.toLowerCase() === name)?.[1],
      text,
      json: () => JSON.parse(text) as Record<string, unknown>,
    };
  };
  const bearer = { Authorization: `Bearer ${IDENTITY.token}` };
  const form = (values: Readonly<Record<string, string>>): string => new URLSearchParams(values).toString();
  return {
    identity: IDENTITY,
    sandbox,
    clock,
    posted,
    patience,
    ask,
    create: (request) =>
      ask("POST", "/v1/payment-links", {
        headers: { ...bearer, "Content-Type": "application/json" },
        body: JSON.stringify(request),
      }),
    pay: (id, values) =>
      ask("POST", `/pay?r=${id}`, { headers: { Accept: "application/json" }, body: form(values) }),
    turn: (path, values = {}) => ask("POST", path, { headers: bearer, body: form(values) }),
  };
}

export const oneTime = (stage: Stage, changes: object = {}): object => ({
  amount: 10.5,
  currency: "EUR",
  terminalId: stage.identity.terminals[0],
  customerName: "Ada Lovelace",
  expirationDate: "2026-02-07T12:00:00Z",
  paymentSettings: { callbackUrl: CALLBACK, failureCallbackUrl: FAILURE_CALLBACK },
  ...changes,
});

export const reusable = (stage: Stage, linkOptions: object = {}, changes: object = {}): object => ({
  amount: 0,
  currency: "EUR",
  invoiceId: "DONATION",
  terminalId: stage.identity.terminals[0],
  customerName: "Ada Lovelace",
  paymentSettings: { callbackUrl: CALLBACK, failureCallbackUrl: FAILURE_CALLBACK },
  linkOptions,
  ...changes,
});

/** The id of a link that is made for the test. */
export async function linkId(stage: Stage, request: object): Promise<string> {
  const answer = await stage.create(request);
  if (answer.status !== 200) throw new Error(answer.text);
  return String(answer.json()["id"]);
}
