/** Receivers that share a store, in thousands of orders of events: what is acknowledged is stored, and arrives once. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { ANSWERS, type Answer } from "./application.ts";
import { finish } from "./ending.ts";
import type { ReceiverSetup } from "./receiver.ts";
import { World, type WorldSetup } from "./world.ts";
import { settle } from "./virtual-time.ts";
import { at, number, PARAMETERS, type Step, stepsOf, WORLDS } from "./worlds.ts";

type What = keyof typeof STEPS;

const PAUSES = [10, 100, 400, 1_000, 1_500, 3_000, 5_000, 9_000];
const CLOCKS = [0, -600_000, -900, 900, 600_000];
const ALL_ANSWERS = Object.keys(ANSWERS) as readonly Answer[];

const STEPS = {
  send: (world: World, one: number, other: number) => world.send(one, other),
  write: (world: World, one: number) => world.write(one),
  "write and crash": (world: World, one: number) => world.write(one, "lost"),
  "fail to write": (world: World, one: number) => world.write(one, "failed"),
  "write without an answer": (world: World, one: number) => world.write(one, "unknown"),
  accept: (world: World, one: number) => world.answer(one, "ok"),
  answer: (world: World, one: number, other: number) => world.answer(one, at(ALL_ANSWERS, other)),
  pass: (world: World, one: number) => world.pass(at(PAUSES, one)),
  crash: (world: World, one: number) => world.crash(one),
  restart: (world: World, one: number) => world.restart(one),
  end: (world: World, one: number) => world.end(one),
  "set a clock": (world: World, one: number, other: number) => world.setClock(one, at(CLOCKS, other)),
  "rotate the key": (world: World) => world.rotate(),
  retry: (world: World, one: number, other: number) =>
    world.operator.order("retry", other % 3 === 0 ? undefined : one),
  skip: (world: World, one: number) => world.operator.order("skip", one),
  "accept what was refused": (world: World, one: number) =>
    world.operator.accept(world.keyOf(one % 4 === 3 ? "other" : "own")),
  prune: (world: World, one: number) => world.operator.prune(at(PAUSES, one)),
};

const WEIGHTS: Readonly<Record<What, number>> = {
  send: 16,
  write: 30,
  "write and crash": 1,
  "fail to write": 1,
  "write without an answer": 1,
  accept: 8,
  answer: 8,
  pass: 10,
  crash: 1,
  restart: 2,
  end: 1,
  "set a clock": 1,
  "rotate the key": 1,
  retry: 1,
  skip: 1,
  "accept what was refused": 1,
  prune: 1,
};

const RECEIVER: fc.Arbitrary<ReceiverSetup> = fc.record({
  isQueued: fc.oneof(
    { weight: 3, arbitrary: fc.constant(true) },
    { weight: 1, arbitrary: fc.constant(false) },
  ),
  account: fc.oneof(
    { weight: 3, arbitrary: fc.constant("own" as const) },
    { weight: 1, arbitrary: fc.constant("other" as const) },
  ),
});
const SETUP: fc.Arbitrary<WorldSetup> = fc.record({
  receivers: fc.array(RECEIVER, { minLength: 2, maxLength: 4 }),
  hanging: fc.array(number, { maxLength: 2 }),
});

async function run(setup: WorldSetup, steps: readonly Step<What>[]): Promise<void> {
  const world = new World(setup);
  try {
    await world.start();
    for (const [what, one, other] of steps) {
      await STEPS[what](world, one, other);
      await settle();
      world.trace.check();
    }
    await finish(world);
  } finally {
    world.close();
  }
}

/** Worlds in which something did not hold once, each in the fewest steps. */
const FOUND: readonly (readonly [
  what: string,
  receivers: WorldSetup["receivers"],
  steps: readonly Step<What>[],
  hanging: WorldSetup["hanging"],
])[] = [
  [
    "an attempt was stored twice, because the first answer of the database was lost",
    [{ isQueued: true, account: "own" }],
    [
      ["send", 0, 0],
      ["write", 0, 0],
      ["write", 0, 0],
      ["write", 0, 0],
      ["accept", 0, 0],
      ["write without an answer", 0, 0],
    ],
    [],
  ],
  [
    "the world read the backlog after the end of an attempt, and the rows before it",
    [
      { isQueued: true, account: "own" },
      { isQueued: true, account: "own" },
      { isQueued: true, account: "other" },
    ],
    [
      ["send", 0, 13],
      ["send", 8, 0],
      ["pass", 12, 0],
      ["write and crash", 1, 0],
      ["crash", 0, 0],
      ["send", 3, 11],
      ["pass", 12, 0],
      ["pass", 14, 0],
      ["write", 0, 0],
      ["write", 0, 0],
      ["answer", 0, 2],
      ["pass", 0, 0],
    ],
    [0],
  ],
  [
    "the world called an event lost that one group of writes had skipped and then deleted",
    [
      { isQueued: true, account: "own" },
      { isQueued: true, account: "other" },
    ],
    [
      ["send", 0, 0],
      ["pass", 4, 0],
      ["accept", 0, 0],
      ["send", 4, 0],
      ["pass", 6, 0],
      ["prune", 0, 0],
      ["prune", 0, 0],
      ["skip", 4, 0],
    ],
    [],
  ],
];

it.each(FOUND)("no more: %s", async (_, receivers, steps, hanging) => {
  await expect(run({ receivers, hanging }, steps)).resolves.toBeUndefined();
});

it("lets a receiver have two groups of writes in flight, of which the second may be stored first", async () => {
  const world = new World({ receivers: [{ isQueued: true, account: "own" }], hanging: [] });
  await world.start();
  await world.disk.writeAll();
  for (const payment of [0, 1]) {
    world.send(payment, 0);
    await settle();
  }
  expect(world.disk.waiting()).toBe(2);
  await world.write(1);
  await settle();
  expect([0, 1].map((payment) => world.payments.at(payment).isAcknowledged)).toEqual([false, true]);
  await world.write(0, "lost");
  await expect(finish(world)).resolves.toBeUndefined();
  world.close();
});

it(`in ${WORLDS} worlds, every acknowledged webhook is stored, and arrives once`, async () => {
  await fc.assert(fc.asyncProperty(SETUP, stepsOf(WEIGHTS), run), PARAMETERS);
}, 3_600_000);
