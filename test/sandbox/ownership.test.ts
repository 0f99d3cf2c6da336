/** One sandbox a ledger: two would deliver everything twice. */
import { join } from "node:path";
import { expect, it } from "vitest";
import { openLedger } from "../../src/store/sandbox/sqlite-ledger.ts";
import { temporaryHome } from "../support/home.ts";

it("refuses a second sandbox on the same ledger, and takes it once the first has let go", async () => {
  const path = join(temporaryHome(), "sandbox.db");
  const first = openLedger(path);
  expect(() => openLedger(path)).toThrow("Another sandbox is using");
  await first.close();
  await openLedger(path).close();
});
