/** The targets of webhooks: applications, which get a request, and brokers, which get a message over a connection of their own. */
import { createHash } from "node:crypto";
import { type BrokerName, brokerOf, type BrokerVariable } from "./addresses.ts";
import { hasCertificate } from "../../http/certificates.ts";
import { PaylinkError } from "../../domain/errors.ts";
import { within } from "../../values/time.ts";
import { exchangeFailure, type Send } from "../../http/exchange.ts";
import { type HttpRequest, NO_BODY } from "../../http/message.ts";
import { sendFailure } from "../../http/send-failure.ts";
import { type AttemptResult, type Deliver, deliverOver } from "../attempt.ts";
import {
  type BrokerMessage,
  CannotKeep,
  type Connector,
  type BrokerLogin,
  MessageRefused,
  type BrokerSession,
} from "./broker.ts";

/** Milliseconds in which a connection is made, without a shorter limit. */
const BROKER_CONNECT_TIMEOUT = 5_000;
/** Milliseconds for which a connection that failed is not tried again: what arrives meanwhile gets its reason. */
const RETRY_AFTER = 500;
/** Milliseconds for a check, which probes wait for. */
const CHECK_TIMEOUT = 1_500;

interface TargetParts {
  readonly send: Send;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly readFile: (path: string, place?: string) => Promise<Uint8Array>;
  /** Accepts a self-signed certificate. */
  readonly insecure: boolean;
}

export interface BrokerTargets {
  readonly deliver: Deliver;
  /**
   * Asks each broker whether it can keep and confirm. Rejects if one cannot be reached or takes no messages now, with
   * `broker_unusable` where waiting does not help. Resolves with warnings.
   */
  readonly check: () => Promise<readonly string[]>;
  readonly close: () => Promise<void>;
}

/** Throws `file_unreadable` if a file to log in with cannot be read, and `usage` for half of a certificate. Brokers that are away are reached when they are back. */
export async function openTargets(
  routes: readonly { readonly url: URL }[],
  { send, env, readFile, insecure }: TargetParts,
): Promise<BrokerTargets> {
  const value = (variable: BrokerVariable): string | undefined => env[variable] || undefined;
  const file = async (variable: BrokerVariable): Promise<string | undefined> => {
    const path = value(variable);
    return path === undefined ? undefined : new TextDecoder().decode(await readFile(path, variable));
  };
  const tlsFiles: BrokerLogin["tlsFiles"] = async (broker) => {
    const [ca, cert, key] = [
      await file(`${broker}_CA`),
      await file(`${broker}_CERT`),
      await file(`${broker}_KEY`),
    ];
    if (ca !== undefined && !hasCertificate(ca))
      throw new PaylinkError("file_unreadable", `The file of ${broker}_CA has no certificate in PEM.`);
    if ((cert === undefined) !== (key === undefined))
      throw new PaylinkError(
        "usage",
        `${broker}_CERT and ${broker}_KEY belong together: set both of them, or neither.`,
      );
    return {
      ...(ca === undefined ? {} : { ca }),
      ...(cert === undefined ? {} : { cert }),
      ...(key === undefined ? {} : { key }),
    };
  };
  const login: BrokerLogin = { value, file, tlsFiles, insecure, timeout: BROKER_CONNECT_TIMEOUT };
  const brokers = new Map<string, ReturnType<typeof createBroker>>();
  for (const { url } of routes) {
    const name = brokerOf(url);
    if (name === undefined || brokers.has(url.href)) continue;
    const connector = await CONNECTORS[name]();
    brokers.set(url.href, createBroker(url, await connector(url, login)));
  }
  const deliverToApplication = deliverOver(send);
  return {
    deliver: (request, options, url) =>
      brokers.get(url.href)?.deliver(request, options.timeout) ?? deliverToApplication(request, options, url),
    check: async () => (await Promise.all([...brokers.values()].map((broker) => broker.check()))).flat(),
    close: async () => void (await Promise.all([...brokers.values()].map((broker) => broker.close()))),
  };
}

/** By the broker's entry in the table of brokers. The clients are loaded only where they are used. */
const CONNECTORS: Readonly<Record<BrokerName, () => Promise<Connector>>> = {
  NATS: async () => (await import("./nats.ts")).nats,
  AMQP: async () => (await import("./amqp.ts")).amqp,
};

/** Keeps one connection, and makes another when the next message needs it. */
function createBroker(url: URL, connect: () => Promise<BrokerSession>) {
  let current: Promise<BrokerSession> | undefined;
  const session = (): Promise<BrokerSession> => {
    if (current !== undefined) return current;
    const opened = connect();
    current = opened;
    const forget = (): void => {
      if (current === opened) current = undefined;
    };
    opened.then(
      ({ ended }) => ended.then(forget, forget),
      () => setTimeout(forget, RETRY_AFTER).unref(),
    );
    return opened;
  };
  return {
    deliver: async (request: HttpRequest, timeout: number): Promise<AttemptResult> => {
      let isOpen = false;
      const publish = async (): Promise<void> => {
        const open = await session();
        isOpen = true;
        await open.publish(brokerMessage(request), timeout);
      };
      try {
        const isConfirmed = await within(
          timeout,
          publish().then(() => true),
          () => false,
        );
        if (isConfirmed) return { kind: "answered", status: 200, headers: [], body: NO_BODY };
        const why = `no confirmation within ${timeout / 1000} s`;
        return isOpen
          ? { kind: "noAnswer", why, failure: "timeout", sent: true }
          : { kind: "notReached", why, failure: "unreachable" };
      } catch (error) {
        const [why, failure] = [brokerWords(error), sendFailure(error)];
        if (!isOpen) return { kind: "notReached", why, failure };
        return { kind: "noAnswer", why, failure, sent: !(error instanceof MessageRefused) };
      }
    },
    check: async (): Promise<readonly string[]> => {
      const checked = session().then((open) => open.check());
      const late = (): never => {
        throw new Error("no answer");
      };
      const warnings = await within(CHECK_TIMEOUT, checked, late).catch((error: unknown) => {
        if (error instanceof CannotKeep)
          throw new PaylinkError(
            "broker_unusable",
            `the broker ${url.href} cannot be used: ${error.message}`,
          );
        throw new Error(`the broker ${url.href} takes no messages: ${brokerWords(error)}`, { cause: error });
      });
      return warnings.map((warning) => `The broker ${url.href}: ${warning}.`);
    },
    close: async (): Promise<void> => {
      const open = await current?.catch(() => undefined);
      await open?.close().catch(() => undefined);
    },
  };
}

/** The clients wrap what the system said. */
function brokerWords(error: unknown): string {
  return exchangeFailure(
    error instanceof Error && error.cause === undefined ? new Error(error.message, { cause: error }) : error,
  );
}

/**
 * The bytes of the body, and the header fields that an application would get: what the signature covers can be verified
 * later. A field with several lines is one value (RFC 9110 5.3).
 */
function brokerMessage({ headers, body }: HttpRequest): BrokerMessage {
  const fields = new Map<string, string>();
  for (const [spelled, value] of headers) {
    const name = spelled.toLowerCase();
    const before = fields.get(name);
    // The host is that of an HTTP request; the address that was signed is in X-Forwarded-Host.
    if (name !== "host") fields.set(name, before === undefined ? value : `${before}, ${value}`);
  }
  return {
    // The body holds the uti, so equal bytes are the same record, as in the event store.
    id: createHash("sha256").update(body).digest("hex"),
    headers: fields,
    body: Buffer.from(body.buffer, body.byteOffset, body.byteLength),
  };
}
