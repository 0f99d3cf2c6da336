/** The page of a delivery: what became of the webhook in one sentence, each attempt with its request and response, and its signature. */
import { html } from "hono/html";
import { parseWebAddress, withoutPassword } from "../../domain/addresses.ts";
import { shellWord } from "../../domain/errors.ts";
import { stringifyJson } from "../../domain/json.ts";
import { capitalized } from "../../domain/payment-link-fields.ts";
import { parseJson } from "../../domain/parse-json.ts";
import { addressOf, fieldLines, targetUri, type HttpRequest } from "../../http/message.ts";
import { readKeys } from "../../signatures/keys.ts";
import { DEFAULT_POLICY } from "../../signatures/policy.ts";
import { baseOf, checksOf, type Check } from "../../signatures/explain/checks.ts";
import type { Verdict } from "../../signatures/verdict.ts";
import { verify } from "../../signatures/verify.ts";
import type { AttemptUnderWay } from "../deliveries.ts";
import { facts, type Page } from "../page.ts";
import type { Service } from "../service.ts";
import type { Attempt, Delivery } from "../store/rows.ts";
import { chainOf, detailPage } from "./details.ts";
import { hopsOf, OFFERED, type Outcome, outcomeOf, tamperingNamed } from "./outcome.ts";
import {
  actionForm,
  address,
  amountOf,
  block,
  clipped,
  copyable,
  copyButton,
  deliveryPath,
  foldedBlock,
  headerTable,
  momentOf,
  outcomeText,
  panel,
  paymentPath,
  pageLink,
  plural,
  recordOf,
  referenceOf,
  spaced,
  statusText,
  table,
  timeOf,
  type View,
} from "./parts.ts";

/** The most attempts that the page lists. */
const ATTEMPTS = 20;
/** Milliseconds after which a page is read again whose times count in seconds. */
const COUNTING = 850;
/** A countdown below this many milliseconds counts in seconds. */
const COUNTED = 180_000;

/** Shows the newest attempt unless another is asked for. Undefined for an unknown delivery. */
export function deliveryPage(view: View, service: Service, id: string, asked: number): Page | undefined {
  const { ledger } = view;
  const delivery = ledger.findDelivery(id);
  const link = delivery && ledger.findLink(delivery.linkId);
  if (delivery === undefined || link === undefined) return undefined;
  const attempts = ledger.attemptsOf(id, ATTEMPTS);
  const named = Number.isSafeInteger(asked) ? ledger.findAttempt(id, asked) : undefined;
  const attempt = named ?? attempts[0];
  const underWay = service.deliveries.underWay(id);
  const { uti, state, due } = delivery;
  const record = recordOf(delivery);
  const reference = referenceOf(record, uti);
  const payment = ledger.findPayment(uti);
  const isCounting = state === "waiting" && due - view.now.getTime() < COUNTED && view.clock !== "stopped";
  // An action leads to what it does: to the newest attempt.
  const newest = { ...view, here: deliveryPath(id) };
  const action = `/sandbox/deliveries/${encodeURIComponent(id)}`;
  return detailPage(view, {
    title: `Webhook ${reference}`,
    tab: "deliveries",
    heading: html`Webhook <bdi>${reference}</bdi>`,
    state,
    actions: actionForm(newest, `${action}/resend`, html`<button class="primary">Resend</button>`),
    chain: chainOf(view, link, { payment, delivery }),
    path: deliveryPath(id),
    live: {},
    refresh: underWay.length > 0 || isCounting ? COUNTING : undefined,
    summary: html`${verdictPart(service, attempt, named === undefined ? underWay : [])}
    ${nextPart(view, delivery, underWay)}`,
    aside: attemptList(view, service, { delivery, attempts, underWay, shown: attempt }),
    sections: [
      attempt === undefined ? "" : exchangePart(view, service, delivery, attempt),
      view.key === undefined ? "" : tamperPart(newest, `${action}/tamper`),
      panel(
        "about",
        "Delivery",
        facts([
          [
            "Address",
            copyable(
              "address",
              clipped(withoutPassword(delivery.url), 2_000),
              clipped(withoutPassword(delivery.url), 200),
            ),
          ],
          ["Payment", pageLink(view, paymentPath(uti), `${amountOf(record)} ${spaced(outcomeText(record))}`)],
          ["Delivery id", copyable("delivery id", id)],
        ]),
      ),
    ],
  });
}

