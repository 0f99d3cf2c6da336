/** What the exports of eight accounting programs, shops and payment services say of their rows: links to send, and what is booked. */
import { describe, expect, it } from "vitest";
import { formatAmount } from "../../src/domain/money.ts";
import { runCommand } from "../support/context.ts";
import { jsonLines } from "../support/json-lines.ts";
import { temporaryHome } from "../support/home.ts";
import { startLinkService } from "../support/link-service.ts";
import { BANK_EXPORTS } from "./bank-exports.ts";
import { PROGRAM_EXPORTS } from "./program-exports.ts";

const ENV = {
  PAYLINK_BASE_URL: "http://127.0.0.1:9",
  PAYLINK_TOKEN: "t",
  PAYLINK_TERMINAL_ID: "1",
};

/** The lists that links are made of. */
const TO_SEND = PROGRAM_EXPORTS.flatMap((one) => (one.due === undefined ? [] : [{ ...one, due: one.due }]));

describe("an export of invoices or orders", () => {
  it.each(TO_SEND)(
    "of $program is not sent before its paid rows are left out, and then with the right sum",
    async ({ text, toSend, due }) => {
      const send = (flags: readonly string[]) =>
        runCommand(["bulk", "-", "--dry-run", "--look-back", "0", "--json", ...flags], {
          home: temporaryHome(),
          stdin: text,
          env: ENV,
        });
      const withPaid = await send(toSend.filter((flag) => !flag.startsWith("--only")));
      expect(withPaid.exit).toBe(2);
      expect(withPaid.stderr).toContain("says what became of");
      const chosen = await send(toSend);
      expect(chosen).toMatchObject({ exit: 0 });
      expect(jsonLines(chosen.stdout)).toMatchObject([{ links: due.links, sums: due.sums }]);
    },
  );
});

describe("an export as books", () => {
  it.each([...PROGRAM_EXPORTS, ...BANK_EXPORTS])(
    "of $program is compared by reconcile with what it says was paid",
    async (one) => {
      const service = await startLinkService(() => "create");
      const { text, toCompare, paid } = one;
      const { stdout, exit } = await runCommand(["reconcile", "--books", "-", "--json", ...toCompare], {
        home: temporaryHome(),
        stdin: text,
        env: service.env,
      });
      // The service has no link: whatever is booked as paid is booked only. What was paid back comes to nothing.
      const found = jsonLines(stdout).filter(({ type }) => type === "finding");
      const sums = found.map(({ invoiceId, amount, currency }) => [
        invoiceId,
        formatAmount(String(amount), String(currency)),
      ]);
      const expected = Object.entries(paid).filter(([, sum]) => !sum.endsWith(" 0.00"));
      expect([exit, new Set(found.map(({ finding }) => finding))]).toEqual([10, new Set(["booked only"])]);
      expect(Object.fromEntries(sums)).toEqual(Object.fromEntries(expected));
    },
  );
});
