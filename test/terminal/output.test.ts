/** What is printed to a terminal and to a pipe, also without a reader. */
import { PassThrough, Writable } from "node:stream";
import { text } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { createOutput, standardStreams } from "../../src/terminal/output.ts";

/** A terminal whose size can be changed, and what was written to it. */
function terminal() {
  const written: string[] = [];
  const stream = Object.assign(
    new Writable({ write: (chunk, _, done) => done(void written.push(String(chunk))) }),
    {
      isTTY: true,
      columns: 0,
      getColorDepth: () => 1,
    },
  ) as unknown as NodeJS.WriteStream;
  return { stream, written };
}

/** A pipe, with the reader's end of it. */
function pipe() {
  const stream = new PassThrough({ highWaterMark: 1024 });
  return { stream: stream as unknown as NodeJS.WriteStream, reader: stream };
}

const plain = { color: "never" } as const;
const open = (stdout: NodeJS.WriteStream, stderr: NodeJS.WriteStream = pipe().stream) =>
  createOutput(standardStreams({ stdout, stderr }), {}, plain, (text) => text);

it("uses the current width of the terminal, or 80 columns if it has no size", async () => {
  const [stdout, stderr] = [terminal(), terminal()];
  const out = await open(stdout.stream, stderr.stream);
  for (const [columns, width] of [
    [0, 80],
    [120, 120],
    [60, 60],
  ] as const) {
    stdout.stream.columns = columns;
    stderr.stream.columns = columns;
    stderr.written.length = 0;
    expect(out.width).toBe(width);
    out.progress(String(columns).repeat(200));
    expect(stderr.written.join("").replace("\r\u001B[2K", "")).toHaveLength(width - 1);
  }
});

describe("lines", () => {
  it("are written whole and in order", async () => {
    const { stream, reader } = pipe();
    const out = await open(stream);
    const long = "€".repeat(70_000);
    out.lines([]);
    out.lines(["one", long]);
    out.lines(["✓"]);
    reader.end();
    expect(await text(reader)).toBe(`one\n${long}\n✓\n`);
  });

  it("stop when 64 MiB wait for a slow reader, so that they do not fill the memory", async () => {
    const { stream, reader } = pipe();
    const out = await open(stream);
    const mebibyte = "x".repeat(1024 * 1024);
    for (let count = 0; count < 64; count++) out.lines([mebibyte]);
    expect(out.unread().aborted).toBe(true);
    const waiting = reader.writableLength;
    out.lines([mebibyte]);
    expect(reader.writableLength).toBe(waiting);
  });

  it("stop when the reader is gone, which is not an error", async () => {
    const { stream, reader } = pipe();
    const out = await open(stream);
    expect(() => reader.emit("error", Object.assign(new Error("EPIPE"), { code: "EPIPE" }))).not.toThrow();
    expect(out.unread().aborted).toBe(true);
    out.lines(["one"]);
    expect(reader.writableLength).toBe(0);
  });

  it("report every other error of the stream", async () => {
    const { stream, reader } = pipe();
    await open(stream);
    expect(() => reader.emit("error", Object.assign(new Error("ENOSPC"), { code: "ENOSPC" }))).toThrow(
      "ENOSPC",
    );
  });
});
