/** The form above a list that narrows it down. It asks for an address, so that it works without a script, and can be sent on. */
import { html } from "hono/html";
import type { Page } from "./page.ts";

interface Choice {
  readonly name: string;
  readonly label: string;
  readonly value: string;
  /** The values with what they are called; the first is for any. */
  readonly options: readonly (readonly [value: string, title: string])[];
}

interface Day {
  readonly name: string;
  readonly label: string;
  /** `2026-11-26` */
  readonly day: string;
}

export interface FilterForm {
  readonly action: string;
  /** Filters that are set elsewhere on the page, and stay. */
  readonly kept: Readonly<Record<string, string>>;
  readonly fields: readonly (Choice | Day)[];
  /** The address without filters, if there are any. */
  readonly clear: string | undefined;
}

export const filterForm = ({ action, kept, fields, clear }: FilterForm): Page =>
  html`<form class="filter-form" method="get" action="${action}" aria-label="Filters">
    ${Object.entries(kept).map(([name, value]) =>
      value === "" ? "" : html`<input type="hidden" name="${name}" value="${value}" />`,
    )}
    ${fields.map(
      (field) =>
        html`<label
          ><span>${field.label}</span>
          ${"options" in field ? choice(field) : html`<input type="date" name="${field.name}" value="${field.day}" />`}</label
        >`,
    )}
    <button>Filter</button>
    ${clear === undefined ? "" : html`<a class="button" href="${clear}">Clear</a>`}
  </form>`;

const choice = ({ name, value, options }: Choice): Page =>
  html`<select name="${name}">
    ${options.map(
      ([own, title]) => html`<option value="${own}" ${own === value ? html`selected` : ""}>${title}</option>`,
    )}
  </select>`;
