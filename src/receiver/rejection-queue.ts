/** Rejections that wait to be stored, limited in bytes: bodies are dropped first, then whole rejections, with a count. */
import type { EventLog, Rejection } from "./events.ts";

/** Bytes of waiting rejections: the store keeps each a second time, and its thread a third time. */
const MAX_WAITING = 4 * 1024 * 1024;
/** Above this many bytes, rejections wait without their bodies. */
const MAX_WITH_BODY = 3 * 1024 * 1024;
/** Bytes that a rejection takes besides its request. */
const OVERHEAD = 1024;

/** `dropped` is called with the number of rejections that were not stored, once there is room again. */
export function createRejectionQueue(
  log: Pick<EventLog, "reject">,
  dropped: (count: number) => void,
): (rejection: Rejection) => void {
  let waiting = 0;
  let droppedCount = 0;
  const store = async (rejection: Rejection, size: number): Promise<void> => {
    waiting += size;
    // If the disk is full, the next event reports it.
    await log.reject(rejection).catch(() => undefined);
    waiting -= size;
    if (waiting > 0 || droppedCount === 0) return;
    dropped(droppedCount);
    droppedCount = 0;
  };
  return (rejection) => {
    const size = sizeOf(rejection);
    if (waiting + size <= MAX_WITH_BODY) return void store(rejection, size);
    const bare = withoutBody(rejection);
    const bareSize = sizeOf(bare);
    if (waiting + bareSize <= MAX_WAITING) return void store(bare, bareSize);
    droppedCount += 1;
  };
}

function sizeOf({ request, detail, verdict }: Rejection): number {
  let size = OVERHEAD + detail.length + (verdict?.covered.join().length ?? 0);
  if (request === null) return size;
  size += request.target.length + request.body.length;
  for (const [name, value] of [...request.headers, ...(request.trailers ?? [])])
    size += name.length + value.length;
  return size;
}

function withoutBody(rejection: Rejection): Rejection {
  const { request, detail } = rejection;
  if (request === null || request.body.length === 0) return rejection;
  return {
    ...rejection,
    detail: `${detail} (its body of ${request.body.length} bytes was not stored: too many rejections were waiting)`,
    request: { ...request, body: new Uint8Array() },
  };
}
