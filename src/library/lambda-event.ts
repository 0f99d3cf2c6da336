/** The events of AWS Lambda that carry a request: API Gateway 1.0 and 2.0, function URLs, and Application Load Balancers; and of Netlify. */
import { headerLinesOf, isObject, readMember, textMember } from "./header-fields.ts";
import { leftIn } from "./request-body.ts";
import type { LambdaEvent, NetlifyEvent, PlainRequest } from "./types.ts";

type FunctionEvent = LambdaEvent | NetlifyEvent;

/** Version 1.0, load balancers and Netlify have `httpMethod`; version 2.0 and function URLs have it in the context. */
export const isLambdaEvent = (request: object): request is FunctionEvent =>
  lambdaMethod(request) !== undefined && lambdaPath(request) !== undefined;

const contextOf = (event: object, name: string): unknown => {
  const context = readMember(event, "requestContext");
  return isObject(context) ? readMember(context, name) : undefined;
};

function lambdaMethod(event: object): string | undefined {
  const http = contextOf(event, "http");
  return isObject(http) ? textMember(http, "method") : textMember(event, "httpMethod");
}

/** With the stage or base path, which is a part of the address that the service posts to. */
function lambdaPath(event: object): string | undefined {
  const path = contextOf(event, "path");
  return textMember(event, "rawPath") ?? (typeof path === "string" ? path : textMember(event, "path"));
}

export function lambdaRequest(event: FunctionEvent): PlainRequest {
  const query = lambdaQuery(event);
  return {
    method: lambdaMethod(event) ?? "",
    url: `${lambdaPath(event) ?? ""}${query === "" ? "" : `?${query}`}`,
    headers: lambdaHeaders(event),
    body: lambdaBody(event),
  };
}

/** A load balancer leaves the query encoded; API Gateway 1.0 decodes it, so that it is encoded again. */
function lambdaQuery(event: FunctionEvent): string {
  const raw = event.rawQueryString ?? event.rawQuery;
  if (typeof raw === "string") return raw;
  const parameters = event.multiValueQueryStringParameters ?? event.queryStringParameters ?? {};
  const pairs = headerLinesOf(parameters);
  if (contextOf(event, "elb") !== undefined) return pairs.map((pair) => pair.join("=")).join("&");
  return pairs.map((pair) => pair.map(encodeURIComponent).join("=")).join("&");
}

/** Every line, where the event has them: `headers` of version 1.0 has only the last of two. */
const lambdaHeaders = ({ headers, multiValueHeaders }: FunctionEvent): PlainRequest["headers"] => {
  const every = headerLinesOf(multiValueHeaders ?? {});
  const known = new Set(every.map(([name]) => name.toLowerCase()));
  return [...every, ...headerLinesOf(headers ?? {}).filter(([name]) => !known.has(name.toLowerCase()))];
};

function lambdaBody(event: FunctionEvent): PlainRequest["body"] {
  const { isBase64Encoded = false } = event;
  const body = leftIn(event) ?? event.body;
  return isBase64Encoded && typeof body === "string" ? Buffer.from(body, "base64") : body;
}
