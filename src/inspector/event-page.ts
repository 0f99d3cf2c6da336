/** The page of one event or one rejection: what became of it, its attempts and arrivals, its record, its verdict and its request. */
import { html } from "hono/html";
import { maskCardNumbers } from "../domain/card-numbers.ts";
import { paylink } from "../domain/hint.ts";
import { renderHint } from "../render/hint.ts";
import { indentedJson } from "../values/json.ts";
import { capitalized } from "../values/sentence.ts";
import { REFUSAL_MEANINGS } from "../domain/reasons.ts";
import { responseText } from "../domain/response-codes.ts";
import { capturedUrl, isSuccess } from "../http/message.ts";
import { parseInstant, durationWords } from "../values/time.ts";
import { LISTENER_URL } from "../domain/known-services.ts";
import { amountIn, textOf } from "../domain/transaction.ts";
import type { FieldName } from "../domain/transaction-fields.ts";
import { eventStanding } from "../events/event-standing.ts";
import { standingWords } from "../events/event-standing-words.ts";
import { answerText } from "../http/answer-words.ts";
import type { History, StoredAttempt, StoredEvent } from "../events/history.ts";
import { stepsOf } from "../events/steps.ts";
import {
  actionForm,
  askedAction,
  block,
  clipped,
  copyable,
  countdown,
  facts,
  folded,
  exactTime,
  panel,
  timeAgo,
} from "../pages/components.ts";
import {
  ATTEMPTS_SHOWN,
  attemptsPanel,
  describedPart,
  requestPanel,
  verdictPanel,
  type Description,
  type ShownAttempt,
} from "../pages/exchange.ts";
import { answerPart } from "../pages/answer.ts";
import { detailContent } from "../pages/frame.ts";
import type { Page } from "../pages/page.ts";
import { bodyIsKept, lateAge, type Rejection } from "../events/event.ts";
import { lastCause } from "../render/likely-cause.ts";
import { BODY_FILE, curlCommand } from "./curl.ts";
import { orderAlert, orderPanel, type OrderPayments } from "./order.ts";
import { inspectorPage, isApart, isOwn, type InspectorView } from "./frame.ts";
import { eventAmount, eventPath, eventName, eventOutcome, shownState } from "./rows.ts";

export interface EventPageParts {
  readonly history: History;
  readonly order: OrderPayments | undefined;
  /** Whether what is sent from here is signed anew. */
  readonly signs: boolean;
}

export function eventPage(
  view: InspectorView,
  event: StoredEvent,
  { history, order, signs }: EventPageParts,
): Page {
  const { request, verdict, receivedAt, id } = event;
  const last = history.attempts.at(-1);
  const advice = isApart(view, event) ? OTHER_KEY_ADVICE : lastCause(event, history);
  return inspectorPage(view, {
    title: eventName(event),
    state: shownState(event),
    actions: actionsOf(view, event, signs),
    tab: "/",
    content: detailContent(
      html`<p class="what"><bdi>${capitalized(eventOutcome(event))} ${eventAmount(event)}</bdi></p>
        ${describedPart({ ...describeEvent(event, history, view.now), advice })}`,
      [
        orderAlert(event, order),
        answerPanel(last),
        attemptsPart(event, history, view.now),
        order === undefined ? "" : orderPanel(view, order),
        recordPart(event, view.now),
        verdictPanel({ verdict, request, at: receivedAt }, filesOf(view, id)),
        requestPanel(request, { ...filesOf(view, id), isFolded: true }),
        curlPanel(view, event),
      ],
    ),
  });
}

/** The request for a terminal. What another key has verified is not sent on, not even by hand. */
function curlPanel(view: InspectorView, event: StoredEvent): Page | "" {
  if (!isOwn(view, event)) return "";
  const { request } = event;
  const curl = curlCommand(request, curlUrl(view, event));
  if (curl === undefined) return "";
  const { command, needsFile } = curl;
  return panel(
    "curl",
    "Send it from a terminal",
    html`${changedCopy(view, event)}
    ${folded(
      "curl",
      "The same bytes with curl",
      html`${block({ id: "curl-command", title: "curl command", text: command })}
      ${
        needsFile
          ? html`<p class="hint">
              <a href="${filesOf(view, event.id).body}" download>Download ${BODY_FILE}</a> into the folder in
              which you run it.
            </p>`
          : ""
      }`,
    )}`,
  );
}

