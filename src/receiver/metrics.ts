/** What the receiver reports for monitoring: counts, durations, the backlog and the process, in the text format of Prometheus. */
import { isSuccess } from "../http/message.ts";
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from "prom-client";
import { shortKey } from "../signatures/thumbprint.ts";
import type { SourceState } from "./keyring.ts";
import {
  type Backlog,
  type Forward,
  type Rejection,
  type RunKeys,
  type WebhookEvent,
} from "../events/event.ts";

/** The values that are read at each scrape. */
export interface Gauges {
  readonly connections: number;
  readonly keys: RunKeys;
  readonly keySources: readonly SourceState[];
  /** Undefined if the store cannot be read. */
  readonly backlog: Backlog | undefined;
}

export type Metrics = ReturnType<typeof createMetrics>;

/** In seconds: a fast disk takes a few milliseconds, and a locked database keeps an event waiting for ten seconds. */
const STORE_BUCKETS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
/** In seconds: an application has 8, or what --forward-timeout says. */
const FORWARD_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

const UNKNOWN: Backlog = {
  keys: [{ key: "", events: NaN, failed: NaN, oldest: new Date(NaN), overdue: NaN }],
  lastForward: undefined,
};
/** What is shown of a key without events that wait or failed. */
const NO_EVENTS_OF_KEY = { events: 0, failed: 0, oldest: undefined, overdue: 0 };

export function createMetrics() {
  const registry = new Registry();
  const registers = [registry];
  const counter = (name: string, help: string): Counter => new Counter({ name, help, registers });
  const labelled = <Label extends string>(
    name: string,
    help: string,
    ...labelNames: Label[]
  ): Counter<Label> => new Counter({ name, help, labelNames, registers });
  const gauge = (name: string, help: string): Gauge => new Gauge({ name, help, registers });
  const ofKey = (name: string, help: string): Gauge<"key"> =>
    new Gauge({ name, help, labelNames: ["key"], registers });
  const histogram = (name: string, help: string, buckets: number[]): Histogram =>
    new Histogram({ name, help, buckets, registers });

  const received = counter("paylink_webhooks_received_total", "Requests received, accepted and rejected.");
  const bytes = counter("paylink_received_bytes_total", "Bytes of the bodies of these requests.");
  const verified = labelled("paylink_webhooks_verified_total", "Webhooks whose signature verified.", "key");
  const rejected = labelled(
    "paylink_webhooks_rejected_total",
    "Requests rejected, by reason code.",
    "reason",
  );
  const repeated = labelled(
    "paylink_webhooks_repeated_total",
    "Webhooks that had been received before.",
    "key",
  );
  const forwards = labelled(
    "paylink_forwards_total",
    "Attempts to forward an event, by the application's status; none without an answer.",
    "status",
    "key",
  );
  const failed = labelled(
    "paylink_forwards_failed_total",
    "Events that the application did not accept, and that are not retried here.",
    "key",
  );
  const waiting = ofKey("paylink_backlog_events", "Acknowledged events that wait to be forwarded.");
  const age = ofKey("paylink_backlog_age_seconds", "How long the oldest of these events has waited.");
  const failedEvents = ofKey(
    "paylink_failed_events",
    "Events that the application has not accepted, and that wait for no attempt.",
  );
  const last = gauge(
    "paylink_last_forward_timestamp_seconds",
    "When an attempt to forward an event was last made, by any receiver with the same store; 0 if never.",
  );
  const storing = histogram("paylink_store_seconds", "How long each event took to be stored.", STORE_BUCKETS);
  const forwarding = histogram(
    "paylink_forward_seconds",
    "How long each attempt to forward an event took.",
    FORWARD_BUCKETS,
  );
  const store = new Gauge({
    name: "paylink_store_info",
    help: "The identity of the event store: receivers that share one have the same.",
    labelNames: ["store"],
    registers,
  });
  const keySources = new Gauge({
    name: "paylink_key_source_up",
    help: "Whether a file, URL or text of keys could be read when it was read last. While one is 0, webhooks that no known key verifies are answered with 503.",
    labelNames: ["source"],
    registers,
  });
  const connections = gauge("paylink_connections", "Open connections of senders.");
  collectDefaultMetrics({ register: registry });
  let certificate: Gauge | undefined;
  let lastForward = 0;
  const noteForward = (at: Date | undefined): void => {
    lastForward = Math.max(lastForward, at?.getTime() ?? 0);
  };

  return {
    contentType: registry.contentType,
    /** A request was accepted or rejected. */
    observe: (outcome: WebhookEvent | Rejection): void => {
      received.inc();
      bytes.inc(outcome.request?.body.length ?? 0);
      if (outcome.type === "rejected") return rejected.inc({ reason: outcome.code });
      const labels = { key: labelText(outcome) };
      if (outcome.verdict.verdict === "valid") verified.inc(labels);
      if (outcome.repeated) repeated.inc(labels);
    },
    /** When the certificate that is served ends. Without https there is no such line. */
    useCertificate: (end: Date): void => {
      certificate ??= gauge(
        "paylink_certificate_expiry_timestamp_seconds",
        "When the certificate of --tls-cert ends, the earliest of its file.",
      );
      certificate.set(end.getTime() / 1000);
    },
    /** The identity of the event store in use. */
    useStore: (id: string): void => store.set({ store: id }, 1),
    /** An event was stored, which took this long. */
    stored: (milliseconds: number): void => storing.observe(milliseconds / 1000),
    /** An attempt to forward an event has ended; `retries` says whether another one follows. */
    forwarded: (
      event: Pick<WebhookEvent, "verdict">,
      { at, status, ms }: Pick<Forward, "at" | "status" | "ms">,
      retries: boolean,
    ): void => {
      noteForward(at);
      const key = labelText(event);
      forwards.inc({ status: status ?? "none", key });
      if (!isSuccess(status) && !retries) failed.inc({ key });
      forwarding.observe(ms / 1000);
    },
    text: (gauges: Gauges, now: Date): Promise<string> => {
      const { keys, lastForward: stored } = gauges.backlog ?? UNKNOWN;
      noteForward(stored);
      connections.set(gauges.connections);
      // Two texts have one name: what is down is shown.
      for (const { name, isUp } of gauges.keySources.toSorted(
        (one, other) => Number(other.isUp) - Number(one.isUp),
      ))
        keySources.set({ source: name }, Number(isUp));
      last.set(lastForward / 1000);
      for (const one of [waiting, failedEvents, age]) one.reset();
      // Prometheus sees an increase only in a series that began with 0.
      for (const key of gauges.keys)
        for (const one of [verified, repeated, failed]) one.inc({ key: shortKey(key) }, 0);
      const own = gauges.keys.map((key) => ({ key, ...NO_EVENTS_OF_KEY }));
      for (const { key, events, failed: left, oldest = now } of [...own, ...keys]) {
        const labels = { key: shortKey(key) };
        waiting.set(labels, events);
        failedEvents.set(labels, left);
        age.set(labels, (now.getTime() - oldest.getTime()) / 1000);
      }
      return registry.metrics();
    },
  };
}

/** Empty for a webhook that no key has verified, which --no-verify shows. */
const labelText = ({ verdict }: Pick<WebhookEvent, "verdict">): string =>
  shortKey(verdict.key?.thumbprint ?? "");
