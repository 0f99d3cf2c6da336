/** What is printed to a terminal and to a pipe, also without a reader. */
import { PassThrough, Writable } from "node:stream";
import { text } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { formatLocal } from "../../src/render/layout.ts";
import { createEventText } from "../../src/commands/event-text.ts";
import { standardChannels } from "../../src/terminal/channel.ts";
import { createOutput } from "../../src/terminal/output.ts";
import { event } from "../support/stored-events.ts";

const NOW = (): Date => new Date(0);

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

/** A stream that takes nothing. */
function failing(code: string): Writable {
  return new Writable({ write: (_chunk, _encoding, done) => done(Object.assign(new Error(code), { code })) });
}

const plain = { color: false } as const;
const open = (stdout: Writable, stderr: Writable = pipe().stream, interruption?: AbortSignal) =>
  createOutput(standardChannels({ stdout, stderr }, interruption), {}, plain, (text) => text, NOW);

it("prints times and levels only in a log, not on a terminal", async () => {
  const [shown, piped] = [terminal(), pipe()];
  for (const stderr of [shown.stream, piped.stream]) {
    const out = await open(pipe().stream, stderr);
    out.warn("before");
    out.keepLog();
    out.warn("a warning");
    out.note("a note");
    await out.settled();
  }
  piped.reader.end();
  const time = formatLocal(NOW());
  expect(shown.written.join("")).toBe("! before\n! a warning\na note\n");
  expect(await text(piped.reader)).toBe(`! before\n${time} warning a warning\n${time} info a note\n`);
});

it("puts a blank line between the records of a terminal", async () => {
  const out = await open(terminal().stream);
  out.keepLog();
  const shown = createEventText({ out, compact: false, full: false });
  const received = { ...event("a"), repeated: false };
  expect([shown(received), shown(received)]).toEqual([
    expect.stringMatching(/^APPROVED .*[^\n]$/s),
    expect.stringMatching(/^\nAPPROVED .*[^\n]$/s),
  ]);
});

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
  it("stay one line each in JSON, with every unsafe character escaped", async () => {
    const { stream, reader } = pipe();
    const channels = standardChannels({ stdout: stream, stderr: pipe().stream });
    const out = await createOutput(channels, {}, { ...plain, json: true }, (given) => given, NOW);
    out.lines(['{"a":1}', '{"b":"\u202e\u200b"}', '{"c":"é"}']);
    stream.end();
    expect(await text(reader)).toBe('{"a":1}\n{"b":"\\u202e\\u200b"}\n{"c":"é"}\n');
  });

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

  it("stop when 64 MiB wait for a slow reader, to bound memory", async () => {
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
    const out = await open(failing("EPIPE"));
    out.lines(["one"]);
    expect(await out.settled()).toBeUndefined();
    expect(out.unread().aborted).toBe(true);
    out.data("a summary");
    expect(await out.settled()).toBeUndefined();
  });

  it("are counted where the reader stands still when the command is interrupted", async () => {
    const interruption = new AbortController();
    const out = await open(new Writable({ write: () => undefined }), undefined, interruption.signal);
    out.lines(["one", "two\nthree"]);
    interruption.abort();
    out.lines(["four"]);
    const before = performance.now();
    expect(await out.settled()).toMatchObject({
      code: "output_unwritable",
      message: "The reader of stdout stands still, so 4 lines could not be written.",
    });
    // Two such readers, one after the other, leave a command less than 2 s.
    expect(performance.now() - before).toBeLessThan(2_000);
  });

  it("report a full disk", async () => {
    const out = await open(failing("ENOSPC"));
    out.lines(["one"]);
    expect(await out.settled()).toMatchObject({
      code: "output_unwritable",
      message: expect.stringContaining("the disk is full"),
    });
    expect(out.unwritten).toEqual([]);
  });
});

it.each(["EPIPE", "ENOSPC"])("shows a result on stderr if stdout fails with %s", async (code) => {
  const stderr = pipe();
  const out = await open(failing(code), stderr.stream);
  out.data("https://pay.example/1");
  out.bytes(Buffer.from("2"));
  expect(await out.settled()).toMatchObject({ code: "output_unwritable", exit: 1 });
  stderr.reader.end();
  expect(await text(stderr.reader)).toBe("https://pay.example/1\n2\n");
});

it("masks card numbers in what people read on stderr", async () => {
  const stderr = pipe();
  const out = await open(pipe().stream, stderr.stream);
  const message = "card 4111111111111111";
  out.note(message);
  out.warn(message);
  out.error(message);
  out.debug(message);
  stderr.reader.end();
  const masked = "card ************1111\n";
  expect(await text(stderr.reader)).toBe(`${masked}! ${masked}${masked}${masked}`);
});