/** Where it is sent, or was posted to; where neither is known, as Host does not name the listener, where `listen` listens by default. */
function curlUrl({ target }: InspectorView, { request }: StoredEvent): string {
  if (/^https?:/.test(target)) return target;
  return request.authority === "" ? new URL(request.target, LISTENER_URL).href : capturedUrl(request);
}

/** A changed copy is a sample with an order number of its own, which no application takes for a payment of the order. */
function changedCopy({ target, named }: InspectorView, { id, reference, content }: StoredEvent): Page | "" {
  if (content.record === null) return "";
  const command = paylink`trigger ${{
    "-p": named.profile,
    "--from": id,
    "--db": named.eventStore,
    "--reference": reference === "" ? undefined : `SAMPLE-${reference}`,
    "--amount": amountIn(content.record, "amountTrans")?.toString(),
    "--to": /^https?:/.test(target) ? target : undefined,
  }}`;
  return html`<p class="hint">
    A changed copy as a sample, signed with the key of the sandbox or of <code>--sign-with</code>, with
    <code>--set &lt;field&gt;=&lt;value&gt;</code> for other fields:
    ${copyable("the command that sends a changed copy", renderHint([command], named))}
  </p>`;
}

const OTHER_KEY_ADVICE =
  "This event was verified with a key that this run does not have, so it is not sent from here. A listener that has the key forwards it.";

/** `accepts`: whether it verifies with the key that is configured now. */
export function rejectionPage(view: InspectorView, rejection: Rejection, accepts: boolean): Page {
  const { id, status, code, detail: words, receivedAt, verdict, request } = rejection;
  const description: Description = {
    kind: "bad",
    words: `Rejected with ${status}: ${reasonMeaning(code)}.`,
    reason: words,
    advice: html`${exactTime(receivedAt, view.now)} · <span class="mono">${id}</span>`,
  };
  return inspectorPage(view, {
    title: code,
    state: "rejected",
    actions: accepts ? acceptAction(view, id) : "",
    tab: "/",
    content: detailContent(describedPart(description), [
      verdict === null || request === null
        ? ""
        : verdictPanel({ verdict, request, at: receivedAt }, filesOf(view, id)),
      request === null
        ? panel("request", "Request", html`<p class="hint">What arrived was not an HTTP request.</p>`)
        : requestPanel(request, { ...filesOf(view, id), isKept: bodyIsKept(rejection) }),
    ]),
  });
}

const reasonMeaning = (code: string): string =>
  Object.entries(REFUSAL_MEANINGS).find(([name]) => name === code)?.[1] ?? code;

/** Where the files of an event or a rejection are, and the command that explains it. */
const filesOf = ({ named }: InspectorView, id: string) => ({
  body: `${eventPath(id)}/body`,
  file: `${eventPath(id)}/request`,
  command: renderHint([paylink`verify --event ${id}`], named),
});

const SENTENCE = 190;

function describeEvent({ delivery }: StoredEvent, { attempts }: History, now: Date): Description {
  const { kind, did = "", why, next = "", at } = standingWords(eventStanding(delivery, attempts));
  return {
    kind,
    words: html`${clipped(did, SENTENCE)} ${next}${at === null ? "" : html` ${countdown(at, now)}.`}`,
    reason: why,
  };
}

/** The attempts, with what arrived again and what was done by hand, the last one first. */
function attemptsPart(event: StoredEvent, history: History, now: Date): Page {
  let number = 0;
  const rows = stepsOf({ events: [{ event, history }] }, now)
    .filter(({ what }) => what !== "webhook arrived")
    .map(({ at, what, detail, attempt }): ShownAttempt => {
      const row = { id: String(at.getTime()), time: exactTime(at, now) };
      if (attempt === undefined) {
        const title = html`${capitalized(what)} <bdi>${clipped(detail)}</bdi>`;
        return { ...row, title, answer: "", kind: "waiting" };
      }
      const { status, isReplay, target } = attempt;
      const answer = status === null ? attempt.detail : answerText(attempt);
      const title = isReplay ? "Sent again by hand" : `Attempt ${++number}`;
      return { ...row, title, answer, kind: isSuccess(status) ? "good" : "bad", target };
    });
  return attemptsPanel(
    rows.toReversed().slice(0, ATTEMPTS_SHOWN),
    Math.max(0, rows.length - ATTEMPTS_SHOWN),
    "It was not forwarded.",
  );
}

