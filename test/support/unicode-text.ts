/** Texts of any characters of Unicode, for property tests. */
import * as fc from "fast-check";

const isSurrogate = (point: number): boolean => point >= 0xd800 && point <= 0xdfff;

/** As fast-check's unit "binary", which first lists them all: most of a second in each worker. */
export const unicodeText = fc.string({
  unit: fc
    .integer({ min: 0, max: 0x10ffff })
    .filter((point) => !isSurrogate(point))
    .map((point) => String.fromCodePoint(point)),
});
