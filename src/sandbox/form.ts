/** Forms on pages: fields with their problems, and the summary of all problems, which links to each field. */
import { html } from "hono/html";
import type { Problem } from "../domain/errors.ts";
import type { Page } from "../pages/page.ts";
import type { ServiceProblem } from "./replies.ts";

export interface FormField {
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
  /** Shown after the input; empty until there is something to show. */
  readonly suffix?: string;
  /** Has the focus if no field has a problem. */
  readonly autofocus?: boolean;
  /** Shares a line with another. */
  readonly short?: boolean;
  /** The values to choose from, with their labels, instead of text to type. */
  readonly options?: readonly (readonly [value: string, label: string])[];
}

/** What was entered in a form that was refused, and why. */
export interface RefusedForm {
  readonly entered: URLSearchParams;
  readonly problem: ServiceProblem;
}

/** `fields`: all fields in their order, in which the problems are named too. */
export function createForm(
  fields: readonly FormField[],
  { entered, problem: refusal }: Partial<RefusedForm> = {},
) {
  const place = ({ at }: Problem): number => {
    const index = fields.findIndex(({ name }) => name === at);
    return index === -1 ? fields.length : index;
  };
  const shown = (refusal?.errors ?? []).toSorted((one, other) => place(one) - place(other));
  const sentence = ({ label, subject = label.toLowerCase() }: FormField, { message }: Problem): string =>
    `The ${subject} ${message}.`;
  return {
    summary: (title: string): Page =>
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
    field: (field: FormField): Page => {
      const {
        name,
        label,
        hint,
        prefix,
        suffix,
        autofocus = false,
        inputmode = "text",
        autocomplete = "off",
        maxlength,
        options,
      } = field;
      const id = idOf(field);
      const own = shown.filter(({ at }) => at === name);
      const value = entered?.get(name) ?? field.value ?? "";
      const described = [
        ...(hint === undefined ? [] : [`${id}-hint`]),
        ...(own.length === 0 ? [] : [`${id}-error`]),
      ];
      const attributes = html`id="${id}" name="${name}"
      ${described.length === 0 ? "" : html`aria-describedby="${described.join(" ")}"`}
      ${own.length > 0 ? html`aria-invalid="true"` : ""}
      ${(shown.length === 0 && autofocus) || (own[0] !== undefined && own[0] === shown[0]) ? html`autofocus` : ""}`;
      const input =
        options === undefined
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
                ([option, text]) =>
                  html`<option value="${option}" ${option === value ? "selected" : ""}>${text}</option>`,
              )}
            </select>`;
      return html`<div class="field ${field.short ? "short" : ""}">
        <label for="${id}">${label}</label>
        ${
          prefix === undefined && suffix === undefined
            ? input
            : html`<div class="affixed">
                ${prefix === undefined ? "" : html`<span class="prefix" aria-hidden="true">${prefix}</span>`}
                ${input} ${suffix === undefined ? "" : html`<span class="suffix">${suffix}</span>`}
              </div>`
        }
        ${hint === undefined ? "" : html`<p class="hint" id="${id}-hint">${hint}</p>`}
        ${own.length === 0 ? "" : html`<p class="error" id="${id}-error">${own.map((problem) => sentence(field, problem)).join(" ")}</p>`}
      </div>`;
    },
  };
}

const idOf = ({ name }: FormField): string => name.replaceAll(".", "-");
