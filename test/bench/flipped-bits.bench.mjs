/**
 * Flips bits of the events file, of its log and of the memory of `bulk`, and compares what is shown, counted and claimed.
 *
 * `npm run bench -- flipped-bits [bits]`
 */
import { rowOfTests } from "./tests.mjs";

const [bits = "2000"] = process.argv.slice(2);
rowOfTests({
  what: "flipped bits that show, count or forward another payment, hide one, or let `bulk` send a row twice",
  config: ".config/vitest.config.mts",
  test: "test/store/flipped-bits.test.ts",
  env: { FLIPPED_BITS: bits },
  note: `${bits} bits each of the file, its log and the memory of \`bulk\``,
});
