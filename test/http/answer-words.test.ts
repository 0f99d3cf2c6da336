/** What the pages of applications say: their words, each once. */
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