/** What the application answered last, whole. */
function answerPanel(attempt: StoredAttempt | undefined): Page | "" {
  if (attempt === undefined || attempt.status === null || attempt.reply === null) return "";
  const { status, ms: duration, reply } = attempt;
  const body = maskCardNumbers(reply.text);
  return panel(
    "answer-panel",
    attempt.isReplay ? "Answer to the webhook sent by hand" : "Your application's answer",
    answerPart({ status, duration, headers: reply.headers, body }),
  );
}

function recordPart(event: StoredEvent, now: Date): Page {
  const { receivedAt: at, id } = event;
  const { record, violations } = event.content;
  if (record === null)
    return panel("record", "Record", html`<p class="hint">The body contains no transaction record.</p>`);
  const text = (name: FieldName): string => clipped(textOf(record, name) ?? "", 100);
  const time = parseInstant(textOf(record, "transDateTime") ?? "");
  return panel(
    "record",
    "Record",
    html`${facts([
      ["Outcome", eventOutcome(event)],
      ["Amount", eventAmount(event)],
      ["Order number", clipped(event.reference, 100)],
      ["UTI", event.uti === "" ? "" : copyable("UTI", event.uti, clipped(event.uti, 100))],
      ["Card", `${text("cardScheme")} ${text("cardPan")}`.trim()],
      ["Response", clipped(responseText(textOf(record, "responseCode") ?? ""), 100)],
      ["Time", time === undefined ? text("transDateTime") : exactTime(time, now)],
      ["Received", html`${exactTime(at, now)}, ${timeAgo(at, now)} · <span class="mono">${id}</span>`],
      ["Key", copyable("the thumbprint", event.key)],
    ])}
    ${
      violations.length === 0
        ? ""
        : html`<ul class="violations" aria-label="Deviations from the specification">
            ${violations.slice(0, 20).map(({ path, message }) => html`<li><span class="mono">${clipped(path || "body")}</span> ${clipped(message, 200)}</li>`)}
          </ul>`
    }
    ${folded("record", "All fields", block({ id: "fields", title: "Transaction record", text: indentedJson(record) }))}`,
  );
}

function actionsOf(view: InspectorView, event: StoredEvent, signs: boolean): Page {
  const { now, target, here: back } = view;
  const { delivery, id } = event;
  const path = eventPath(id);
  const isOpen = delivery !== null && delivery.state !== "delivered" && !delivery.isTrying;
  const age = signs ? undefined : lateAge(event, now);
  const warnings = [
    delivery?.state === "delivered" ? "Your application will receive it twice." : "",
    age !== undefined ? `Its signature is ${durationWords(age)} old; most verifiers refuse it.` : "",
  ].filter((words) => words !== "");
  return html`${isOpen && isOwn(view, event) ? actionForm(`${path}/retry`, back, html`<button class="primary">Retry</button>`) : ""}
  ${
    isOwn(view, event)
      ? askedAction({
          id: "send",
          button: "Send again…",
          title: "Send this webhook again?",
          subject: eventName(event),
          text:
            warnings.join(" ") ||
            "paylink sends it once, from this computer. The answer is shown on this page.",
          fields: html`<label for="to">Send to</label>
            <input id="to" name="to" form="send-form" value="${target}" required placeholder="3000/hook" />`,
          confirm: "Send again",
          action: `${path}/send`,
          back,
        })
      : ""
  }
  ${
    isOpen && delivery.state !== "skipped"
      ? askedAction({
          id: "skip",
          button: "Skip…",
          title: "Never forward this payment?",
          subject: `${eventOutcome(event)} ${eventAmount(event)} ${eventName(event)}`,
          text: `Your application will not learn of it from paylink.${isOwn(view, event) ? " Retry undoes this." : ""}`,
          confirm: "Skip",
          kind: "danger",
          action: `${path}/skip`,
          back,
        })
      : ""
  }`;
}

const acceptAction = ({ here: back }: InspectorView, id: string): Page =>
  askedAction({
    id: "accept",
    button: "Accept…",
    title: "Accept this webhook?",
    text: "It verifies with the key that is configured now. It will become an event and be forwarded.",
    confirm: "Accept",
    action: `${eventPath(id)}/accept`,
    back,
  });
