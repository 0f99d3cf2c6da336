/** Tables of text. */
import { expect, it } from "vitest";
import { renderTable } from "../../src/render/layout.ts";

it("renders a table of more rows than a function takes arguments", () => {
  const rows = Array.from({ length: 500_000 }, (_, row) => [{ text: String(row) }, { text: "x" }]);
  const lines = renderTable(rows).split("\n");
  expect(lines).toHaveLength(500_000);
  expect(lines.at(-1)).toBe("499999  x");
});
