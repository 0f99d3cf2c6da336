/** One view of an exchange: what became of a webhook, its attempts, the request, the response, and why its signature was accepted or rejected. */
import { plural } from "../values/plural.ts";
import { html } from "hono/html";
import { maskCardNumbers } from "../domain/card-numbers.ts";
import { indentedJson } from "../values/json.ts";
import { parseJson } from "../values/parse-json.ts";
import type { HttpRequest } from "../http/message.ts";
import { capturedUrl } from "../http/message.ts";
import { baseOf, checksOf, type CheckResult } from "../signatures/explain/verdict-words.ts";
import type { Verdict } from "../signatures/verdict.ts";
import { block, clipped, copyButton, folded, headerTable, panel } from "./components.ts";
import { table, type Listing } from "./lists.ts";
import type { Page } from "./page.ts";

/** What became of a webhook, in one sentence, with its reason and what to do about it. */
export interface Description {
  readonly kind: "good" | "bad" | "waiting";
  readonly words: Page | string;
  readonly reason?: string | undefined;
  readonly advice?: Page | string | undefined;
}

export const describedPart = ({ kind, words, reason, advice }: Description): Page =>
  html`<p class="verdict ${kind}" role="status">${words}</p>
    ${reason === undefined ? "" : html`<p class="reason" dir="auto">${clipped(reason, 300)}</p>`}
    ${advice === undefined ? "" : html`<p class="hint">${advice}</p>`}`;

/** A row of the attempts. */
export interface ShownAttempt {
  readonly id: string;
  readonly title: Page | string;
  readonly answer: string;
  readonly kind: Description["kind"];
  readonly time: Page | string;
  readonly target?: string;
}

/** The most attempts that a page lists. */
export const ATTEMPTS_SHOWN = 20;

const ATTEMPT_LISTING: Listing<ShownAttempt, undefined> = {
  caption: "Attempts, newest first",
  id: ({ id }) => id,
  columns: [
    { title: "Attempt", kind: "main", cell: ({ title }) => title },
    {
      title: "Answer",
      cell: ({ answer, kind }) => html`<span class="${kind}">${clipped(answer, 80)}</span>`,
    },
    { title: "Time", cell: ({ time }) => time },
    { title: "To", kind: "wide mono", cell: ({ target }) => target && clipped(target, 80) },
  ],
};

/** `earlier` counts the attempts before the first row. */
export const attemptsPanel = (
  rows: readonly ShownAttempt[],
  earlier = 0,
  nothing: Page | string = "None yet.",
): Page =>
  panel(
    "attempts",
    "Attempts",
    rows.length === 0
      ? html`<p class="hint">${nothing}</p>`
      : html`${table(undefined, ATTEMPT_LISTING, rows)}
        ${earlier > 0 ? html`<p class="hint">And ${plural(earlier, "earlier attempt")}.</p>` : ""}`,
  );

interface RequestOptions {
  /** Where the exact bytes of the body are. */
  readonly body: string;
  /** The body is folded too: what it holds is on the page already. */
  readonly isFolded?: boolean;
  /** Whether the body that arrived is there. */
  readonly isKept?: boolean;
}

/** The request with its headers and its exact body folded. */
export function requestPanel(
  request: HttpRequest,
  { body, isFolded = false, isKept = true }: RequestOptions,
  title = "Request",
): Page {
  const text = maskCardNumbers(new TextDecoder().decode(request.body));
  const json = parseJson(text);
  const shown = json.ok
    ? block({ id: "json", title: "Body as JSON", text: indentedJson(json.value.value), whole: body })
    : "";
  return panel(
    "request",
    title,
    html`<p class="mono request-line">${clipped(request.method)} ${clipped(capturedUrl(request), 200)}</p>
      ${shown === "" || !isFolded ? shown : folded("json", "Body as JSON", shown)}
      ${folded("headers", `Headers, ${request.headers.length}`, headerTable("Request headers", request.headers))}
      ${
        text === ""
          ? html`<p class="hint">
              ${
                isKept
                  ? "The request has no body."
                  : "The body was not kept. Fix the path, or whatever else caused the rejection, and have the service send the webhook again."
              }
            </p>`
          : folded(
              "bytes",
              `Exact body, ${plural(request.body.length, "byte")}`,
              html`${block({ id: "bytes", title: "Body", text, whole: body })}
                <p class="hint"><a href="${body}" download>Download the body</a></p>`,
              !json.ok,
            )
      }`,
  );
}

