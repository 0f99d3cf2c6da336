/** Lehmer's generator: the same numbers in each run, so that a failure can be repeated. */
export function createRandom(seed: number): () => number {
  let state = seed;
  return () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
}
