/** How many worlds are simulated, and from which seed: more and others in the bench. */
import fc from "fast-check";

export const WORLDS = Number(process.env["SIMULATED_WORLDS"] ?? 300);
const SEED = Number(process.env["SIMULATION_SEED"] ?? 1);
export const PARAMETERS = { numRuns: WORLDS, seed: SEED };

/** One thing that happens; the numbers choose among what there is. */
export type Step<What extends string> = readonly [what: What, one: number, other: number];

export const number = fc.nat({ max: 15 });

/** Steps, each as often as its weight says among the others. */
export function stepsOf<What extends string>(
  weights: Readonly<Record<What, number>>,
): fc.Arbitrary<Step<What>[]> {
  const names = Object.keys(weights) as What[];
  const step = fc.oneof(
    ...names.map((what) => ({
      weight: weights[what],
      arbitrary: fc.tuple(fc.constant(what), number, number),
    })),
  );
  return fc.array(step, { maxLength: 200, size: "max" });
}

export const at = <T>(list: readonly T[], index: number): T => list[index % list.length] as T;
