/** The digests of the steps that make the tables of a database: a step that users may have run must never change. */
import { createHash } from "node:crypto";

/** Of each step, whatever its white space: a change of one is a new step, which has a digest of its own. */
export const digestsOf = (steps: readonly string[]): readonly string[] =>
  steps.map((step) =>
    createHash("sha256").update(step.replace(/\s+/g, " ").trim()).digest("hex").slice(0, 16),
  );
