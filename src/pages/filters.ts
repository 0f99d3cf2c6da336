/** The form above a list that narrows it down. It asks for an address, so that it works without a script, and can be sent on. */
import { html } from "hono/html";
import { accepted } from "../values/parse-result.ts";
import { parseUntil, parseWhen } from "../values/time.ts";
import { folded } from "./components.ts";
import type { Page } from "./page.ts";

interface FilterChoice {
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
  readonly fields: readonly (FilterChoice | Day)[];
  /** The address without filters, if there are any. */
  readonly clear: string | undefined;
}

/** Folded until one of its fields is in use: the list is what people come for. */
export const filterForm = ({ action, kept, fields, clear }: FilterForm): Page =>
  folded(
    "filters",
    "More filters",
    html`<form class="filter-form" method="get" action="${action}" aria-label="Filters">
      ${Object.entries(kept).map(([name, value]) =>
        value === "" ? "" : html`<input type="hidden" name="${name}" value="${value}" />`,
      )}
      ${fields.map(
        (field) =>
          html`<label
            ><span>${field.label}</span>
            ${"options" in field ? choiceField(field) : html`<input type="date" name="${field.name}" value="${field.day}" />`}</label
          >`,
      )}
      <button>Filter</button>
      ${clear === undefined ? "" : html`<a class="button" href="${clear}">Clear</a>`}
    </form>`,
    fields.some((field) => ("options" in field ? field.value : field.day) !== ""),
  );

const choiceField = ({ name, value, options }: FilterChoice): Page =>
  html`<select name="${name}">
    ${options.map(
      ([own, title]) => html`<option value="${own}" ${own === value ? html`selected` : ""}>${title}</option>`,
    )}
  </select>`;

/** What the fields of a period have; each is empty if it is not used. */
export interface AskedPeriod {
  /** A name of `TIME_CHOICES`, or whatever an address has. */
  readonly time: string;
  readonly from: string;
  readonly to: string;
}

/** The times that can be chosen, and how they are said. */
const TIME_CHOICES: Readonly<Record<string, string>> = {
  today: "Today",
  "24h": "Last 24 hours",
  "7d": "Last 7 days",
};

/** The value of a choice that leaves nothing out. */
export const any = (title = "Any"): readonly [value: string, title: string] => ["", title];

export const periodFields = ({ time, from, to }: AskedPeriod): FilterForm["fields"] => [
  { name: "time", label: "Time", value: time, options: [any(), ...Object.entries(TIME_CHOICES)] },
  { name: "from", label: "From", day: from },
  { name: "to", label: "To", day: to },
];

export interface ShownPeriod {
  readonly since?: Date | undefined;
  readonly until?: Date | undefined;
  /** Why a time cannot be read: the list shows nothing then, since it would show too much. */
  readonly problem?: string;
}

/** A date that is given counts; "today" began at midnight where the pages are served. */
export function periodIn({ time, from, to }: AskedPeriod, now: Date): ShownPeriod {
  const since = from === "" ? sinceOf(time, now) : parseWhen(from, now, -1);
  const until = to === "" ? undefined : parseUntil(to, now);
  for (const parsed of [since, until])
    if (parsed?.ok === false) return { problem: `A time ${parsed.message}.` };
  return {
    since: since?.ok === true ? since.value : undefined,
    until: until?.ok === true ? until.value : undefined,
  };
}

function sinceOf(time: string, now: Date) {
  if (time === "") return undefined;
  if (time !== "today") return parseWhen(time, now, -1);
  return accepted(new Date(now.getFullYear(), now.getMonth(), now.getDate()));
}
