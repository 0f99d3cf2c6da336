/** Topics that are texts with titles. They are not wrapped: people copy files and scripts from them. */
import type { Output } from "../../context.ts";

export interface Section {
  readonly title: string;
  readonly text: string;
}

export function showSections(out: Output, sections: Readonly<Record<string, Section>>): void {
  if (out.json) return out.data(JSON.stringify(sections));
  const texts = Object.values(sections).map(({ title, text }) => `${out.paint.bold(title)}\n\n${text}`);
  out.lines([texts.join("\n\n\n")]);
}
