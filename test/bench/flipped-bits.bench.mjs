/**
 * Flips bits of the events file and of its log, and compares what is shown, counted and claimed.
 *
 * `npm run bench -- flipped-bits [bits]`
 */
import { rowOfTests } from "./tests.mjs";

const [bits = "2000"] = process.argv.slice(2);
rowOfTests({
  what: "flipped bits by which a wrong amount, reference or outcome is shown, counted or forwarded",
  config: ".config/vitest.config.mts",
  test: "test/store/flipped-bits.test.ts",
  env: { FLIPPED_BITS: bits },
  note: `${bits} bits each of the file and of its log`,
});
