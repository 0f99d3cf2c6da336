/** Lines that are written together: whole, in order, and never over what somebody else has yet to read. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createLineWriter } from "../../src/terminal/line-writer.ts";

/** Takes what it is given when it is told to, as a pipe does that is full. */
function slowChannel() {
  const waiting: { data: string | Uint8Array; taken: (() => void) | undefined }[] = [];
  let text = "";
  return {
    write: (data: string | Uint8Array, taken?: () => void) => void waiting.push({ data, taken }),
    take: (count: number): void => {
      for (const { data, taken } of waiting.splice(0, count)) {
        text += typeof data === "string" ? data : Buffer.from(data).toString();
        taken?.();
      }
    },
    text: (): string => text,
    waiting,
  };
}

describe("a line writer", () => {
  it("makes one write of the lines that come together, and none of none", () => {
    const channel = slowChannel();
    const write = createLineWriter(channel);
    write([]);
    write(["one", "zwei ✓"]);
    expect(channel.waiting.map(({ data }) => String(data))).toEqual([
      Buffer.from("one\nzwei ✓\n").toString(),
    ]);
  });

  it("keeps every line whole and in order, however long they are and however late they are taken", () => {
    const line = fc.oneof(
      fc.string({ unit: "grapheme", maxLength: 50 }),
      fc.integer({ min: 0, max: 70_000 }).map((length) => "€".repeat(length)),
      fc.integer({ min: 21_000, max: 22_000 }).map((length) => "x".repeat(length)),
    );
    const step = fc.record({ lines: fc.array(line, { maxLength: 6 }), taken: fc.nat({ max: 4 }) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
        const channel = slowChannel();
        const write = createLineWriter(channel);
        for (const { lines, taken } of steps) {
          write(lines);
          channel.take(taken);
        }
        channel.take(Number.MAX_SAFE_INTEGER);
        const expected = steps.flatMap(({ lines }) => lines.map((text) => `${text}\n`)).join("");
        expect(channel.text() === expected).toBe(true);
      }),
    );
  });

  it("uses the memory again that has been taken, and no other", () => {
    const channel = slowChannel();
    const write = createLineWriter(channel);
    const memory = (): ArrayBufferLike[] =>
      channel.waiting.map(({ data }) => (typeof data === "string" ? new ArrayBuffer() : data.buffer));
    write(["one"]);
    write(["two"]);
    const [first, second] = memory();
    expect(second).not.toBe(first);
    channel.take(1);
    write(["three"]);
    expect(memory()).toEqual([second, first]);
    expect(memory()[1]).toBe(first);
  });
});
