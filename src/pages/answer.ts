/** What an application answered, as people read it: the words of its body, where it leads to, its headers, and its source behind a fold. */
import { html } from "hono/html";
import { indentedJson } from "../values/json.ts";
import { parseJson } from "../values/parse-json.ts";
import { fieldLines, type HeaderLine } from "../http/message.ts";
import { isPage, pageWords } from "../http/answer-words.ts";
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
    ${bodyPart(body, isPage(headers, body), /json/i.test(type))}
    ${folded("answer-headers", `Headers, ${headers.length}`, headerTable("Response headers", headers))}`;
}

function bodyPart(body: string, isHtml: boolean, isJson: boolean): Page {
  if (body === "") return html`<p class="hint">The response has no body.</p>`;
  if (isHtml)
    return html`${block({ id: "answer", title: "Words of its page", text: pageWords(body) })}
    ${folded("answer-source", "HTML source", block({ id: "source", title: "HTML", text: body }))}`;
  const json = isJson ? parseJson(body) : undefined;
  return block({
    id: "answer",
    title: "Response body",
    text: json?.ok === true ? indentedJson(json.value.value) : body,
  });
}
