/** The page on which a copy of an event is edited and sent: a sample of its own, which is not stored and is never the event. */
import { html } from "hono/html";
import { maskCardFields } from "../domain/card-numbers.ts";
import { indentedJson, isJsonObject } from "../domain/json.ts";
import { answerPart } from "../pages/answer.ts";
import { panel } from "../pages/components.ts";
import type { Page } from "../pages/page.ts";
import type { Forward } from "../receiver/event.ts";
import { likelyCause } from "../render/likely-cause.ts";
import type { StoredEvent } from "../store/rows.ts";
import { inspectorPage, type View } from "./frame.ts";
import { eventPath, nameOf } from "./rows.ts";

export interface EditedCopy {
  readonly body: string;
  readonly to: string;
  /** What became of it: an answer, or what is wrong with it; undefined before it was sent. */
  readonly result?: Forward | string | undefined;
}

/** The record to edit. It has a uti of its own, so that no application takes it for a repeat. */
export function copyOf({ content: { record } }: StoredEvent, newId: string): string {
  const masked = record === null ? {} : maskCardFields(record);
  return indentedJson(isJsonObject(masked) && "uti" in masked ? { ...masked, uti: newId } : masked);
}

export function editPage(view: View, event: StoredEvent, { body, to, result }: EditedCopy): Page {
  return inspectorPage(view, {
    title: `Edited copy of ${nameOf(event)}`,
    tab: "/",
    live: false,
    content: html`${result === undefined ? "" : resultPanel(result)}
    ${panel(
      "edit",
      "Edit and send as a sample",
      html`<p class="hint">
          The copy is signed with the key of the sandbox, or of <code>--sign-with</code>, and has the header
          <code>Paylink-Sample</code>. An application that trusts this key books what the copy says: send it
          to a test system only. It is not stored, and changes nothing of the event.
        </p>
        <form class="edit" method="post" action="${eventPath(event.id)}/edit">
          <label for="record">Record</label>
          <textarea id="record" name="body" rows="24" spellcheck="false" dir="auto">${body}</textarea>
          <label for="to">Send to</label>
          <input id="to" name="to" value="${to}" required placeholder="3000/hook" />
          <div class="actions">
            <button class="primary">Send the sample</button>
            <a class="button" href="${eventPath(event.id)}">Back to the event</a>
          </div>
        </form>`,
    )}`,
  });
}

function resultPanel(result: Forward | string): Page {
  if (typeof result === "string")
    return html`<p class="alert bad" role="alert">Nothing was sent: ${result}.</p>`;
  const { status, ms: duration, reply, detail } = result;
  const cause = likelyCause(result, { comesAgain: false });
  return panel(
    "answer-panel",
    "Answer to the sample",
    status === null || reply === null
      ? html`<p class="bad">No answer: ${detail}</p>
          ${cause === undefined ? "" : html`<p class="cause">${cause}</p>`}`
      : answerPart({ status, duration, headers: reply.headers, body: reply.text }, cause),
  );
}