function verdictPart(
  service: Service,
  attempt: Attempt | undefined,
  underWay: readonly AttemptUnderWay[],
): Page {
  const [now] = underWay;
  const { kind, words, reason, elapsed } = now === undefined ? outcomeOf(attempt) : waitingFor(service, now);
  const hops = now === undefined && attempt !== undefined ? hopsOf(attempt) : [];
  return html`<p class="verdict ${kind}" role="status">
      ${words}${elapsed === undefined ? "" : html` <span aria-hidden="true">${elapsed}</span>`}
    </p>
    ${reason === undefined ? "" : html`<p class="reason" dir="auto">${clipped(reason, 300)}</p>`}
    ${
      hops.length === 0
        ? ""
        : html`<ol class="hops" aria-label="The way of the webhook">
            <li>Sandbox</li>
            ${hops.map((hop) => html`<li class="${hop.kind}">${hop.name} <b>${hop.result}</b></li>`)}
          </ol>`
    }`;
}

const waitingFor = ({ machineNow }: Service, { since, tampering }: AttemptUnderWay): Outcome => ({
  kind: "waiting",
  words: `Waiting for an answer${tampering === null ? "" : " to a tampered webhook"} …`,
  elapsed: secondsSince(since, machineNow()),
});

const secondsSince = (since: Date, now: Date): string =>
  `${Math.max(0, Math.floor((now.getTime() - since.getTime()) / 1000))} s`;

function nextPart(view: View, { state, due }: Delivery, underWay: readonly AttemptUnderWay[]): Page | "" {
  if (state === "failed" && underWay.length === 0)
    return html`<p class="hint">No attempt is left: the next one is yours, with Resend.</p>`;
  if (state !== "waiting" || underWay.some(({ tampering }) => tampering === null)) return "";
  const isDue = due <= view.now.getTime();
  return html`<p class="hint">
    ${isDue ? "The next attempt waits for another webhook to be answered." : html`Next attempt ${timeOf(new Date(due), view.now)}${view.clock === "stopped" ? ", once the clock is moved" : ""}.`}
  </p>`;
}

interface Attempts {
  readonly delivery: Delivery;
  readonly attempts: readonly Attempt[];
  readonly underWay: readonly AttemptUnderWay[];
  readonly shown: Attempt | undefined;
}

const attemptAddress = (view: View, { deliveryId, number }: Attempt): string =>
  address(view, deliveryPath(deliveryId), { attempt: String(number) });

const tampered = (name: string | null): Page | "" =>
  name === null ? "" : html` <span class="badge tampered">tampered: ${clipped(name)}</span>`;

function attemptList(view: View, service: Service, { delivery, attempts, underWay, shown }: Attempts): Page {
  const rows = [
    ...underWay.map(({ since, tampering }) => ({
      id: `under-way-${since.getTime()}`,
      title: html`New attempt${tampered(tampering)}`,
      status: "waiting",
      time: secondsSince(since, service.machineNow()),
    })),
    ...attempts.map((attempt) => ({
      id: `attempt-${attempt.number}`,
      title: html`<a
          href="${attemptAddress(view, attempt)}"
          ${attempt.number === shown?.number ? html`aria-current="true"` : ""}
          >Attempt ${attempt.number}</a
        >${tampered(attempt.tampering)}`,
      status: html`<span class="${outcomeOf(attempt).kind}">${statusText(attempt)}</span>`,
      time: timeOf(attempt.at, view.now),
    })),
  ];
  const rest = delivery.attempts - attempts.length;
  return panel(
    "attempts",
    "Attempts",
    rows.length === 0
      ? html`<p class="hint">None yet.</p>`
      : html`${table(
          view,
          {
            caption: "Attempts, the last one first",
            id: ({ id }) => id,
            columns: [
              { title: "Attempt", kind: "main", cell: ({ title }) => title },
              { title: "Status", kind: "number", cell: ({ status }) => status },
              { title: "Time", cell: ({ time }) => time },
            ],
          },
          rows,
        )}
        ${rest > 0 ? html`<p class="hint">And ${plural(rest, "earlier attempt")}.</p>` : ""}`,
  );
}

/** What was posted in an attempt; undefined if nothing was. */
export function requestOf(delivery: Delivery, { headers, body }: Attempt): HttpRequest | undefined {
  const url = parseWebAddress(delivery.url);
  if (url === undefined || headers.length === 0) return undefined;
  return { method: "POST", ...addressOf(url), headers, body: body ?? delivery.body };
}

