/** The metrics of the receiver, read by an independent parser of the Prometheus text format. */
import parse from "parse-prometheus-text-format";
import { expect, it } from "vitest";
import { verdict } from "../support/stored-events.ts";
import { createMetrics, type Gauges, type Metrics } from "../../src/receiver/metrics.ts";

const NOW = new Date("2026-11-21T10:00:00Z");
const [OWN, OTHER] = ["own-key-".repeat(5), "another-".repeat(5)] as const;
/** An event that a key has verified. */
const verifiedBy = (thumbprint: string) => ({
  verdict: { ...verdict, key: { keyid: null, number: 1, bits: 2048, thumbprint } },
});

async function familiesOf(
  metrics: Metrics,
  gauges: Gauges = {
    connections: 0,
    keys: [],
    keySources: [],
    backlog: { keys: [], lastForward: undefined },
  },
) {
  const families = parse(await metrics.text(gauges, NOW));
  return Object.fromEntries(families.map(({ name, type, metrics }) => [name, { type, metrics }]));
}

it("has every metric from the start, with the documented names and types", async () => {
  const families = await familiesOf(createMetrics());
  const [own, usual] = [/^paylink_/, /^(?:process|nodejs)_/].map((prefix) =>
    Object.entries(families).filter(([name]) => prefix.test(name)),
  );
  expect(usual?.map(([name]) => name)).toContain("process_resident_memory_bytes");
  expect(Object.keys(families)).toHaveLength(Number(own?.length) + Number(usual?.length));
  expect(own?.map(([name, { type }]) => [name, type])).toEqual([
    ["paylink_webhooks_received_total", "COUNTER"],
    ["paylink_received_bytes_total", "COUNTER"],
    ["paylink_webhooks_verified_total", "COUNTER"],
    ["paylink_webhooks_rejected_total", "COUNTER"],
    ["paylink_webhooks_repeated_total", "COUNTER"],
    ["paylink_forwards_total", "COUNTER"],
    ["paylink_forwards_failed_total", "COUNTER"],
    ["paylink_backlog_events", "GAUGE"],
    ["paylink_backlog_age_seconds", "GAUGE"],
    ["paylink_failed_events", "GAUGE"],
    ["paylink_last_forward_timestamp_seconds", "GAUGE"],
    ["paylink_store_seconds", "HISTOGRAM"],
    ["paylink_forward_seconds", "HISTOGRAM"],
    ["paylink_store_info", "GAUGE"],
    ["paylink_key_source_up", "GAUGE"],
    ["paylink_connections", "GAUGE"],
  ]);
});

it("counts forwards by status and key, and says how long they took", async () => {
  const metrics = createMetrics();
  const forward = { at: NOW, target: "http://127.0.0.1/", status: 204, ms: 40, detail: "" };
  for (const status of [204, 204, 500, null])
    metrics.forwarded(verifiedBy(OWN), { ...forward, status }, false);
  metrics.forwarded(verifiedBy(OTHER), { ...forward, status: 503 }, true);
  expect(
    await familiesOf(metrics, { connections: 0, keys: [OWN, OTHER], keySources: [], backlog: undefined }),
  ).toMatchObject({
    paylink_forwards_total: {
      metrics: [
        { value: "2", labels: { status: "204", key: "own-key-" } },
        { value: "1", labels: { status: "500", key: "own-key-" } },
        { value: "1", labels: { status: "none", key: "own-key-" } },
        { value: "1", labels: { status: "503", key: "another-" } },
      ],
    },
    // One of those that were not accepted is retried.
    paylink_forwards_failed_total: {
      metrics: [
        { value: "2", labels: { key: "own-key-" } },
        { value: "0", labels: { key: "another-" } },
      ],
    },
    paylink_forward_seconds: {
      metrics: [{ count: "5", sum: "0.2", buckets: { "0.025": "0", "0.05": "5", "+Inf": "5" } }],
    },
  });
});

it("shows what waits and who is connected", async () => {
  const [own, other] = [OWN, OTHER];
  const oldest = new Date(NOW.getTime() - 90_000);
  const backlog = { keys: [{ key: other, events: 3, failed: 2, oldest, overdue: 0 }], lastForward: NOW };
  const byKey = (ofOwn: string, ofOther: string) => ({
    metrics: [
      { value: ofOwn, labels: { key: "own-key-" } },
      { value: ofOther, labels: { key: "another-" } },
    ],
  });
  expect(
    await familiesOf(createMetrics(), { connections: 7, keys: [own], keySources: [], backlog }),
  ).toMatchObject({
    paylink_connections: { metrics: [{ value: "7" }] },
    paylink_backlog_events: byKey("0", "3"),
    paylink_backlog_age_seconds: byKey("0", "90"),
    paylink_failed_events: byKey("0", "2"),
    paylink_last_forward_timestamp_seconds: { metrics: [{ value: String(NOW.getTime() / 1000) }] },
  });
});

it("says that the backlog is unknown if the store does not answer", async () => {
  const text = await createMetrics().text(
    { connections: 0, keys: [], keySources: [], backlog: undefined },
    NOW,
  );
  expect(text).toMatch(/^paylink_backlog_events\{key=""\} nan$/im);
  expect(text).toMatch(/^paylink_backlog_age_seconds\{key=""\} nan$/im);
});

it("takes the last attempt of this receiver or the store, whichever is later, and 0 if there is none", async () => {
  const metrics = createMetrics();
  const last = async (lastForward: Date | undefined): Promise<unknown> => {
    const backlog = { keys: [], lastForward };
    const families = await familiesOf(metrics, { connections: 0, keys: [], keySources: [], backlog });
    return families["paylink_last_forward_timestamp_seconds"]?.metrics[0];
  };
  const at = (seconds: number): Date => new Date(seconds * 1000);
  expect(await last(undefined)).toEqual({ value: "0" });
  metrics.forwarded(verifiedBy(OWN), { at: at(50), status: 500, ms: 1 }, true);
  expect(await last(at(40))).toEqual({ value: "50" });
  expect(await last(at(60))).toEqual({ value: "60" });
  expect(await last(undefined)).toEqual({ value: "60" });
});
