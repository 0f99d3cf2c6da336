/** The page of one delivery: its attempts, and the request, the signature base and the response of the chosen one. */
import { html } from "hono/html";
import { withoutPassword } from "../../domain/addresses.ts";
import { stringifyJson } from "../../domain/json.ts";
import { parseJson } from "../../domain/parse-json.ts";
import { textOf } from "../../domain/transaction.ts";
import { isAccepted } from "../deliveries.ts";
import type { Attempt, Delivery } from "../store/rows.ts";
import { facts, type Page } from "../page.ts";
import { attemptAddress, chainOf, detailPage } from "./details.ts";
import {
  actionForm,
  address,
  amountOf,
  block,
  clipped,
  copyButton,
  deliveryPath,
  exactTime,
  foldedBlock,
  headerTable,
  outcomeText,
  plural,
  recordOf,
  statusText,
  table,
  timeOf,
  type Listing,
  type View,
} from "./parts.ts";

/** The most attempts that the page lists. */
const ATTEMPTS = 20;

/** Shows the newest attempt unless another is asked for. Undefined for an unknown delivery. */
export function deliveryPage(view: View, id: string, asked: number): Page | undefined {
  const { ledger } = view;
  const delivery = ledger.findDelivery(id);
  const link = delivery && ledger.findLink(delivery.linkId);
  if (delivery === undefined || link === undefined) return undefined;
  const attempts = ledger.attemptsOf(id, ATTEMPTS);
  const attempt = (Number.isSafeInteger(asked) && ledger.findAttempt(id, asked)) || attempts[0];
  const { uti, state, due } = delivery;
  const url = withoutPassword(delivery.url);
  const record = recordOf(delivery);
  const reference = clipped(textOf(record, "reference") ?? uti);
  const verify = `paylink verify --event ${uti} -p sandbox`;
  return detailPage(view, {
    title: `Webhook ${reference}`,
    tab: "deliveries",
    heading: html`Webhook <bdi>${reference}</bdi>`,
    state,
    actions: actionForm(
      view,
      `/sandbox/deliveries/${encodeURIComponent(id)}/resend`,
      html`<button class="primary">Resend</button>`,
    ),
    chain: chainOf(view, link, { payment: ledger.findPayment(uti), delivery }),
    path: deliveryPath(id),
    // An attempt that someone reads stays on the page when a newer one is made.
    live: attempt === undefined ? {} : { attempt: String(attempt.number) },
    summary: facts([
      [
        "Address",
        html`<span class="mono">${clipped(url, 200)}</span>
          ${copyButton("address", { text: clipped(url, 2_000) })}`,
      ],
      ["Payment", `${amountOf(record)} ${outcomeText(record)}`],
      [
        "Next attempt",
        state === "waiting"
          ? timeOf(new Date(due), view.now)
          : state === "failed"
            ? "none: every attempt failed"
            : undefined,
      ],
      ["Delivery id", html`<span class="mono">${id}</span> ${copyButton("delivery id", { text: id })}`],
      ["Verify", html`<code>${verify}</code> ${copyButton("paylink verify command", { text: verify })}`],
    ]),
    sections: [
      attemptList(view, attempts, attempt, delivery),
      attempt === undefined ? "" : attemptSection(view, attempt, delivery),
    ],
  });
}

const listing = (shown: Attempt | undefined): Listing<Attempt> => ({
  caption: "Attempts, the last one first",
  id: ({ number }) => `attempt-${number}`,
  columns: [
    {
      title: "Attempt",
      cell: (attempt, view) =>
        html`<a
          href="${attemptAddress(view, attempt)}"
          ${attempt.number === shown?.number ? html`aria-current="true"` : ""}
          >Attempt ${attempt.number}</a
        >`,
    },
    {
      title: "Status",
      cell: (attempt) =>
        html`<span class="${isAccepted(attempt) ? "good" : "bad"}">${statusText(attempt)}</span>`,
    },
    {
      title: "Duration",
      kind: "medium number",
      cell: ({ duration }) => (duration === null ? "–" : `${duration} ms`),
    },
    { title: "Time", cell: ({ at }, { now }) => timeOf(at, now) },
    { title: "Result", kind: "wide", cell: ({ detail }) => clipped(detail, 100) },
  ],
});

function attemptList(
  view: View,
  attempts: readonly Attempt[],
  shown: Attempt | undefined,
  delivery: Delivery,
): Page {
  if (attempts.length === 0)
    return html`<section class="panel" id="attempts" aria-label="Attempts">
      <p class="hint">The webhook has not been sent yet.</p>
    </section>`;
  const rest = delivery.attempts - attempts.length;
  return html`<section class="panel" id="attempts" aria-labelledby="attempts-title">
    <h2 id="attempts-title">${plural(delivery.attempts, "attempt")}</h2>
    ${table(view, listing(shown), attempts)}
    ${rest > 0 ? html`<p class="hint">And ${plural(rest, "earlier attempt")}.</p>` : ""}
  </section>`;
}

function attemptSection(view: View, attempt: Attempt, delivery: Delivery): Page {
  return html`<section class="panel" id="attempt" aria-labelledby="attempt-title">
    <h2 id="attempt-title">Attempt ${attempt.number}</h2>
    <p class="hint">${exactTime(attempt.at)} · ${clipped(attempt.detail, 200)}</p>
    ${attempt.headers.length === 0 ? "" : requestParts(view, attempt, delivery)} ${responseParts(attempt)}
  </section>`;
}

function requestParts(view: View, { headers, base }: Attempt, delivery: Delivery): Page {
  const text = new TextDecoder().decode(delivery.body);
  const json = parseJson(text);
  const whole = address(view, `${deliveryPath(delivery.id)}/body`);
  const url = withoutPassword(delivery.url);
  const curl = curlCommand(url, headers, text);
  return html`<h3>Request</h3>
    <p class="mono request-line">POST ${clipped(url, 200)}</p>
    ${headerTable("Request headers", headers)}
    ${json.ok ? block({ id: "json", title: "Body as JSON", text: stringifyJson(json.value.value, 2), whole }) : ""}
    ${foldedBlock({ id: "bytes", title: "Body", text, whole }, `Exact body, ${plural(delivery.body.length, "byte")}`)}
    ${foldedBlock({ id: "base", title: "Signature base", text: base }, "Signature base: the text that was signed")}
    ${curl.length > LONGEST_COMMAND ? "" : foldedBlock({ id: "curl", title: "curl command", text: curl }, "The same request with curl")}`;
}

/** Terminals cut off longer commands, and they make the page large. */
const LONGEST_COMMAND = 2_500;

function curlCommand(url: string, headers: Attempt["headers"], body: string): string {
  const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
  // curl writes these itself.
  const own = headers.filter(([name]) => !["host", "content-length"].includes(name.toLowerCase()));
  const lines = own.map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`);
  return [`curl ${quoted(url)}`, ...lines, `--data-binary ${quoted(body)}`].join(" \\\n  ");
}

function responseParts({ status, duration, answerHeaders, answer }: Attempt): Page {
  if (status === null) return html`<h3>No response</h3>`;
  return html`<h3>
      Response ${status}${duration === null ? "" : html` <span class="quiet">after ${duration} ms</span>`}
    </h3>
    ${headerTable("Response headers", answerHeaders)}
    ${answer === "" ? html`<p class="hint">The response has no body.</p>` : block({ id: "answer", title: "Response body", text: answer })}`;
}
