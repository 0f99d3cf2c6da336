/** The rejections that wait to be stored: how much of them is kept while the disk is slow. */
import { expect, it } from "vitest";
import type { Rejection } from "../../src/receiver/events.ts";
import { createRejectionQueue } from "../../src/receiver/rejection-queue.ts";

const BODY = new Uint8Array(1024 * 1024);

const rejection: Rejection = {
  type: "rejected",
  id: "a",
  receivedAt: new Date(0),
  code: "unsigned",
  status: 401,
  detail: "there is no signature",
  verdict: null,
  request: { method: "POST", scheme: "http", authority: "x", target: "/", headers: [], body: BODY },
};

/** A disk that stores nothing until it is released. */
function slowDisk() {
  const stored: Rejection[] = [];
  const counts: number[] = [];
  let release = (): void => undefined;
  const written = new Promise<void>((resolve) => (release = resolve));
  const log = {
    reject: (one: Rejection) => {
      stored.push(one);
      return written;
    },
  };
  const add = createRejectionQueue(log, (count) => void counts.push(count));
  return { stored, counts, add, release };
}

it("drops bodies first, then whole rejections, and says how many", async () => {
  const { stored, counts, add, release } = slowDisk();
  for (let sent = 0; sent < 5000; sent++) add(rejection);
  const bodies = stored.map(({ request }) => request?.body.length ?? 0);
  expect(bodies.filter((length) => length > 0)).toHaveLength(2);
  expect(stored.at(-1)?.detail).toContain("its body of 1048576 bytes was not stored");
  expect(stored.length).toBeGreaterThan(1000);
  expect(stored.length).toBeLessThan(2100);
  release();
  await expect.poll(() => counts).toEqual([5000 - stored.length]);
  add(rejection);
  expect(stored.at(-1)).toBe(rejection);
});

it("goes on after a rejection that cannot be stored", async () => {
  const stored: string[] = [];
  const add = createRejectionQueue(
    {
      reject: async ({ id }) => {
        stored.push(id);
        throw new Error("disk full");
      },
    },
    () => undefined,
  );
  add(rejection);
  await Promise.resolve();
  add({ ...rejection, id: "b" });
  expect(stored).toEqual(["a", "b"]);
});

it("counts trailers, which a sender makes as large as its headers", () => {
  const { stored, add } = slowDisk();
  const trailers = [["X-Padding", "x".repeat(16 * 1024)]] as const;
  const request = { ...rejection.request, body: new Uint8Array(), trailers } as Rejection["request"];
  for (let sent = 0; sent < 1000; sent++) add({ ...rejection, request });
  expect(stored.length).toBeLessThan(300);
});
