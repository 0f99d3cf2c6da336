/** Lists that machines send, in thousands of orders of events: no order can be paid twice unasked, and no row is lost. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { AGAIN } from "../../../src/bulk/plan.ts";
import { settle } from "../virtual-time.ts";
import { at, PARAMETERS, type Step, stepsOf, WORLDS } from "../worlds.ts";
import { BulkWorld, type BulkWorldSetup } from "./bulk-world.ts";
import { type FateName, FATES } from "./odd-service.ts";

const PAUSES = [10, 100, 400, 1_000, 3_000, 5_000, 11_000, 31_000];
const CLOCKS = [0, -600_000, -900, 900, 600_000];
const ALL_FATES = Object.keys(FATES) as readonly FateName[];

type What = keyof typeof STEPS;

const STEPS = {
  send: (world: BulkWorld, one: number, other: number) => void world.start(one, other, undefined),
  "send again": (world: BulkWorld, one: number, other: number) =>
    void world.start(one, other >> 2, at(AGAIN, other)),
  commit: (world: BulkWorld, one: number) => world.commit(one),
  "commit and answer late": (world: BulkWorld, one: number) => world.commit(one, "late"),
  "commit and crash": (world: BulkWorld, one: number) => world.commit(one, "lost"),
  "fail to commit": (world: BulkWorld, one: number) => world.commit(one, "failed"),
  "commit without an answer": (world: BulkWorld, one: number) => world.commit(one, "unknown"),
  hear: (world: BulkWorld, one: number) => world.hear(one),
  serve: (world: BulkWorld, one: number) => world.arrive(one, "is done"),
  "serve oddly": (world: BulkWorld, one: number, other: number) => world.arrive(one, at(ALL_FATES, other)),
  answer: (world: BulkWorld, one: number) => world.answer(one),
  pay: (world: BulkWorld, one: number) => world.endLink(one, "paid"),
  cancel: (world: BulkWorld, one: number) => world.endLink(one, "cancelled"),
  expire: (world: BulkWorld, one: number) => world.endLink(one, "expired"),
  "create by hand": (world: BulkWorld, one: number, other: number) => world.create(one, other),
  pass: (world: BulkWorld, one: number) => world.pass(at(PAUSES, one)),
  crash: (world: BulkWorld, one: number) => world.crash(one),
  interrupt: (world: BulkWorld, one: number) => world.interrupt(one),
  "set a clock": (world: BulkWorld, one: number, other: number) => world.setClock(one, at(CLOCKS, other)),
};

const WEIGHTS: Readonly<Record<What, number>> = {
  send: 4,
  "send again": 4,
  commit: 30,
  "commit and answer late": 2,
  "commit and crash": 1,
  "fail to commit": 1,
  "commit without an answer": 1,
  hear: 2,
  serve: 14,
  "serve oddly": 10,
  answer: 20,
  pay: 1,
  cancel: 1,
  expire: 1,
  "create by hand": 2,
  pass: 6,
  crash: 1,
  interrupt: 1,
  "set a clock": 1,
};

const SETUP: fc.Arbitrary<BulkWorldSetup> = fc.record({
  machines: fc.array(fc.constantFrom(...CLOCKS), { minLength: 2, maxLength: 3 }),
  areAlone: fc.boolean(),
  refusesDuplicates: fc.boolean(),
});

async function run(setup: BulkWorldSetup, steps: readonly Step<What>[]): Promise<void> {
  const world = new BulkWorld(setup);
  try {
    for (const [what, one, other] of steps) {
      await STEPS[what](world, one, other);
      await settle();
      await world.check();
    }
    await world.finish();
  } finally {
    world.close();
  }
}

/** Worlds in which something did not hold once, in few steps. */
const FOUND: readonly (readonly [what: string, steps: readonly Step<What>[]])[] = [
  [
    "a run sent a row that another run with --again changed had given back, because its link was paid",
    [
      ["send", 0, 14],
      ["pass", 7, 0],
      ["send again", 0, 2],
      ["commit", 0, 0],
      ["serve", 0, 0],
      ["pay", 0, 0],
      ["answer", 0, 0],
      ["pass", 12, 0],
      ["answer", 0, 0],
      ["send", 9, 0],
    ],
  ],
  [
    "a link was made beside one that --again changed had not cancelled before its run ended",
    [
      ["send", 0, 4],
      ["pass", 7, 0],
      ["send again", 0, 2],
      ["pass", 3, 0],
      ["serve", 0, 0],
      ["answer", 0, 0],
      ["serve", 0, 0],
      ["answer", 0, 0],
      ["commit without an answer", 0, 0],
    ],
  ],
  [
    "a run sent a row whose claim had ended before it heard of it",
    [
      ["send", 0, 0],
      ["commit", 0, 0],
      ["commit and answer late", 0, 0],
      ["pass", 6, 0],
      ["send again", 1, 0],
      ["commit", 0, 0],
      ["serve", 0, 0],
      ["answer", 0, 0],
      ["serve", 0, 0],
      ["answer", 0, 0],
      ["commit", 0, 0],
      ["serve", 0, 0],
      ["hear", 0, 0],
    ],
  ],
];

it.each(FOUND)("no more: %s", async (_, steps) => {
  await expect(
    run({ machines: [0, 0], areAlone: false, refusesDuplicates: false }, steps),
  ).resolves.toBeUndefined();
});

it(`in ${WORLDS} worlds, no order can be paid twice unasked, and no row is lost`, async () => {
  await fc.assert(fc.asyncProperty(SETUP, stepsOf(WEIGHTS), run), PARAMETERS);
}, 3_600_000);