/** The request of an attempt in the form that `paylink verify` reads. */
export function capturedRequest(request: HttpRequest): string {
  const { method, headers, body } = request;
  return JSON.stringify({
    method,
    url: targetUri(request),
    headers,
    bodyBase64: Buffer.from(body).toString("base64"),
  });
}

/** Where a file of an attempt is: its request for `paylink verify`, or the exact bytes of its body. */
const filePath = ({ deliveryId, number }: Attempt, file: "request" | "body"): string =>
  `${deliveryPath(deliveryId)}/attempts/${number}/${file}`;

function exchangePart(view: View, service: Service, delivery: Delivery, attempt: Attempt): Page {
  const request = requestOf(delivery, attempt);
  const verdict = request && verdictOn(request, attempt, service);
  const lines = verdict === undefined || request === undefined ? [] : linesOf(verdict, request);
  return html`<div class="exchange">
    <div>
      ${panel(
        "request",
        `Request of attempt ${attempt.number}`,
        request === undefined
          ? html`<p class="hint">Nothing was sent.</p>`
          : requestPart(view, attempt, request, lines),
        momentOf(attempt.at),
      )}
    </div>
    <div>
      ${panel("response", `Response to attempt ${attempt.number}`, responsePart(attempt))}
      ${verdict === undefined || request === undefined ? "" : signaturePart(view, attempt, request, verdict, lines)}
    </div>
  </div>`;
}

/** As the receiver should have judged it when it was sent, with the keys that the sandbox publishes. */
function verdictOn(request: HttpRequest, { signedAt }: Attempt, { keys }: Service): Verdict {
  const read = readKeys(JSON.stringify({ keys: keys.published() }));
  return verify(request, {
    keys: read.ok ? read.keys : [],
    policy: DEFAULT_POLICY,
    now: Math.floor(signedAt.getTime() / 1000),
  });
}

/** A line of the signature base, and the header that it is about. */
interface BaseLine {
  readonly text: string;
  /** Which header line; undefined for a part of the request line. */
  readonly header: number | undefined;
  /** Links it to the header by colour. */
  readonly part: string;
}

/** So many colours, which then repeat. */
const PARTS = 6;

const linesOf = (verdict: Verdict, request: HttpRequest): BaseLine[] =>
  (baseOf({ verdict, request }) ?? "").split("\n").flatMap((text, at) => {
    const [, name = ""] = /^"([^"]+)"/.exec(text) ?? [];
    if (name === "") return [];
    const wanted = name === "@signature-params" ? "signature-input" : name;
    const header = request.headers.findIndex(([spelled]) => spelled.toLowerCase() === wanted);
    return { text, header: header < 0 ? undefined : header, part: `part part-${at % PARTS}` };
  });

function requestPart(view: View, attempt: Attempt, request: HttpRequest, lines: readonly BaseLine[]): Page {
  const text = new TextDecoder().decode(request.body);
  const json = parseJson(text);
  const whole = address(view, filePath(attempt, "body"));
  const url = targetUri(request);
  const curl = curlCommand(url, request.headers, text);
  const derived = lines.find(({ header }) => header === undefined);
  const partOf = (at: number): string | undefined => lines.find(({ header }) => header === at)?.part;
  return html`<p class="mono request-line ${derived?.part ?? ""}" id="header-line" tabindex="-1">
      POST ${clipped(url, 200)}
    </p>
    ${headerTable("Request headers", request.headers, partOf)}
    ${json.ok ? block({ id: "json", title: "Body as JSON", text: stringifyJson(json.value.value, 2), whole }) : ""}
    ${foldedBlock({ id: "bytes", title: "Body", text, whole }, `Exact body, ${plural(request.body.length, "byte")}`)}
    ${curl.length > LONGEST_COMMAND ? "" : foldedBlock({ id: "curl", title: "curl command", text: curl }, "The same request with curl")}`;
}

/** Terminals cut off longer commands, and they make the page large. */
const LONGEST_COMMAND = 2_500;

function curlCommand(url: string, headers: Attempt["headers"], body: string): string {
  // curl writes these itself.
  const own = headers.filter(([name]) => !["host", "content-length"].includes(name.toLowerCase()));
  const lines = own.map(([name, value]) => `-H ${shellWord(`${name}: ${value}`)}`);
  return [`curl ${shellWord(url)}`, ...lines, `--data-binary ${shellWord(body)}`].join(" \\\n  ");
}

