/** The sandbox's error replies: RFC 9457 problem details with a JSON pointer to each invalid field. */
import type { Problem } from "../domain/errors.ts";

export class ServiceProblem extends Error {
  readonly status: number;
  readonly title: string;
  readonly errors: readonly Problem[];

  constructor(status: number, title: string, detail: string, errors: readonly Problem[] = []) {
    super(detail);
    this.name = "ServiceProblem";
    this.status = status;
    this.title = title;
    this.errors = errors;
  }

  toResponse(): Response {
    const { status, title, message: detail } = this;
    const errors = this.errors.map(({ at, message }) => ({ pointer: pointerTo(at), detail: message }));
    const body = { type: "about:blank", title, status, detail, ...(errors.length > 0 ? { errors } : {}) };
    const headers: Record<string, string> = { "Content-Type": "application/problem+json" };
    // RFC 9110 11.6.1: a 401 says how to authenticate.
    if (status === 401) headers["WWW-Authenticate"] = "Bearer";
    return new Response(JSON.stringify(body), { status, headers });
  }
}

/** A member path (`linkOptions.minAmount`, `rows[3]`) as an RFC 6901 pointer in its URI fragment form. */
function pointerTo(path: string): string {
  if (path === "") return "#";
  const steps = path.replace(/\[(\d+)\]/g, ".$1").split(".");
  return `#/${steps.map((step) => step.replaceAll("~", "~0").replaceAll("/", "~1")).join("/")}`;
}
