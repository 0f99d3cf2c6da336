/** No remote text can command a terminal: through the escaper, and through every renderer of a record or a link. */
import fc from "fast-check";
import { Chalk } from "chalk";
import { describe, expect, it } from "vitest";
import { PaylinkError } from "../../src/domain/errors.ts";
import { JsonNumber } from "../../src/values/json.ts";
import { TRANSACTION_FIELDS } from "../../src/domain/transaction-fields.ts";
import { renderError } from "../../src/render/error-message.ts";
import { renderLink } from "../../src/render/link.ts";
import { renderCompactRecord, renderRecord } from "../../src/render/transaction-record.ts";
import { safeJson, safeText } from "../../src/render/safe-text.ts";
import { clip } from "../../src/render/width.ts";
import { resolveSettings } from "../../src/settings/resolved-settings.ts";
import { renderForward, renderRejection } from "../../src/render/received-webhook.ts";
import { renderTable } from "../../src/render/layout.ts";
import { unicodeText } from "../support/unicode-text.ts";

const HOSTILE = "\u001b[2J\u001b]0;owned\u0007\u009b31m\r\b\u202eevil\u200b\u2066\ufeff\u{e0041}\n\u2028";
const plain = new Chalk({ level: 0 });

/** Everything but the line breaks that the renderers themselves put in. */
const commands = /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u;

describe("safeJson", () => {
  it("keeps every value, and lets no unsafe character through", () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: "binary" }), (value) => {
        for (const space of [0, 2]) {
          const json = safeJson(JSON.stringify(value, null, space));
          expect(json).not.toMatch(/(?![\n])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u);
          expect(JSON.parse(json)).toEqual(JSON.parse(JSON.stringify(value)));
        }
      }),
    );
  });

  it("changes nothing outside strings, except for a byte order mark", () => {
    const json = '{\r\n\t"amount": 10.00 ,\n "a":"\u009b\u202e\u{e0041}" }';
    expect(safeJson(`\ufeff${json}`)).toBe('{\r\n\t"amount": 10.00 ,\n "a":"\\u009b\\u202e\\udb40\\udc41" }');
  });
});

describe("safeText", () => {
  it("shows each unsafe character as an escape that can be read", () => {
    expect(safeText("a\u001b[31mb\n\t\u202e")).toBe("a\\u{1b}[31mb\\n\\t\\u{202e}");
    expect(safeText("\ud800")).toBe("\\u{d800}");
  });

  it("leaves what people write alone", () => {
    for (const text of ["Café €10", "日本語", "emoji 👍", "O'Brien & Söhne"])
      expect(safeText(text)).toBe(text);
  });

  it("never prints a control character", () => {
    fc.assert(
      fc.property(unicodeText, (text) => {
        expect(safeText(text)).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u);
      }),
    );
  });

  it("clips between characters, never inside one", () => {
    expect(clip("👍👍👍", 3)).toBe("👍…");
    expect(clip("abc", 3)).toBe("abc");
  });
});

describe("every renderer", () => {
  const record = {
    ...Object.fromEntries(TRANSACTION_FIELDS.map(({ name }) => [name, HOSTILE])),
    [HOSTILE]: HOSTILE,
  };
  const style = {
    paint: plain,
    notePaint: plain,
    width: 80,
    lineWidth: 80,
    now: new Date(0),
    service: resolveSettings({ name: HOSTILE, profile: { baseUrl: HOSTILE }, env: {} }),
    json: false,
    warnings: [],
    unwritten: [],
  };

  it.each([
    ["record", renderRecord(record, [{ code: "body_schema", path: HOSTILE, message: HOSTILE }], style)],
    ["compact record", renderCompactRecord(record, plain)],
    ["table", renderTable([[{ text: HOSTILE }]])],
    [
      "answer of an application",
      renderForward("id", { target: "http://a/", status: 500, ms: 1, detail: HOSTILE }, plain),
    ],
    [
      "link",
      renderLink(
        {
          url: HOSTILE,
          id: HOSTILE,
          status: HOSTILE,
          currency: HOSTILE,
          amount: new JsonNumber("1"),
          customerName: HOSTILE,
          terminalId: HOSTILE,
          expirationDate: HOSTILE,
          linkOptions: { mode: HOSTILE, minAmount: HOSTILE },
        },
        style,
      ),
    ],
    [
      "rejection",
      renderRejection("1", { code: "unsigned", status: 401, detail: HOSTILE, hint: HOSTILE }, plain),
    ],
    [
      "error",
      renderError(
        new PaylinkError("refused", HOSTILE, { problems: [{ at: HOSTILE, message: HOSTILE }] }),
        style,
      ),
    ],
  ])("makes remote text safe: %s", (_, shown) => {
    expect(shown).toContain("evil");
    expect(shown).not.toMatch(commands);
  });
});