function responsePart({ status, duration, detail, answerHeaders, answer }: Attempt): Page {
  if (status === null && duration === null)
    return html`<p class="hint">Nothing was sent, so there is no response.</p>`;
  if (status === null) return html`<p class="hint">No response: ${clipped(detail, 200)}</p>`;
  return html`<p class="mono request-line">
      ${status}${duration === null ? "" : html` <span class="quiet">after ${duration} ms</span>`}
    </p>
    ${headerTable("Response headers", answerHeaders)}
    ${answer === "" ? html`<p class="hint">The response has no body.</p>` : block({ id: "answer", title: "Response body", text: answer })}`;
}

/** The steps that are shown, in the order in which they are made. */
const STEPS: Readonly<Record<string, string>> = {
  coverage: "Cover",
  freshness: "Time",
  key: "Key",
  "signature-value": "Signature",
  "content-digest": "Digest",
};

function* stepsOf(
  checks: readonly Check[],
  { headers, body }: HttpRequest,
): Generator<Partial<Check> & { title: string }> {
  const [length = ""] = fieldLines(headers, "content-length");
  const isRight = length === String(body.length);
  yield {
    title: "Length",
    ok: isRight,
    detail: isRight ? `${length} bytes` : `Content-Length says ${length} bytes, the body has ${body.length}`,
  };
  const others = checks.filter(({ check, ok }) => !ok && STEPS[check] === undefined);
  for (const other of others) yield { title: other.check, ...other };
  for (const [check, title] of Object.entries(STEPS))
    yield { title, ...checks.find((one) => one.check === check) };
}

function signaturePart(
  view: View,
  attempt: Attempt,
  request: HttpRequest,
  verdict: Verdict,
  lines: readonly BaseLine[],
): Page {
  const { origin } = new URL(view.checkoutUrl);
  const file = filePath(attempt, "request");
  const at = Math.floor(attempt.signedAt.getTime() / 1000);
  const command = `curl -s ${origin}${file} | paylink verify --key ${origin}/.well-known/jwks.json --at ${at}`;
  const base = baseOf({ verdict, request }) ?? "";
  const checks = checksOf({ verdict, request, now: at });
  return panel(
    "signature",
    "Signature",
    html`<ul class="checks">
        ${[...stepsOf(checks, request)].map(
          ({ title, ok, detail }) =>
            html`<li class="${ok === undefined ? "quiet" : ok ? "good" : "bad"}">
              <b>${ok === undefined ? "–" : ok ? "✓" : "✗"} ${title}</b>
              <span
                >${ok === undefined ? "not checked: an earlier step failed" : clipped(detail ?? "", 200)}</span
              >
            </li>`,
        )}
      </ul>
      ${
        lines.length === 0
          ? ""
          : html`<div class="block">
              <div class="block-head">
                <p class="block-title">Signature base: the text that is signed, a line for each component</p>
                ${base.length > LONGEST_COMMAND ? "" : copyButton("signature base", { text: base })}
              </div>
              <ol class="base mono">
                ${lines.map(({ text, header, part }) => html`<li><a class="${part}" href="#header-${header ?? "line"}">${clipped(text, 500)}</a></li>`)}
              </ol>
            </div>`
      }
      <div class="block">
        <div class="block-head">
          <p class="block-title">Verify this attempt in a terminal</p>
          ${copyButton("verify command", { text: command })}
        </div>
        <pre tabindex="0" role="region" aria-label="Verify command">${command}</pre>
        <p class="hint">
          <a href="${file}" download>Download the request</a> for <code>paylink verify</code>.
        </p>
      </div>`,
  );
}

const tamperPart = (view: View, action: string): Page =>
  panel(
    "tamper",
    "Tamper and resend",
    html`<p class="hint">
        Your application must refuse each of these. They are sent once, and the state of the webhook stays as
        it is.
      </p>
      ${actionForm(
        view,
        action,
        html`<ul class="tamperings">
          ${Object.entries(OFFERED).map(
            ([name, title]) =>
              html`<li>
                <button name="tampering" value="${name}">${title}</button>
                <span>${capitalized(tamperingNamed(name)?.sent ?? "")}</span>
              </li>`,
          )}
        </ul>`,
      )}`,
  );