/** The steps of the verification in their order, with their titles. */
const EXCHANGE_STEPS: Readonly<Record<string, string>> = {
  coverage: "Signed parts",
  freshness: "Time",
  key: "Key",
  "signature-value": "Signature",
  "content-digest": "Digest",
};

/** A stored verdict, and what was judged when. */
export interface StoredVerdict {
  readonly verdict: Verdict;
  readonly request: HttpRequest;
  readonly at: Date;
}

interface VerificationStep extends Partial<CheckResult> {
  readonly title: string;
}

/** The steps in order. A failed check without a step comes first, under its own name. */
function verificationSteps(checks: readonly CheckResult[]): readonly VerificationStep[] {
  const others = checks.filter(({ check, ok }) => !ok && EXCHANGE_STEPS[check] === undefined);
  const steps = Object.entries(EXCHANGE_STEPS).map(([check, title]): VerificationStep => ({
    title,
    ...checks.find((one) => one.check === check),
  }));
  return [
    ...others.map((check): VerificationStep => ({ title: check.check.replaceAll("-", " "), ...check })),
    ...steps,
  ];
}

const mark = ({ ok }: VerificationStep): string => (ok === undefined ? "–" : ok ? "✓" : "✗");
const stepKind = ({ ok }: VerificationStep): string => (ok === undefined ? "quiet" : ok ? "good" : "bad");

interface Verification {
  /** A command that judges the same request again. */
  readonly command: string;
  /** Where its input can be downloaded. */
  readonly file: string;
}

/** The signature on one line; what was checked and what was signed are folded, unless a step failed. */
export function verdictPanel({ verdict, request, at }: StoredVerdict, { command, file }: Verification): Page {
  const checks = checksOf({ verdict, request, now: Math.floor(at.getTime() / 1000) });
  const base = baseOf({ verdict, request });
  const steps = verificationSteps(checks);
  const isRefused = checks.some(({ ok }) => !ok);
  return panel(
    "signature",
    "Signature",
    html`<ul class="step-line" aria-label="Steps">
        ${steps.map((step) => html`<li class="${stepKind(step)}">${mark(step)} ${step.title}</li>`)}
      </ul>
      ${folded(
        "checks",
        "What was checked",
        html`<ul class="checks">
          ${steps.map(
            (step) =>
              html`<li class="${stepKind(step)}">
                <b>${mark(step)} ${step.title}</b>
                <span
                  >${step.ok === undefined ? "not checked: an earlier step failed" : clipped(step.detail ?? "", 500)}</span
                >
              </li>`,
          )}
        </ul>`,
        isRefused,
      )}
      ${
        base === null
          ? ""
          : folded(
              "base",
              "What was signed",
              block({ id: "base", title: "Signature base", text: base }),
              isRefused,
            )
      }
      ${folded(
        "verify",
        "Verify it in a terminal",
        html`<div class="block">
          <div class="block-head">
            <p class="block-title">Command</p>
            ${copyButton("verify command", { text: command })}
          </div>
          <pre tabindex="0" role="region" aria-label="Verify command">${command}</pre>
          <p class="hint">
            <a href="${file}" download>Download the request</a> for <code>paylink verify</code>.
          </p>
        </div>`,
      )}`,
  );
}

/** A request in the form that `paylink verify` reads, which judges it as of its receipt. */
export const capturedRequest = (request: HttpRequest, receivedAt?: Date): string =>
  JSON.stringify({
    method: request.method,
    url: capturedUrl(request),
    headers: request.headers,
    bodyBase64: Buffer.from(request.body).toString("base64"),
    receivedAt,
  });
