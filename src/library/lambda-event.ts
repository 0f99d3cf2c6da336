/** The events of AWS Lambda that carry a request: API Gateway 1.0 and 2.0, function URLs, and Application Load Balancers. */
import { linesOf, member, textMember } from "./header-fields.ts";
import { leftIn } from "./request-body.ts";
import type { LambdaEvent, PlainRequest } from "./types.ts";

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;

/** Version 1.0 and load balancers have `httpMethod`; version 2.0 and function URLs have it in the context. */
export const isLambdaEvent = (request: object): request is LambdaEvent =>
  isObject(member(request, "requestContext")) &&
  methodOf(request) !== undefined &&
  pathOf(request) !== undefined;

const contextOf = (event: object, name: string): unknown => {
  const context = member(event, "requestContext");
  return isObject(context) ? member(context, name) : undefined;
};

function methodOf(event: object): string | undefined {
  const http = contextOf(event, "http");
  return isObject(http) ? textMember(http, "method") : textMember(event, "httpMethod");
}

/** With the stage or base path, which is a part of the address that the service posts to. */
function pathOf(event: object): string | undefined {
  const path = contextOf(event, "path");
  return textMember(event, "rawPath") ?? (typeof path === "string" ? path : textMember(event, "path"));
}

export function lambdaRequest(event: LambdaEvent): PlainRequest {
  const query = queryOf(event);
  return {
    method: methodOf(event) ?? "",
    url: `${pathOf(event) ?? ""}${query === "" ? "" : `?${query}`}`,
    headers: headersOf(event),
    body: bodyOf(event),
  };
}

/** A load balancer leaves the query encoded; API Gateway 1.0 decodes it, so that it is encoded again. */
function queryOf(event: LambdaEvent): string {
  const raw = event.rawQueryString;
  if (typeof raw === "string") return raw;
  const parameters = event.multiValueQueryStringParameters ?? event.queryStringParameters ?? {};
  const pairs = linesOf(parameters);
  if (contextOf(event, "elb") !== undefined) return pairs.map((pair) => pair.join("=")).join("&");
  return pairs.map((pair) => pair.map(encodeURIComponent).join("=")).join("&");
}

/** Every line, where the event has them: `headers` of version 1.0 has only the last of two. */
const headersOf = ({ headers, multiValueHeaders }: LambdaEvent): PlainRequest["headers"] => {
  const every = linesOf(multiValueHeaders ?? {});
  const known = new Set(every.map(([name]) => name.toLowerCase()));
  return [...every, ...linesOf(headers ?? {}).filter(([name]) => !known.has(name.toLowerCase()))];
};

function bodyOf(event: LambdaEvent): PlainRequest["body"] {
  const { isBase64Encoded = false } = event;
  const body = leftIn(event) ?? event.body;
  return isBase64Encoded && typeof body === "string" ? Buffer.from(body, "base64") : body;
}
