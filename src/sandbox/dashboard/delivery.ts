/** The page of a delivery: what became of the webhook in one sentence, its attempts, and one of them with its request, response and signature. */
import { html } from "hono/html";
import { parseWebAddress } from "../../values/addresses.ts";
import { withoutPassword } from "../../values/url-passwords.ts";
import { addressOf, type HttpRequest } from "../../http/message.ts";
import {
  address,
  clipped,
  copyable,
  countdown,
  facts,
  exactTime,
  panel,
  timeAgo,
} from "../../pages/components.ts";
import { answerPart } from "../../pages/answer.ts";
import {
  ATTEMPTS_SHOWN,
  attemptsPanel,
  describedPart,
  requestPanel,
  verdictPanel,
  type Description,
} from "../../pages/exchange.ts";
import type { Page } from "../../pages/page.ts";
import type { SandboxRuntime } from "../runtime.ts";
import { recordOf, type DeliveryAttempt, type Delivery } from "../store/ledger-rows.ts";
import { controlForm, deliveryPath, recordReference, attemptText, type DashboardView } from "./components.ts";
import { describeAttempt } from "../attempt-words.ts";
import { chainOf, detailPage } from "./details.ts";

/** Shows the newest attempt unless another is asked for. Undefined for an unknown delivery. */
export function deliveryPage(
  view: DashboardView,
  runtime: SandboxRuntime,
  id: string,
  asked: number,
): Page | undefined {
  const { ledger } = view;
  const delivery = ledger.findDelivery(id);
  const link = delivery && ledger.findLink(delivery.linkId);
  if (delivery === undefined || link === undefined) return undefined;
  const attempts = ledger.attemptsOf(id, ATTEMPTS_SHOWN);
  const named = Number.isSafeInteger(asked) ? ledger.findAttempt(id, asked) : undefined;
  const isUnderWay = runtime.deliveries.isUnderWay(id);
  // While an attempt is under way, no earlier exchange is taken for it.
  const attempt = named ?? (isUnderWay ? undefined : attempts[0]);
  const { uti, state } = delivery;
  const reference = recordReference(recordOf(delivery), uti);
  const payment = ledger.findPayment(uti);
  const url = clipped(withoutPassword(delivery.url), 2_000);
  // An action leads to what it does: to the newest attempt.
  const newest = { ...view, here: deliveryPath(id) };
  const action = `/sandbox/deliveries/${encodeURIComponent(id)}/resend`;
  return detailPage(view, {
    title: `Webhook ${reference}`,
    tab: "/deliveries",
    state,
    actions: controlForm(newest, action, html`<button class="primary">Resend</button>`),
    chain: chainOf(view, link, { payment, delivery }),
    path: deliveryPath(id),
    summary: html`${describedPart(named === undefined && isUnderWay ? UNDER_WAY : describeAttempt(delivery, attempt))}
    ${isUnderWay ? "" : nextPart(view, delivery)}
    ${facts([["Address", copyable("address", url, clipped(url, 200))]])}`,
    sections: [
      attemptList(view, { delivery, attempts, isUnderWay, shown: attempt }),
      attempt === undefined ? "" : exchangePart(view, delivery, attempt),
    ],
  });
}

const UNDER_WAY: Description = { kind: "waiting", words: "Waiting for an answer …" };

function nextPart(view: DashboardView, { state, due }: Delivery): Page | "" {
  if (state === "failed") return html`<p class="hint">No attempts are left. Resend makes a new one.</p>`;
  if (state !== "pending") return "";
  const at = new Date(due);
  if (at <= view.now)
    return html`<p class="hint">The next attempt waits until another webhook has been answered.</p>`;
  return view.clock === "stopped"
    ? html`<p class="hint">Next attempt ${timeAgo(at, view.now)}, once you move the clock.</p>`
    : html`<p class="hint">Next attempt ${countdown(at, view.now)}.</p>`;
}

interface Attempts {
  readonly delivery: Delivery;
  readonly attempts: readonly DeliveryAttempt[];
  readonly isUnderWay: boolean;
  readonly shown: DeliveryAttempt | undefined;
}

function attemptList(view: DashboardView, { delivery, attempts, isUnderWay, shown }: Attempts): Page {
  const underWay = {
    id: `attempt-${delivery.attempts + 1}`,
    title: "New attempt",
    answer: "no answer yet",
    kind: "waiting" as const,
    time: "",
  };
  const made = attempts.map((attempt) => ({
    id: `attempt-${attempt.number}`,
    title: html`<a
      href="${address(deliveryPath(delivery.id), { attempt: String(attempt.number) })}"
      ${attempt.number === shown?.number ? html`aria-current="true"` : ""}
      >Attempt ${attempt.number}</a
    >`,
    answer: attemptText(attempt),
    kind: describeAttempt(delivery, attempt).kind,
    time: exactTime(attempt.at, view.now),
  }));
  return attemptsPanel([...(isUnderWay ? [underWay] : []), ...made], delivery.attempts - attempts.length);
}

/** What was posted in an attempt; undefined if nothing was. */
export function postedRequest(delivery: Delivery, { headers }: DeliveryAttempt): HttpRequest | undefined {
  const url = parseWebAddress(delivery.url);
  if (url === undefined || headers.length === 0) return undefined;
  return { method: "POST", ...addressOf(url), headers, body: delivery.body };
}

/** Where a file of an attempt is: its request for `paylink verify`, or the exact bytes of its body. */
const filePath = ({ deliveryId, number }: DeliveryAttempt, file: "request" | "body"): string =>
  `${deliveryPath(deliveryId)}/attempts/${number}/${file}`;

function exchangePart(view: DashboardView, delivery: Delivery, attempt: DeliveryAttempt): Page {
  const { number, status, duration, detail, answer, answerHeaders, verdict, signedAt } = attempt;
  const request = postedRequest(delivery, attempt);
  const { origin } = new URL(view.checkoutUrl);
  const file = filePath(attempt, "request");
  const at = Math.floor(signedAt.getTime() / 1000);
  const command = `curl -s ${origin}${file} | paylink verify --key ${origin}/.well-known/jwks.json --at ${at}`;
  const response =
    status === null
      ? html`<p class="hint">
          ${duration === null ? "Nothing was sent, so there is no response." : `No response: ${clipped(detail, 200)}`}
        </p>`
      : answerPart({ status, duration, headers: answerHeaders, body: answer });
  return html`${panel("response", `Response to attempt ${number}`, response)}
  ${
    request === undefined
      ? ""
      : html`${requestPanel(request, { body: filePath(attempt, "body") }, `Request of attempt ${number}`)}
        ${verdict === null ? "" : verdictPanel({ verdict, request, at: signedAt }, { command, file })}`
  }`;
}
