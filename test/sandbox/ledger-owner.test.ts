/** One sandbox per ledger: two would deliver every webhook twice. */
import { join } from "node:path";
import { expect, it } from "vitest";
import { openLedger } from "../../src/sandbox/store/ledger.ts";
import { temporaryHome } from "../support/home.ts";

it("refuses a second sandbox on the same ledger, and accepts it after the first has closed", () => {
  const path = join(temporaryHome(), "sandbox.db");
  const first = openLedger(path);
  expect(() => openLedger(path)).toThrow("Another sandbox is using");
  first.close();
  openLedger(path).close();
});
