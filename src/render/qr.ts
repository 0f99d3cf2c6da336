/** Draws a QR code in characters: two rows of modules per line, dark on light in any terminal. */
import type { Paint } from "./paint.ts";
import { encode } from "uqr";

/** The quiet zone that a reader needs around the symbol, in modules (ISO/IEC 18004 6.3.8). */
const QUIET_ZONE = 4;

export function renderQr(text: string, paint: Paint): string {
  const { data } = encode(text, { ecc: "M", border: QUIET_ZONE });
  const lines: string[] = [];
  for (let row = 0; row < data.length; row += 2) {
    const upper = data[row] ?? [];
    const lower = data[row + 1] ?? upper.map(() => false);
    const line = upper.map((dark, column) => character(dark, lower[column] ?? false)).join("");
    lines.push(paint.level === 0 ? line : paint.bgBlack.whiteBright(line));
  }
  return lines.join("\n");
}

/** Draws the light modules, so that the code is dark on light in most terminals even without colours. */
function character(upperDark: boolean, lowerDark: boolean): string {
  if (upperDark) return lowerDark ? " " : "▄";
  return lowerDark ? "▀" : "█";
}
