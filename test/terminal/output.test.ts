/** What is printed, by what stands behind the standard streams. */
import { expect, it } from "vitest";
import type { Channel } from "../../src/terminal/channel.ts";
import { createOutput } from "../../src/terminal/output.ts";

/** A terminal whose size can be changed, and what it was sent. */
function terminal() {
  const sent: string[] = [];
  const size = { columns: 0 };
  const stream = Object.assign(size, { getColorDepth: () => 1 }) as NodeJS.WriteStream;
  const channel: Channel = {
    isTTY: true,
    stream: () => stream,
    write: (data) => void sent.push(String(data)),
  };
  return { channel, size, sent };
}

it("keeps to the width that the terminal has now, or to 80 columns where nobody gave it a size", async () => {
  const [stdout, stderr] = [terminal(), terminal()];
  const channels = { stdout: stdout.channel, stderr: stderr.channel };
  const out = await createOutput(channels, {}, { color: "never" }, (text) => text);
  for (const [columns, width] of [
    [0, 80],
    [120, 120],
    [60, 60],
  ] as const) {
    stdout.size.columns = columns;
    stderr.size.columns = columns;
    stderr.sent.length = 0;
    expect(out.width).toBe(width);
    out.progress(String(columns).repeat(200));
    expect(stderr.sent.join("").replace("\r\u001B[2K", "")).toHaveLength(width - 1);
  }
});
