/** What the tests of both brokers share: the server of a test file, and a listener that publishes to it. */
import { createHash } from "node:crypto";
import { afterAll, beforeAll, beforeEach, onTestFinished } from "vitest";
import { createVerifier } from "../../src/library/webhooks.ts";
import type { HttpRequest } from "../../src/http/message.ts";
import { openTargets } from "../../src/receiver/brokers/targets.ts";
import { type ServingCommand, startListenWith } from "./background-command.ts";
import type { CommandOptions } from "./context.ts";
import { temporaryHome } from "./home.ts";
import { linesOf } from "./json-lines.ts";
import { keyFile, KEYS } from "./keys.ts";
import { openSender } from "./sender.ts";
import { post, record, webhook } from "./webhooks.ts";

/** Starts a server for the tests of this file, which are skipped where its program is missing. */
export function useServer<Server extends { readonly remove: () => Promise<void> }>(
  program: string | undefined,
  name: string,
  start: () => Promise<Server>,
): () => Server {
  let server: Server | undefined;
  beforeAll(async () => {
    if (program !== undefined) server = await start();
  }, 60_000);
  beforeEach((test) => test.skip(program === undefined, `no ${name} is installed`));
  afterAll(() => server?.remove());
  return () => {
    if (server === undefined) throw new Error("the server has not been started");
    return server;
  };
}

interface Listening extends CommandOptions {
  /** In place of `--no-store`. */
  readonly flags?: readonly string[];
}

export function listenTo(
  target: string,
  { flags = ["--no-store"], home = temporaryHome(), ...options }: Listening = {},
): Promise<ServingCommand> {
  return startListenWith({ home, ...options }, "--key", keyFile(home), "--forward-to", target, ...flags);
}

export const deliver = ({ url }: ServingCommand, body = record()): Promise<number> =>
  post(url, webhook(url, body));

/** Delivers until a broker that is back takes it. */
export async function untilTaken(listen: ServingCommand, body = record()): Promise<void> {
  while ((await deliver(listen, body)) !== 200) await new Promise((resolve) => setTimeout(resolve, 50));
}

export const messageId = ({ body }: Pick<HttpRequest, "body">): string =>
  createHash("sha256").update(body).digest("hex");

/** Why the broker did not take what was delivered. */
export const detailsOf = ({ stdout }: ServingCommand): unknown[] =>
  linesOf("forward", stdout()).map(({ detail }) => detail);

/** Delivers to each listener with four senders while the broker is killed and started again, and gives the ids that were acknowledged. */
export async function underKills(
  listeners: readonly ServingCommand[],
  broker: { readonly kill: () => Promise<void>; readonly start: () => Promise<void> },
  kills: number,
): Promise<ReadonlySet<string>> {
  const acknowledged = new Set<string>();
  const over = new AbortController();
  const send = async (listen: ServingCommand): Promise<void> => {
    while (!over.signal.aborted) {
      const request = webhook(listen.url, record());
      const status = await post(listen.url, request);
      if (status === 200) acknowledged.add(messageId(request));
      else await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  const senders = [...listeners, ...listeners, ...listeners, ...listeners].map(send);
  for (let kill = 0; kill < kills; kill++) {
    const before = acknowledged.size;
    while (acknowledged.size < before + 20) await new Promise((resolve) => setTimeout(resolve, 5));
    await broker.kill();
    await broker.start();
  }
  over.abort();
  await Promise.all(senders);
  return acknowledged;
}

/** The outcome that an application finds which verifies what a broker gives it, with the key of the service or another. */
export async function outcomeOf(
  headers: Readonly<Record<string, string>>,
  body: Uint8Array,
  key = KEYS.publicPem,
): Promise<string> {
  return (await createVerifier({ key })({ method: "POST", url: "/", headers, body })).outcome;
}

/** A target without a receiver: what each message to it comes to. */
export const openTarget = async (target: string) => {
  const url = new URL(target);
  const parts = { send: openSender(), env: {}, readFile: async () => Buffer.of(), insecure: false };
  const targets = await openTargets([{ url }], parts);
  onTestFinished(targets.close);
  const answer = () => targets.deliver(webhook(url.href, record()), { timeout: 2_000, insecure: false }, url);
  return { targets, answer };
};
