/** Deliveries of webhooks: signed afresh for each attempt, posted in order for each link, and tried again on failure. */
import { isLoopback, parseWebAddress } from "../domain/web-address.ts";
import type { Send } from "../http/exchange.ts";
import type { HttpRequest } from "../http/message.ts";
import { contentDigest } from "../signatures/digest.ts";
import { component } from "../signatures/components.ts";
import type { SigningKey } from "../signatures/keys.ts";
import { DEFAULT_POLICY } from "../signatures/policy.ts";
import { sign } from "../signatures/sign.ts";

/** What the sandbox covers with its signature; a receiver takes whatever cover satisfies its own policy. */
const COVERED = ["@method", "@target-uri", "content-digest", "content-type"].map((name) => component(name));

/** Milliseconds until each further attempt: six attempts in all, then the delivery has failed. */
const SCHEDULE = [5_000, 30_000, 120_000, 600_000, 3_600_000];

/** How long the receiver may take, in milliseconds. */
const PATIENCE = 10_000;

export interface Delivery {
  readonly id: string;
  readonly linkId: string;
  readonly uti: string;
  readonly url: string;
  readonly body: Uint8Array;
}

export interface AttemptReport {
  readonly delivery: Delivery;
  readonly attempt: number;
  /** The receiver's status; null where no answer came. */
  readonly status: number | null;
  readonly detail: string;
  readonly state: "delivered" | "waiting" | "failed";
}

interface DeliveryParts {
  readonly key: SigningKey;
  readonly send: Send;
  readonly now: () => Date;
  readonly allowRemote: boolean;
  readonly report: (report: AttemptReport) => void;
}

export interface Deliveries {
  /** Posts once those that were queued before it for the same link have been tried. */
  queue(delivery: Delivery): void;
  /** Lets an attempt under way finish and starts no other. */
  close(): Promise<void>;
}

export function createDeliveries(parts: DeliveryParts): Deliveries {
  const lanes = new Map<string, Promise<void>>();
  const timers = new Set<NodeJS.Timeout>();
  let closed = false;
  const enqueue = (delivery: Delivery, attempt: number): void => {
    const before = lanes.get(delivery.linkId) ?? Promise.resolve();
    const lane = before.then(() => (closed ? undefined : post(delivery, attempt)));
    lanes.set(delivery.linkId, lane);
    void lane.then(() => {
      if (lanes.get(delivery.linkId) === lane) lanes.delete(delivery.linkId);
    });
  };
  const post = async (delivery: Delivery, attempt: number): Promise<void> => {
    const { status, detail } = await attemptOnce(delivery, parts);
    const delivered = status !== null && status >= 200 && status < 300;
    const wait = SCHEDULE[attempt - 1];
    const state = delivered ? "delivered" : wait === undefined ? "failed" : "waiting";
    parts.report({ delivery, attempt, status, detail, state });
    if (state !== "waiting" || closed) return;
    const timer = setTimeout(() => {
      timers.delete(timer);
      enqueue(delivery, attempt + 1);
    }, wait);
    timers.add(timer);
  };
  return {
    queue: (delivery) => enqueue(delivery, 1),
    close: async () => {
      closed = true;
      for (const timer of timers) clearTimeout(timer);
      await Promise.all(lanes.values());
    },
  };
}

async function attemptOnce(
  delivery: Delivery,
  parts: DeliveryParts,
): Promise<Pick<AttemptReport, "status" | "detail">> {
  const url = parseWebAddress(delivery.url);
  if (url === undefined) return { status: null, detail: "not an absolute http or https URL" };
  if (!parts.allowRemote && !isLoopback(url.hostname))
    return { status: null, detail: "not on this machine; the sandbox posts to loopback only" };
  try {
    const { status } = await parts.send(signedWebhook(url, delivery.body, parts), { timeout: PATIENCE });
    return { status, detail: `answered ${status}` };
  } catch (error) {
    return { status: null, detail: error instanceof Error ? error.message : String(error) };
  }
}

/** The webhook as the service posts it ("Request headers sent by the service"), signed at this moment. */
function signedWebhook(url: URL, body: Uint8Array, { key, now }: DeliveryParts): HttpRequest {
  const request: HttpRequest = {
    method: "POST",
    scheme: url.protocol === "https:" ? "https" : "http",
    authority: url.host,
    target: `${url.pathname}${url.search}`,
    headers: [
      ["Host", url.host],
      ["Accept", "application/json"],
      ["Content-Type", "application/json; charset=utf-8"],
      ["Content-Digest", contentDigest(body)],
      ["Content-Length", String(body.length)],
    ],
    body,
  };
  const signature = sign(request, {
    key,
    components: COVERED,
    parameters: {
      created: Math.floor(now().getTime() / 1000),
      ...(key.keyid === null ? {} : { keyid: key.keyid }),
      alg: DEFAULT_POLICY.algorithm,
    },
  });
  return { ...request, headers: [...request.headers, ...signature] };
}
