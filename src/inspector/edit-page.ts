/** The page on which a copy of an event is edited and sent: a sample of its own, which is not stored and is never the event. */
import { html } from "hono/html";
import { maskCardFields } from "../domain/card-numbers.ts";
import { indentedJson, isJsonObject } from "../domain/json.ts";
import { parseJson } from "../domain/parse-json.ts";
import { splitReference } from "../domain/reference.ts";
import { textOf } from "../domain/transaction.ts";
import { answerPart } from "../pages/answer.ts";
import { panel } from "../pages/components.ts";
import type { Page } from "../pages/page.ts";
import type { Forward } from "../events/event.ts";
import { likelyCause } from "../render/likely-cause.ts";
import type { StoredEvent } from "../store/rows.ts";
import { inspectorPage, type InspectorView } from "./frame.ts";
import { eventPath, eventName } from "./rows.ts";

export interface EditedCopy {
  readonly body: string;
  readonly to: string;
  /** What became of it: an answer, or what is wrong with it; undefined before it was sent. */
  readonly result?: Forward | string | undefined;
}

/** What the order number of a copy begins with. */
const SAMPLE_PREFIX = "SAMPLE-";

/**
 * The record to edit. It has a uti and an order number of its own, so that no application takes it for a repeat, or for a payment of
 * the order.
 */
export function editableCopy({ content: { record }, reference }: StoredEvent, newId: string): string {
  const masked = record === null ? {} : maskCardFields(record);
  if (!isJsonObject(masked)) return indentedJson(masked);
  const own = {
    ...("uti" in masked ? { uti: newId } : {}),
    ...("reference" in masked ? { reference: SAMPLE_PREFIX + reference } : {}),
  };
  return indentedJson({ ...masked, ...own });
}

/** Why a copy is not sent: it must be a record, and neither the payment itself nor one of the same order. */
export function copyProblem(event: StoredEvent, text: string): string | undefined {
  const parsed = parseJson(text);
  if (!parsed.ok) return `the record is not JSON: ${parsed.message}`;
  const { value } = parsed.value;
  if (!isJsonObject(value)) return "the record must be a JSON object";
  if (event.uti !== "" && textOf(value, "uti") === event.uti)
    return "the uti is that of the event, and a sample needs its own";
  const order = splitReference(event.reference).base;
  if (order !== "" && splitReference(textOf(value, "reference") ?? "").base === order)
    return `the reference is that of the event's order, and a sample needs its own, such as ${SAMPLE_PREFIX}${order}`;
  return undefined;
}

export function editPage(view: InspectorView, event: StoredEvent, { body, to, result }: EditedCopy): Page {
  return inspectorPage(view, {
    title: `Edited copy of ${eventName(event)}`,
    tab: "/",
    live: false,
    content: html`${result === undefined ? "" : resultPanel(result)}
    ${panel(
      "edit",
      "Edit and send as a sample",
      html`<p class="hint">
          The copy is signed with the key of the sandbox, or of <code>--sign-with</code>, and has the header
          <code>Paylink-Sample</code>. An application that trusts this key will book what the copy says, so
          send it only to a test system. The copy is not stored, and the event stays as it is.
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
  const cause = likelyCause({ genuine: [result] }, { comesAgain: false });
  return panel(
    "answer-panel",
    "Answer to the sample",
    status === null || reply === null
      ? html`<p class="bad">No answer: ${detail}</p>
          ${cause === undefined ? "" : html`<p class="cause">${cause}</p>`}`
      : answerPart({ status, duration, headers: reply.headers, body: reply.text }, cause),
  );
}
