/** The page of one delivery: its attempts, and the request, the signature base and the response of the chosen one. */
import { html } from "hono/html";
import { stringifyJson } from "../../domain/json.ts";
import { parseJson } from "../../domain/parse-json.ts";
import { textOf } from "../../domain/transaction.ts";
import { withoutPassword } from "../../domain/addresses.ts";
import type { Attempt, Delivery } from "../ledger.ts";
import { chainSection, type Chain } from "./dashboard-chain.ts";
import { dashboardPage } from "./dashboard-frame.ts";
import {
  actionForm,
  address,
  badge,
  block,
  clipped,
  copyButton,
  deliveryPath,
  exactTime,
  facts,
  foldedBlock,
  headerTable,
  plural,
  timeOf,
  type View,
} from "./dashboard-parts.ts";
import { amountOf, outcomeText, recordOf, statusText, succeeded } from "./dashboard-values.ts";
import type { Page } from "./page-frame.ts";

interface DeliveryParts {
  readonly chain: Chain;
  readonly delivery: Delivery;
  /** The newest attempts, the last one first. */
  readonly attempts: readonly Attempt[];
  /** The attempt to show; undefined if there was none yet. */
  readonly attempt: Attempt | undefined;
}

export function deliveryPage(view: View, { chain, delivery, attempts, attempt }: DeliveryParts): Page {
  const { id, linkId, uti, state, due } = delivery;
  const url = withoutPassword(delivery.url);
  const record = recordOf(delivery);
  const reference = clipped(textOf(record, "reference") ?? uti);
  return dashboardPage(view, {
    title: `Webhook ${reference}`,
    tab: "deliveries",
    link: linkId,
    content: html`<div class="title-row">
        <h1>Webhook <bdi>${reference}</bdi> <span id="title-state" data-live>${badge(state)}</span></h1>
        <div class="actions">
          ${actionForm(view, `/sandbox/deliveries/${encodeURIComponent(id)}/resend`, html`<button class="primary">Resend</button>`)}
        </div>
      </div>
      <div class="detail">
        ${chainSection(view, chain, deliveryPath(id))}
        <div class="detail-main">
          <section class="panel" id="summary" data-live aria-label="Summary">
            ${facts([
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
              [
                "Delivery id",
                html`<span class="mono">${id}</span> ${copyButton("delivery id", { text: id })}`,
              ],
              ["Verify", verifyCommand(uti)],
            ])}
          </section>
          ${attemptList(view, attempts, attempt, delivery)}
          ${attempt === undefined ? "" : attemptSection(view, attempt, delivery)}
        </div>
      </div>`,
  });
}

function verifyCommand(uti: string): Page {
  const command = `paylink verify --event ${uti} -p sandbox`;
  return html`<code>${command}</code> ${copyButton("paylink verify command", { text: command })}`;
}

function attemptList(
  view: View,
  attempts: readonly Attempt[],
  shown: Attempt | undefined,
  delivery: Delivery,
): Page {
  if (attempts.length === 0)
    return html`<section class="panel" id="attempts" data-live aria-label="Attempts">
      <p class="hint">The webhook has not been sent yet.</p>
    </section>`;
  const rest = delivery.attempts - attempts.length;
  return html`<section class="panel" id="attempts" data-live aria-labelledby="attempts-title">
    <h2 id="attempts-title">${plural(delivery.attempts, "attempt")}</h2>
    <table class="list">
      <caption class="hidden">
        Attempts, the last one first
      </caption>
      <thead>
        <tr>
          <th scope="col">Attempt</th>
          <th scope="col">Status</th>
          <th scope="col" class="medium number">Duration</th>
          <th scope="col">Time</th>
          <th scope="col" class="wide">Result</th>
        </tr>
      </thead>
      <tbody>
        ${attempts.map(
          (attempt) =>
            html`<tr class="${attempt.number === shown?.number ? "shown" : ""}">
              <td>
                <a
                  href="${address(view, deliveryPath(delivery.id), { attempt: String(attempt.number) })}#attempt"
                  ${attempt.number === shown?.number ? html`aria-current="true"` : ""}
                  >Attempt ${attempt.number}</a
                >
              </td>
              <td class="${succeeded(attempt) ? "good" : "bad"}">${statusText(attempt)}</td>
              <td class="medium number">${attempt.duration === null ? "–" : `${attempt.duration} ms`}</td>
              <td>${timeOf(attempt.at, view.now)}</td>
              <td class="wide">${clipped(attempt.detail, 100)}</td>
            </tr>`,
        )}
      </tbody>
    </table>
    ${rest > 0 ? html`<p class="hint">And ${plural(rest, "earlier attempt")}.</p>` : ""}
  </section>`;
}

function attemptSection(view: View, attempt: Attempt, delivery: Delivery): Page {
  return html`<section class="panel" id="attempt" data-live="presence" aria-labelledby="attempt-title">
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
