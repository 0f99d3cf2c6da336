/** What the answers of applications say: the words of pages, each once, and those of errors in JSON. */
import { describe, expect, it } from "vitest";
import { answerText, answerWords } from "../../src/http/answer-words.ts";

const HTML = [["Content-Type", "text/html"]] as const;

describe("the words of a page", () => {
  it.each([
    ["<title>Error</title><body><pre>Error: no stock</pre>", "Error: no stock"],
    ["<title>404 Not Found</title><h1>404 Not Found</h1><hr>nginx", "404 Not Found nginx"],
    ["<title>Error</title><p>Errors are logged", "Error Errors are logged"],
    ["<title>Shop</title><p>The Shop is closed", "Shop The Shop is closed"],
    ["<title>Error</title>", "Error"],
  ])("leave out a title that the next line repeats: %s", (page, words) => {
    expect(answerWords(HTML, page)).toBe(words);
  });

  it("follow the status, which they may begin with", () => {
    const page = "<title>Error</title><pre>Error: no stock</pre>";
    expect(answerText({ status: 500, ms: 2, detail: answerWords(HTML, page) })).toBe("500 Error: no stock");
    expect(answerText({ status: 404, ms: 2, detail: "404 Not Found nginx" })).toBe("404 Not Found nginx");
  });
});

describe("the words of an error in JSON", () => {
  const filler = { trace: "x".repeat(600) };
  it.each([
    [{ ...filler, message: "no stock" }, "no stock"],
    [{ ...filler, statusCode: 500, error: "Internal Server Error", message: "no stock" }, "no stock"],
    [{ ...filler, error: "no stock" }, "no stock"],
    [{ ...filler, type: "about:blank", title: "Conflict", status: 409, detail: "no stock" }, "no stock"],
    [{ ...filler, error: { code: "no_stock", message: "sold out" } }, "sold out (no_stock)"],
    [{ ...filler, code: 500, message: "no stock" }, "no stock"],
    [
      { ...filler, message: "Invalid", errors: [{ field: "uti", message: "is no text" }] },
      "Invalid; uti: is no text",
    ],
    [{ ...filler, message: ["uti is no text", "amount is missing"] }, "uti is no text; amount is missing"],
  ])("are its message, whatever stands before it: %j", (error, words) => {
    expect(answerWords([["Content-Type", "application/json"]], JSON.stringify(error, null, 2))).toBe(words);
  });

  it.each(['{"ok": false}', '["no", "stock"]', "no stock", '{"message": "cut o', ""])(
    "are all of it where nothing in it is a message: %s",
    (text) => {
      expect(answerWords([], text)).toBe(text);
    },
  );
});
