/** When people are asked, and what happens to a question that they do not answer. */
import { PassThrough } from "node:stream";
import { render } from "@inquirer/testing";
import { describe, expect, it } from "vitest";
import type { Ask } from "../../src/context.ts";
import { createAsk, mayAsk } from "../../src/terminal/prompts.ts";

const terminal = (stdin: boolean, stdout: boolean, env: NodeJS.ProcessEnv = {}) => ({
  stdin: { isTTY: stdin },
  stdout: { isTTY: stdout },
  env,
});

describe("prompts", () => {
  it.each([
    [terminal(true, true), {}, true],
    [terminal(false, true), {}, false],
    [terminal(true, false), {}, false],
    [terminal(true, true, { CI: "1" }), {}, false],
    [terminal(true, true, { CI: "false" }), {}, true],
    [terminal(true, true, { CI: "" }), {}, true],
    [terminal(true, true, { CLAUDECODE: "1" }), {}, false],
    [terminal(true, true, { CURSOR_AGENT: "1" }), {}, false],
    [terminal(true, true, { CODEX_SANDBOX: "seatbelt" }), {}, false],
    [terminal(true, true, { GEMINI_CLI: "1" }), {}, false],
    [terminal(true, true, { AI_AGENT: "devin@1" }), {}, false],
    [terminal(true, true, { CLAUDECODE: "false", AGENT: "" }), {}, true],
    [terminal(true, true, { CURSOR_TRACE_ID: "1" }), {}, true],
    [terminal(true, true), { input: false }, false],
    [terminal(true, true), { json: true }, false],
  ])("appear only where they should: case %#", (streams, options, expected) => {
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

  it("accept no wrong answer, and say what is wrong", async () => {
    const question = {
      message: "Amount",
      initial: "10",
      check: (text: string) => (text === "x" ? "It must be a decimal." : undefined),
    };
    const { answer, events, getScreen } = await render(asking("text"), question);
    await expect.poll(() => getScreen()).toBe("? Amount (10)");
    events.type("x");
    events.keypress("enter");
    await expect.poll(() => getScreen()).toContain("It must be a decimal.");
    events.keypress("backspace");
    events.keypress("enter");
    expect(await answer).toBe("10");
  });

  it("offer text to edit, and accept it as it is", async () => {
    const question = { message: "Invoice id", initial: "INV-7", editable: true };
    const { answer, events, getScreen } = await render(asking("text"), question);
    await expect.poll(() => getScreen()).toBe("? Invoice id INV-7");
    events.type("0");
    events.keypress("enter");
    expect(await answer).toBe("INV-70");
  });

  it("show twelve choices at a time", async () => {
    const names = Array.from({ length: 12 }, (_, index) => `choice ${index}`);
    const { answer, events, getScreen } = await render(choosing, { names });
    await expect.poll(() => getScreen()).toContain("❯ choice 0");
    for (const name of names) expect(getScreen()).toContain(name);
    events.keypress("down");
    events.keypress("enter");
    expect(await answer).toBe("choice 1");
  });

  it("never show a secret", async () => {
    const { answer, events, getScreen } = await render(asking("secret"), { message: "Access token" });
    await expect.poll(() => getScreen()).toContain("Access token");
    events.type("tok_1");
    await expect.poll(() => getScreen()).toBe("? Access token *****");
    events.keypress("enter");
    expect(await answer).toBe("tok_1");
    expect(getScreen()).not.toContain("tok_1");
  });
});

/** The terminal questions of the testing library. */
function askAt(context: object): Ask {
  const { input, output } = context as { input: unknown; output: unknown };
  const stderr: unknown = { isTTY: false };
  const streams = { stdin: input, stdout: output, stderr };
  return createAsk(streams as Parameters<typeof createAsk>[0], new AbortController().signal);
}

/** One kind of question as a prompt of the testing library. */
const asking =
  (kind: "text" | "secret") =>
  (question: Parameters<Ask["text"]>[0], context: object = {}): Promise<string> =>
    askAt(context)[kind](question);

const choosing = ({ names }: { readonly names: readonly string[] }, context: object = {}): Promise<string> =>
  askAt(context).choose(
    "Which?",
    names.map((name) => ({ name, value: name })),
  );
