/** QR codes as a phone sees them: the characters turned back into pixels, and read by a decoder. */
import { Chalk } from "chalk";
import jsQR from "jsqr";
import { describe, expect, it } from "vitest";
import { renderQr } from "../../src/render/qr.ts";

const SCALE = 4;

function decode(text: string): string | undefined {
  const lines = text.split("\n");
  const width = lines[0]?.length ?? 0;
  const light = lines.flatMap((line) => [
    [...line].map((character) => character === "█" || character === "▀"),
    [...line].map((character) => character === "█" || character === "▄"),
  ]);
  const pixels = new Uint8ClampedArray(width * SCALE * light.length * SCALE * 4).fill(255);
  for (let y = 0; y < light.length * SCALE; y += 1)
    for (let x = 0; x < width * SCALE; x += 1) {
      const on = light[Math.floor(y / SCALE)]?.[Math.floor(x / SCALE)] ?? false;
      if (!on) pixels.fill(0, (y * width * SCALE + x) * 4, (y * width * SCALE + x) * 4 + 3);
    }
  return jsQR(pixels, width * SCALE, light.length * SCALE)?.data;
}

describe("a QR code", () => {
  it.each([
    "https://pay.example/checkout?r=L1",
    "http://127.0.0.1:4010/pay?r=0e1ff051-993c-4d52-b714-ced8bef1e644",
    `https://pay.example/${"long/".repeat(60)}?r=1`,
  ])("of %s can be read back", (url) => {
    expect(decode(renderQr(url, new Chalk({ level: 0 })))).toBe(url);
  });

  it("sets both colours if it can, whatever the terminal's own are", () => {
    const painted = renderQr("https://pay.example", new Chalk({ level: 1 }));
    expect(painted.split("\n").every((line) => line.startsWith("\u001b[40m\u001b[97m"))).toBe(true);
  });
});
