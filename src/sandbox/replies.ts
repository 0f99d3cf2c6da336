/** The sandbox's messages: JSON, problem details and forms. */
import type { Context } from "hono";
import type { Problem } from "../domain/errors.ts";
import { stringifyJson } from "../values/json.ts";
import { messageOf } from "../values/system-reason.ts";

const TITLES = {
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  409: "Conflict",
  421: "Misdirected Request",
  422: "Unprocessable Content",
  503: "Service Unavailable",
} as const;

/** An error reply: RFC 9457 problem details with the service's members and a pointer to each invalid field. */
export class ServiceProblem extends Error {
  readonly status: keyof typeof TITLES;
  readonly errors: readonly Problem[];
  readonly code: number;

  constructor(
    status: keyof typeof TITLES,
    detail: string,
    errors: readonly Problem[] = [],
    code: number = status,
  ) {
    super(detail);
    this.name = "ServiceProblem";
    this.status = status;
    this.errors = errors;
    this.code = code;
  }

  get title(): string {
    return TITLES[this.status];
  }

  toResponse(): Response {
    const { status, title, message, code } = this;
    const errors = this.errors.map((problem) => ({
      pointer: pointerTo(problem.at),
      detail: problem.message,
    }));
    const standard = { type: "about:blank", title, status, detail: message };
    const details = { ...standard, code, message, ...(errors.length > 0 ? { errors } : {}) };
    const headers: Record<string, string> = { "Content-Type": "application/problem+json" };
    // RFC 9110 11.6.1: a 401 says how to authenticate.
    if (status === 401) headers["WWW-Authenticate"] = "Bearer";
    return new Response(JSON.stringify(details), { status, headers });
  }
}

/** The one code that the service documents; every other error has its status as code. */
export const unknownLink = (): ServiceProblem => new ServiceProblem(404, "Invalid payment link ID", [], 275);

/** What was asked for was not done: each change of the ledger is whole, or none. */
export const unwritableLedger = (error: unknown, remedy = ""): ServiceProblem =>
  new ServiceProblem(503, `the ledger cannot be written: ${messageOf(error)}${remedy}`);

/** A member path (`linkOptions.minAmount`, `rows[3]`) as an RFC 6901 pointer in its URI fragment form. */
function pointerTo(path: string): string {
  if (path === "") return "#";
  const steps = path.replace(/\[(\d+)\]/g, ".$1").split(".");
  return `#/${steps.map((step) => step.replaceAll("~", "~0").replaceAll("/", "~1")).join("/")}`;
}

export const jsonReply = (value: unknown, status = 200, headers: Record<string, string> = {}): Response =>
  new Response(stringifyJson(value), { status, headers: { "Content-Type": "application/json", ...headers } });

export const formBody = async (c: Context): Promise<URLSearchParams> =>
  new URLSearchParams(await c.req.text());

export const accepts = (c: Context, type: "text/html" | "application/json"): boolean =>
  c.req.header("accept")?.includes(type) ?? false;
