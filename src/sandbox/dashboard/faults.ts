/** The switch for faults of the API: what is set, how often it still applies, and a form to set one. */
import { html } from "hono/html";
import { FAULT_EXAMPLES } from "../api-faults.ts";
import { OPERATION_NAMES } from "../../domain/operations.ts";
import type { Page } from "../../pages/page.ts";
import { controlForm, type DashboardView } from "./components.ts";

const option = (value: string): Page => html`<option>${value}</option>`;

const timesLeft = (count: number | null): string => (count === null ? "every time" : `${count} × more`);

export function faultControl(view: DashboardView): Page {
  const set = view.faults.list();
  return html`<div id="faults" class="actions">
    ${
      set.length === 0
        ? ""
        : html`<span class="bad"
              >${set.map(({ operation, words, count }) => `${operation}=${words}, ${timesLeft(count)}`).join("; ")}</span
            >
            ${controlForm(view, "/sandbox/fail", html`<button name="clear">Clear faults</button>`)}`
    }
    ${controlForm(
      view,
      "/sandbox/fail",
      html`<label
          ><span class="hidden">Operation that fails</span>
          <select name="operation">
            ${OPERATION_NAMES.map(option)}
          </select></label
        >
        <label
          ><span class="hidden">Fault</span>
          <select name="kind">
            ${FAULT_EXAMPLES.map(option)}
          </select></label
        >
        <label
          ><span class="hidden">How often, empty for every time</span>
          <input name="count" inputmode="numeric" pattern="[1-9][0-9]*" size="3" placeholder="times"
        /></label>
        <button>Set fault</button>`,
    )}
  </div>`;
}
