/** Counts the steps that code takes, so that a test can bound them on any machine: how often each block of it ran. */
import { Session } from "node:inspector";
import { afterAll, beforeAll, vi } from "vitest";

/** paylink's own code, and the parser of Structured Fields. */
const COUNTED = /\/src\/|\/structured-headers\//;

/**
 * The modules of a `describe`, and what counts the steps of a run of them. Node counts the blocks of code that it compiles after it was
 * told to, so the modules are loaded anew. What Node does by itself, such as a search in a text, counts as one step.
 */
export function useCounted<Modules>(load: () => Promise<Modules>) {
  const session = new Session();
  let modules: Modules;
  beforeAll(async () => {
    session.connect();
    session.post("Profiler.enable");
    session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });
    vi.resetModules();
    modules = await load();
  });
  afterAll(() => {
    session.post("Profiler.stopPreciseCoverage");
    session.disconnect();
    vi.resetModules();
  });
  /** The steps since it was asked before. */
  const taken = (): number => {
    let steps = 0;
    session.post("Profiler.takePreciseCoverage", (error, { result }) => {
      if (error !== null) throw error;
      for (const { url, functions } of result)
        if (COUNTED.test(url))
          for (const { ranges } of functions) for (const { count } of ranges) steps += count;
    });
    return steps;
  };
  return {
    modules: (): Modules => modules,
    stepsOf: (run: () => unknown): number => {
      taken();
      run();
      return taken();
    },
  };
}
