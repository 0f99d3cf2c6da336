/** The table of the service's operations: the method and path of each, its effect, and what a failure means for the money. */
import { LINKS_PATH, TRANSACTION_PATH } from "./known-services.ts";

/** What a request does if it succeeds, and what is said after a failure. One that reads may be sent again, whatever became of it. */
type Meaning = Reading | Changing;

interface Reading {
  readonly does: "reads";
  /** What did not happen. */
  readonly failed: string;
  readonly unknown?: never;
}

interface Changing {
  readonly does: "creates" | "changes" | "ends";
  readonly failed: string;
  /** What may have happened, if no usable answer came. */
  readonly unknown: string;
}

export type Operation = Meaning & {
  readonly method: "GET" | "POST" | "PATCH";
  /** Below the base URL; the token endpoint and the transactions have addresses of their own at other services. */
  readonly path: string;
};

/** By the name that the faults of the sandbox have. */
export const OPERATIONS = {
  token: { method: "POST", path: "/oauth2/token", does: "reads", failed: "No token was obtained." },
  create: {
    method: "POST",
    path: LINKS_PATH,
    does: "creates",
    failed: "Nothing was created.",
    unknown: "The link may exist.",
  },
  details: { method: "GET", path: `${LINKS_PATH}/{id}`, does: "reads", failed: "Nothing was shown." },
  list: { method: "GET", path: LINKS_PATH, does: "reads", failed: "Nothing was listed." },
  update: {
    method: "PATCH",
    path: `${LINKS_PATH}/{id}`,
    does: "changes",
    failed: "Nothing was changed.",
    unknown: "The link may be changed.",
  },
  cancel: {
    method: "POST",
    path: `${LINKS_PATH}/{id}/cancel`,
    does: "ends",
    failed: "Nothing was cancelled.",
    unknown: "The link may be cancelled.",
  },
  transaction: { method: "GET", path: TRANSACTION_PATH, does: "reads", failed: "Nothing was read." },
} as const satisfies Readonly<Record<string, Operation>>;

export type OperationName = keyof typeof OPERATIONS;

export type LinkOperation = {
  [Name in OperationName]: (typeof OPERATIONS)[Name]["path"] extends `${string}/{id}${string}` ? Name : never;
}[OperationName];

export const OPERATION_NAMES = Object.keys(OPERATIONS) as OperationName[];

/** What is asked of the sandbox besides: a payment at its checkout, its controls, and the payments of a link. */
export const SANDBOX_ACTIONS = {
  pay: { does: "changes", failed: "Nothing was paid.", unknown: "The link may be paid." },
  control: { does: "changes", failed: "Nothing was changed.", unknown: "The sandbox may be changed." },
  payments: { does: "reads", failed: "Nothing was read." },
} as const satisfies Readonly<Record<string, Meaning>>;

const ASKED = { ...OPERATIONS, ...SANDBOX_ACTIONS };

/** What a request to the service or to the sandbox does. */
export type ServiceEffect = keyof typeof ASKED;
export type ReadingEffect = {
  [Name in ServiceEffect]: (typeof ASKED)[Name]["does"] extends "reads" ? Name : never;
}[ServiceEffect];
export type ChangingEffect = Exclude<ServiceEffect, ReadingEffect>;

/** The outcome of a request that changes nothing cannot be unknown. */
export const isReading = (effect: ServiceEffect): effect is ReadingEffect => ASKED[effect].does === "reads";

/** The path with these values in it. */
export const filledPath = (path: string, values: Readonly<Record<string, string>>): string =>
  path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values[name] ?? ""));

/** The service has the same addresses with a slash at their end. */
const PATTERNS = OPERATION_NAMES.map((name) => {
  const { method, path } = OPERATIONS[name];
  return { name, method, pattern: new RegExp(`^${path.replace(/\{\w+\}/g, "[^/]+")}/?$`) };
});

/** The operation that a request asks for. */
export const operationAt = (method: string, path: string): OperationName | undefined =>
  PATTERNS.find((one) => one.method === method && one.pattern.test(path))?.name;
