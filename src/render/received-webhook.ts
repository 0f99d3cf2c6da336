/** Shows what the receiver received: headings of events, rejections, forwards and the final summary. */
import type { Paint } from "./paint.ts";
import { clip, safeText } from "./safe-text.ts";
import { clockTime } from "./time.ts";

interface Heading {
  readonly id: string;
  readonly receivedAt: Date;
  readonly repeated: boolean;
  readonly verified: boolean;
  readonly warnings: readonly string[];
}

export function renderEventHeading(
  { id, receivedAt, repeated, verified, warnings }: Heading,
  paint: Paint,
): string {
  const marks = [
    verified ? paint.green("verified") : paint.red.bold("UNVERIFIED"),
    ...(repeated ? [paint.yellow("repeated")] : []),
    ...warnings.map((warning) => paint.dim(warning)),
  ];
  return `${paint.dim(clockTime(receivedAt))} ${paint.dim(id)} ${marks.join(" ")}`;
}

interface Rejected {
  readonly id: string;
  readonly receivedAt: Date;
  readonly code: string;
  readonly status: number;
  readonly detail: string;
  readonly hint?: string;
}

/** One line names the step that failed and the reason; `verify` shows longer details. */
const DETAIL_LENGTH = 300;

export function renderRejection(
  { id, receivedAt, code, status, detail, hint }: Rejected,
  paint: Paint,
): string {
  const line = `${paint.dim(clockTime(receivedAt))} ${paint.dim(id)} ${paint.red("rejected")} ${status} ${paint.bold(code)}  ${clip(safeText(detail), DETAIL_LENGTH)}`;
  return hint === undefined ? line : `${line}\n  ${safeText(hint)}`;
}

interface Forwarded {
  readonly target: string;
  /** Null if the application did not answer. */
  readonly status: number | null;
  readonly ms: number;
  readonly detail: string;
}

/** The application's status and latency, and its error text; without an answer, the reason. */
export function renderForward(id: string, { target, status, ms, detail }: Forwarded, paint: Paint): string {
  const line = (what: string): string =>
    `  ${paint.dim("→")} ${paint.dim(id)} ${what} in ${Math.round(ms)} ms  ${safeText(target)}`;
  if (status === null) return line(paint.red.bold(safeText(detail)));
  const isAccepted = status >= 200 && status < 300;
  const shown = line((isAccepted ? paint.green : paint.red.bold)(String(status)));
  return detail === "" ? shown : `${shown}\n    ${safeText(detail)}`;
}

export interface Counts {
  readonly received: number;
  readonly verified: number;
  readonly rejected: number;
  readonly forwarded: number;
  readonly failed: number;
}

export function renderSummary(counts: Counts): string {
  return Object.entries(counts)
    .map(([name, count]) => `${count} ${name}`)
    .join(", ");
}
