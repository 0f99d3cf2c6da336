/** The standard streams by their descriptors: what is written arrives whole and in order, whatever stands behind them. */
import { closeSync, mkdtempSync, openSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { isTerminal, openChannel } from "../../src/terminal/channel.ts";

const unopened = (): never => {
  throw new Error("Node's stream was opened");
};
const asStream = (stream: unknown) => () => stream as NodeJS.WriteStream;

describe("a channel", () => {
  it("writes straight to its descriptor, in order, without opening Node's stream", () => {
    const path = join(mkdtempSync(join(tmpdir(), "paylink-channel-")), "out");
    const descriptor = openSync(path, "w");
    const rest = new Uint8Array([0x00, 0xff]);
    const channel = openChannel(descriptor, unopened);
    expect(channel.isTTY).toBe(false);
    channel.write("https://pay.example/1 ✓\n");
    channel.write(rest);
    closeSync(descriptor);
    expect(readFileSync(path)).toEqual(Buffer.concat([Buffer.from("https://pay.example/1 ✓\n"), rest]));
  });

  it("leaves to Node's stream what the descriptor does not take, and all that follows", async () => {
    const descriptor = openSync("/dev/null", "r");
    const stream = new PassThrough();
    const channel = openChannel(descriptor, asStream(stream));
    channel.write("one ");
    closeSync(descriptor);
    channel.write("two");
    stream.end();
    expect(await text(stream)).toBe("one two");
  });

  it("is content with a reader that has gone, and with nothing else that fails", () => {
    const stream = new PassThrough();
    openChannel(openSync("/dev/null", "r"), asStream(stream)).write("x");
    const failure = (code: string) => Object.assign(new Error(code), { code });
    expect(() => stream.emit("error", failure("EPIPE"))).not.toThrow();
    expect(() => stream.emit("error", failure("ENOSPC"))).toThrow("ENOSPC");
  });

  it("asks Node about character devices alone, of which not all are terminals", () => {
    expect(isTerminal(openSync("/dev/zero", "r"), () => ({}))).toBe(false);
    expect(isTerminal(openSync("/dev/zero", "r"), () => ({ isTTY: true }))).toBe(true);
    expect(isTerminal(openSync("/dev/null", "r"), unopened)).toBe(false);
    expect(isTerminal(openSync(import.meta.filename, "r"), unopened)).toBe(false);
  });
});
