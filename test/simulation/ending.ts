/** The end of a simulated world: the faults cease, everything must arrive that can, and the rows must agree with what was seen. */
import { CLAIM_MARGIN } from "../../src/receiver/forwarder.ts";
import type { KnownPayment } from "./known.ts";
import { MARGIN, TIMEOUT } from "./receiver.ts";
import { sql } from "../../src/store/sql.ts";
import { checkRows } from "./rows.ts";
import { settle } from "./virtual-time.ts";
import type { World } from "./world.ts";

/** Milliseconds after which the claim of a direct receiver has ended. */
const CLAIM_OF_DIRECT = TIMEOUT + CLAIM_MARGIN + 1_000;
/** Milliseconds that everything which does not hang may take to arrive, while something does. */
const BOUND = 20_000;

export async function finish(world: World): Promise<void> {
  await world.recover();
  world.trace.say("the faults have ended");
  await acknowledgeAll(world);
  // What is being attempted is not retried: its end may be written only the second time.
  await runWell(world, 3_000);
  world.operator.order("retry");
  await runWell(world, 500);
  await arriveInTime(world);
  // What is still claimed would be sent once more.
  await runWell(world, TIMEOUT + MARGIN + 1_000);
  await checkRows(world);
  world.trace.check();
}

/** The services repeat what was not acknowledged. A claim of a receiver that has crashed ends first. */
async function acknowledgeAll(world: World): Promise<void> {
  const unanswered = (): readonly KnownPayment[] =>
    world.payments.all.filter(
      ({ payment, isSent, isAcknowledged }) =>
        isSent && !isAcknowledged && world.placeOf(payment.account) >= 0 && !world.hangs(payment.uti),
    );
  for (let round = 0; round < 4 && unanswered().length > 0; round++) {
    for (const known of unanswered())
      world.send(world.payments.all.indexOf(known), world.placeOf(known.payment.account));
    await runWell(world, Math.ceil(CLAIM_OF_DIRECT / 3), () => unanswered().length === 0);
  }
  const [left] = unanswered();
  if (left !== undefined) world.trace.broken(`${left.payment.uti} is not acknowledged in the end`);
}

/** What waits, and what hangs, holds up nothing else for longer than this. */
async function arriveInTime(world: World): Promise<void> {
  const began = world.time.elapsed;
  for (let left = await waiting(world); left.length > 0; left = await waiting(world)) {
    if (world.time.elapsed - began > BOUND) {
      world.trace.broken(`after ${BOUND} ms, these have not arrived: ${left.join()}`);
      world.trace.check();
    }
    await runWell(world, 100);
  }
}

/** What a queue of the world has to forward, and what does not hang. */
async function waiting(world: World): Promise<readonly string[]> {
  const keys = world.queuedKeys();
  const rows = await world.disk.all(sql`SELECT event, key FROM deliveries WHERE due IS NOT NULL`);
  return rows
    .filter(({ key }) => keys.includes(String(key)))
    .map(({ event }) => world.payments.byEvent(String(event))?.payment.uti ?? String(event))
    .filter((uti) => !world.hangs(uti));
}

/** Time passes with an application and a disk that answer at once. */
async function runWell(
  world: World,
  milliseconds: number,
  until: () => boolean = () => false,
): Promise<void> {
  const { time, disk, application, trace } = world;
  const end = time.elapsed + milliseconds;
  while (time.elapsed < end && !until()) {
    await settle();
    trace.check();
    await disk.writeAll();
    if (application.acceptNext(world.hangs)) {
      await settle();
      continue;
    }
    if (disk.waiting() > 0) continue;
    time.elapsed = Math.min(end, Math.max(time.elapsed, time.next()));
    time.fire();
    await settle();
  }
  trace.check();
}
