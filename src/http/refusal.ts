/** Why a request is refused before a handler sees it: by the HTTP layer, or by what admits requests. */
import { boundDetail, statusOf, type RefusalCode } from "../domain/reasons.ts";

export interface Refusal<Code extends RefusalCode = RefusalCode> {
  readonly code: Code;
  readonly status: number;
  /** At most 500 characters. */
  readonly detail: string;
}

/** The status is that of the table of reasons, unless the part of the request that is refused has its own. */
export const refusal = <Code extends RefusalCode>(
  code: Code,
  detail: string,
  status: number = statusOf(code),
): Refusal<Code> => ({ code, status, detail: boundDetail(detail) });
