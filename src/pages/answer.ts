/** What an application answered, as people read it: the words of its body, where it leads to, its headers, and its source behind a fold. */
import { html } from "hono/html";
import { indentedJson } from "../domain/json.ts";
import { parseJson } from "../domain/parse-json.ts";
import { fieldLines, type HeaderLine } from "../http/message.ts";
import { block, clipped, facts, folded, headerTable } from "./components.ts";
import type { Page } from "./page.ts";

export interface ApplicationAnswer {
  readonly status: number;
  /** Milliseconds. */
  readonly duration: number | null;
  readonly headers: readonly HeaderLine[];
  /** Its beginning, decoded. */
  readonly body: string;
}

/** `cause` says why the application probably answered so, and what to do about it. */
export function answerPart({ status, duration, headers, body }: ApplicationAnswer, cause?: string): Page {
  const [location = ""] = fieldLines(headers, "location");
  const [type = ""] = fieldLines(headers, "content-type");
  return html`<p class="mono request-line">
      ${status}${duration === null ? "" : html` <span class="quiet">after ${duration} ms</span>`}
    </p>
    ${cause === undefined ? "" : html`<p class="cause">${cause}</p>`}
    ${location === "" ? "" : facts([["Leads to", html`<span class="mono">${clipped(location, 300)}</span>`]])}
    ${bodyPart(body, isHtml(headers, body), /json/i.test(type))}
    ${folded("answer-headers", `Headers, ${headers.length}`, headerTable("Response headers", headers))}`;
}

function bodyPart(body: string, isPage: boolean, isJson: boolean): Page {
  if (body === "") return html`<p class="hint">The response has no body.</p>`;
  if (isPage)
    return html`${block({ id: "answer", title: "Words of its page", text: pageWords(body) })}
    ${folded("answer-source", "HTML source", block({ id: "source", title: "HTML", text: body }))}`;
  const json = isJson ? parseJson(body) : undefined;
  return block({
    id: "answer",
    title: "Response body",
    text: json?.ok === true ? indentedJson(json.value.value) : body,
  });
}

const isHtml = (headers: readonly HeaderLine[], body: string): boolean =>
  /html/i.test(fieldLines(headers, "content-type")[0] ?? "") || /^\s*<(?:!doctype html|html)\b/i.test(body);

/** The beginning of an answer in one line: of a page for people its words. */
export const answerLine = ({ headers, body }: Pick<ApplicationAnswer, "headers" | "body">): string =>
  (isHtml(headers, body) ? pageWords(body) : body).trim().replaceAll(/\s+/g, " ");

const ENTITIES: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: " ",
};

/**
 * The words that a browser would show, a block a line. It is for reading only: what it returns is text, and is escaped like any
 * other text of a page.
 */
export function pageWords(source: string): string {
  const text = source
    .replaceAll(/<!--[^]*?-->/g, "")
    .replaceAll(/<(script|style|template|svg)\b[^]*?<\/\1\s*>/gi, "")
    .replaceAll(/\s+/g, " ")
    .replaceAll(
      /<(?:br|\/?(?:p|div|h\d|li|ul|ol|tr|table|pre|title|head|body|section|header|footer|dt|dd))\b[^>]*>/gi,
      "\n",
    )
    .replaceAll(/<[^>]*>/g, "")
    .replaceAll(
      /&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]{2,5}));/gi,
      (whole, decimal, hex, name: string | undefined) => {
        if (name !== undefined) return ENTITIES[name.toLowerCase()] ?? whole;
        const code = decimal === undefined ? Number.parseInt(String(hex), 16) : Number(decimal);
        return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
      },
    );
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "")
    .join("\n");
}
