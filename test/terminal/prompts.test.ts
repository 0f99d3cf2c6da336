/** When people are asked, and what becomes of a question that they do not answer. */
import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { createAsk, mayAsk } from "../../src/terminal/prompts.ts";

const world = (stdin: boolean, stdout: boolean, env: NodeJS.ProcessEnv = {}) =>
  ({ stdin: { isTTY: stdin }, stdout: { isTTY: stdout }, stderr: {}, env }) as Parameters<typeof mayAsk>[0];

describe("prompts", () => {
  it.each([
    [world(true, true), {}, true],
    [world(false, true), {}, false],
    [world(true, false), {}, false],
    [world(true, true, { CI: "1" }), {}, false],
    [world(true, true, { CI: "false" }), {}, true],
    [world(true, true, { CI: "" }), {}, true],
    [world(true, true), { input: false }, false],
    [world(true, true), { json: true }, false],
  ])("appear or not: case %#", (streams, options, expected) => {
    expect(mayAsk(streams, { input: true, ...options })).toBe(expected);
  });

  it("end with the run's own reason when it is terminated", async () => {
    const interruption = new AbortController();
    const streams = {
      stdin: new PassThrough(),
      stdout: new PassThrough(),
      stderr: new PassThrough(),
      env: {},
    };
    const ask = createAsk(streams as unknown as Parameters<typeof createAsk>[0], interruption.signal);
    const question = ask.text({ message: "Amount" });
    const reason = new Error("terminated");
    interruption.abort(reason);
    await expect(question).rejects.toBe(reason);
  });
});
