/** Forms on pages: fields with their problems, and the summary of all problems, which links to each field. */
import { html } from "hono/html";
import type { Problem } from "../domain/errors.ts";
import type { Page } from "./page.ts";
import type { ServiceProblem } from "./replies.ts";

export interface Field {
  /** Of the request or the form; a path has dots. */
  readonly name: string;
  readonly label: string;
  /** How a sentence names the field, where that is not the label. */
  readonly subject?: string;
  readonly value?: string | undefined;
  readonly hint?: string | undefined;
  readonly autocomplete?: string;
  readonly inputmode?: "text" | "numeric" | "decimal" | "email";
  readonly maxlength?: number;
  /** Shown before the input. */
  readonly prefix?: string;
  /** Shares a line with another. */
  readonly short?: boolean;
  /** The values to choose from, with their labels, instead of text to type. */
  readonly options?: readonly (readonly [value: string, label: string])[];
}

/** What was entered in a form that was refused, and why. */
export interface Refused {
  readonly entered: URLSearchParams;
  readonly reason: string;
  readonly problems: readonly Problem[];
}

export const refusedForm = (entered: URLSearchParams, { message, errors }: ServiceProblem): Refused => ({
  entered,
  reason: message,
  problems: errors,
});

export interface Form {
  readonly field: (field: Field) => Page;
  readonly summary: (title: string) => Page;
  /** Whether a field has an entry or a problem. */
  readonly isInUse: (field: Field) => boolean;
}

/** `fields`: all fields in their order, in which the problems are named too. */
export function createForm(fields: readonly Field[], { entered, problems }: Partial<Refused> = {}): Form {
  const place = ({ at }: Problem): number => {
    const index = fields.findIndex(({ name }) => name === at);
    return index === -1 ? fields.length : index;
  };
  const shown = (problems ?? []).toSorted((one, other) => place(one) - place(other));
  const sentence = ({ label, subject = label.toLowerCase() }: Field, { message }: Problem): string =>
    `The ${subject} ${message}.`;
  return {
    isInUse: ({ name }) => Boolean(entered?.get(name)) || shown.some(({ at }) => at === name),
    summary: (title) =>
      html`<div class="problems" role="alert">
        <h2>${title}</h2>
        <ul>
          ${shown.map((problem) => {
            const field = fields[place(problem)];
            return field === undefined
              ? html`<li><code>${problem.at}</code> ${problem.message}</li>`
              : html`<li><a href="#${idOf(field)}">${sentence(field, problem)}</a></li>`;
          })}
        </ul>
      </div>`,
    field: (field) => {
      const { name, label, hint, prefix } = field;
      const id = idOf(field);
      const own = shown.filter(({ at }) => at === name);
      const input = inputFor(field, {
        value: entered?.get(name) ?? field.value ?? "",
        described: [
          ...(hint === undefined ? [] : [`${id}-hint`]),
          ...(own.length === 0 ? [] : [`${id}-error`]),
        ],
        isInvalid: own.length > 0,
        isFirst: own[0] !== undefined && own[0] === shown[0],
      });
      return html`<div class="field ${field.short ? "short" : ""}">
        <label for="${id}">${label}</label>
        ${prefix === undefined ? input : html`<div class="prefixed"><span aria-hidden="true">${prefix}</span>${input}</div>`}
        ${hint === undefined ? "" : html`<p class="hint" id="${id}-hint">${hint}</p>`}
        ${own.length === 0 ? "" : html`<p class="error" id="${id}-error">${own.map((problem) => sentence(field, problem)).join(" ")}</p>`}
      </div>`;
    },
  };
}

const idOf = ({ name }: Field): string => name.replaceAll(".", "-");

interface InputState {
  readonly value: string;
  /** The ids of the hint and the problem. */
  readonly described: readonly string[];
  readonly isInvalid: boolean;
  readonly isFirst: boolean;
}

function inputFor(field: Field, { value, described, isInvalid, isFirst }: InputState): Page {
  const { name, inputmode = "text", autocomplete = "off", maxlength, options } = field;
  const attributes = html`id="${idOf(field)}" name="${name}"
  ${described.length === 0 ? "" : html`aria-describedby="${described.join(" ")}"`}
  ${isInvalid ? html`aria-invalid="true"` : ""} ${isFirst ? html`autofocus` : ""}`;
  return options === undefined
    ? html`<input
        ${attributes}
        inputmode="${inputmode}"
        autocomplete="${autocomplete}"
        dir="auto"
        spellcheck="false"
        ${maxlength === undefined ? "" : html`maxlength="${maxlength}"`}
        value="${value}"
      />`
    : html`<select ${attributes}>
        ${options.map(
          ([option, label]) =>
            html`<option value="${option}" ${option === value ? "selected" : ""}>${label}</option>`,
        )}
      </select>`;
}
