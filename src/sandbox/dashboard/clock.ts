/** The page that moves the clock: to any time, or to what is due next, the retry of a webhook or the expiry of a link. */
import { html } from "hono/html";
import type { Refused } from "../form.ts";
import type { Page } from "../page.ts";
import { dashboardPage } from "./frame.ts";
import {
  actionForm,
  clipped,
  deliveryPath,
  linkPath,
  linkTitle,
  momentOf,
  pageLink,
  panel,
  recordOf,
  referenceOf,
  table,
  timeOf,
  type Listing,
  type View,
} from "./parts.ts";

interface Due {
  readonly id: string;
  readonly at: Date;
  readonly what: Page;
}

/** The most times that the page names. */
const TIMES = 20;

function dueAfter(view: View): Due[] {
  const { ledger, now } = view;
  const retries = ledger.waitingAfter(now, TIMES).map((delivery) => {
    const what = `${delivery.attempts === 0 ? "First attempt" : "Retry"} of webhook`;
    const reference = referenceOf(recordOf(delivery), delivery.uti);
    return {
      id: `retry-${delivery.id}`,
      at: new Date(delivery.due),
      what: html`${what} ${pageLink(view, deliveryPath(delivery.id), reference)}`,
    };
  });
  const expiries = ledger.expiringAfter(now, TIMES).map((link) => ({
    id: `expiry-${link.id}`,
    at: new Date(link.expirationDate),
    what: html`Link ${pageLink(view, linkPath(link.id), clipped(linkTitle(link)))} expires`,
  }));
  return [...retries, ...expiries]
    .toSorted((one, other) => one.at.getTime() - other.at.getTime())
    .slice(0, TIMES);
}

const DUE: Listing<Due> = {
  caption: "What is due, the next first",
  id: ({ id }) => id,
  columns: [
    { title: "What", kind: "main", cell: ({ what }) => what },
    { title: "Time", cell: ({ at }) => momentOf(at) },
    { title: "From now", kind: "medium", cell: ({ at }, { now }) => timeOf(at, now) },
    {
      title: "Jump",
      kind: "number",
      cell: ({ at }, view) =>
        advanceForm(
          view,
          html`<button name="when" value="${at.toISOString()}">
            Jump<span class="hidden"> to this time</span>
          </button>`,
        ),
    },
  ],
};

const STEPS = [
  ["1m", "1 minute"],
  ["1h", "1 hour"],
  ["1d", "1 day"],
  ["7d", "7 days"],
  ["30d", "30 days"],
] as const;

const advanceForm = (view: View, content: Page): Page | "" => actionForm(view, "/sandbox/advance", content);

/** `refused` is a time that the clock cannot move to. */
export function clockPage(view: View, refused?: Refused): Page {
  const due = dueAfter(view);
  const problem = refused?.problem.message;
  return dashboardPage(view, {
    title: "Clock",
    live: {},
    invalid: refused !== undefined,
    content: html`<h1>Clock</h1>
      <section class="panel" id="move" aria-label="Move the clock">
        <p>
          The sandbox's clock is at ${momentOf(view.now)}. It can only be moved forward; retries and expiries
          that come due on the way happen in their order.
        </p>
        ${advanceForm(
          view,
          html`<div class="field">
              <label for="when">Move to (<span class="zone">UTC</span>)</label>
              <input
                id="when"
                name="when"
                type="datetime-local"
                required
                ${problem === undefined ? "" : html`aria-invalid="true" aria-describedby="when-error" autofocus`}
              />
              ${problem === undefined ? "" : html`<p class="error" id="when-error">${problem}</p>`}
            </div>
            <input type="hidden" name="zone" value="Z" />
            <button class="primary">Move</button>`,
        )}
        ${advanceForm(
          view,
          html`<p class="label">Or by</p>
            ${STEPS.map(([step, text]) => html`<button name="when" value="${step}">${text}</button>`)}`,
        )}
      </section>
      ${panel(
        "due",
        "What is due",
        due.length === 0
          ? html`<p class="hint">Nothing: no webhook waits for a retry, and no open link expires.</p>`
          : table(view, DUE, due),
      )}`,
  });
}
