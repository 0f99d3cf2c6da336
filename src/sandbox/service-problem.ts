/** The sandbox's error replies: RFC 9457 problem details with the service's members and a pointer to each invalid field. */
import type { Problem } from "../domain/errors.ts";

/** The one code that the service documents; every other error has its status as code. */
const UNKNOWN_LINK = { code: 275, message: "Invalid payment link ID" };

export class ServiceProblem extends Error {
  readonly status: number;
  readonly title: string;
  readonly errors: readonly Problem[];
  readonly code: number;

  constructor(
    status: number,
    title: string,
    detail: string,
    errors: readonly Problem[] = [],
    code: number = status,
  ) {
    super(detail);
    this.name = "ServiceProblem";
    this.status = status;
    this.title = title;
    this.errors = errors;
    this.code = code;
  }

  /** The body of the reply. */
  details() {
    const { status, title, message, code } = this;
    const errors = this.errors.map((problem) => ({
      pointer: pointerTo(problem.at),
      detail: problem.message,
    }));
    const standard = { type: "about:blank", title, status, detail: message };
    return { ...standard, code, message, ...(errors.length > 0 ? { errors } : {}) };
  }

  toResponse(): Response {
    const { status } = this;
    const headers: Record<string, string> = { "Content-Type": "application/problem+json" };
    // RFC 9110 11.6.1: a 401 says how to authenticate.
    if (status === 401) headers["WWW-Authenticate"] = "Bearer";
    return new Response(JSON.stringify(this.details()), { status, headers });
  }
}

export const unknownLink = (): ServiceProblem =>
  new ServiceProblem(404, "Not Found", UNKNOWN_LINK.message, [], UNKNOWN_LINK.code);

/** A member path (`linkOptions.minAmount`, `rows[3]`) as an RFC 6901 pointer in its URI fragment form. */
function pointerTo(path: string): string {
  if (path === "") return "#";
  const steps = path.replace(/\[(\d+)\]/g, ".$1").split(".");
  return `#/${steps.map((step) => step.replaceAll("~", "~0").replaceAll("/", "~1")).join("/")}`;
}
