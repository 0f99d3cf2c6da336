/** The events that AWS makes of a request to a function: API Gateway 1.0 and 2.0, function URLs, and load balancers. */
import type { LambdaEvent } from "paylink-webhooks";

export interface SentRequest {
  readonly method: string;
  /** Its path and query. */
  readonly target: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Uint8Array;
}

/** Names in any case: the lines of each field, under the first spelling of its name or in lower case. */
function linesByName(
  { headers }: SentRequest,
  spelled: (name: string) => string,
): Readonly<Record<string, string[]>> {
  const lines: Record<string, string[]> = {};
  for (const [name, value] of headers) (lines[spelled(name)] ??= []).push(value);
  return lines;
}

const lowerCase = (name: string): string => name.toLowerCase();
const asSent = (name: string): string => name;

const lastOf = (lines: Readonly<Record<string, string[]>>): Record<string, string> =>
  Object.fromEntries(Object.entries(lines).map(([name, values]) => [name, values.at(-1) ?? ""]));

const joined = (lines: Readonly<Record<string, string[]>>): Record<string, string> =>
  Object.fromEntries(Object.entries(lines).map(([name, values]) => [name, values.join(",")]));

const base64 = ({ body }: SentRequest) => ({
  body: Buffer.from(body).toString("base64"),
  isBase64Encoded: true,
});
const asText = ({ body }: SentRequest) => ({ body: Buffer.from(body).toString(), isBase64Encoded: false });

/** `decode` is what API Gateway does, and a load balancer does not. */
function parametersOf({ target }: SentRequest, decode: (text: string) => string) {
  const every: Record<string, string[]> = {};
  for (const [, name = "", value = ""] of target.matchAll(/[?&]([^=&]*)=([^&]*)/g))
    (every[decode(name)] ??= []).push(decode(value));
  const isNone = Object.keys(every).length === 0;
  return {
    queryStringParameters: isNone ? null : lastOf(every),
    multiValueQueryStringParameters: isNone ? null : every,
  };
}

const pathOf = ({ target }: SentRequest): string => target.split("?")[0] ?? "";

/** A REST API of API Gateway: names as they were sent, and the stage in the context alone. */
function version1(request: SentRequest): LambdaEvent {
  const lines = linesByName(request, asSent);
  return {
    resource: "/{proxy+}",
    path: pathOf(request),
    httpMethod: request.method,
    headers: lastOf(lines),
    multiValueHeaders: lines,
    ...parametersOf(request, decodeURIComponent),
    pathParameters: null,
    stageVariables: null,
    requestContext: {
      stage: "prod",
      path: pathOf(request),
      httpMethod: request.method,
      identity: { sourceIp: "192.0.2.1" },
    },
    ...asText(request),
  } as LambdaEvent;
}

/** An HTTP API of API Gateway, and a function URL: names in lower case, and lines joined. */
function version2(request: SentRequest): LambdaEvent {
  const [path = "", query = ""] = request.target.split("?");
  return {
    version: "2.0",
    routeKey: "$default",
    rawPath: path,
    rawQueryString: query,
    headers: joined(linesByName(request, lowerCase)),
    requestContext: {
      domainName: "abcdefghij.execute-api.eu-west-1.amazonaws.com",
      http: { method: request.method, path, protocol: "HTTP/1.1", sourceIp: "192.0.2.1" },
      stage: "$default",
    },
  } as LambdaEvent;
}

/** A load balancer: names in lower case; with `multi`, every line of each field in a list. */
function loadBalancer(request: SentRequest, multi: boolean): LambdaEvent {
  const lines = linesByName(request, lowerCase);
  const parameters = parametersOf(request, asSent);
  return {
    requestContext: { elb: { targetGroupArn: "arn:aws:elasticloadbalancing:eu-west-1:1:targetgroup/t/1" } },
    httpMethod: request.method,
    path: pathOf(request),
    ...(multi
      ? {
          multiValueHeaders: lines,
          multiValueQueryStringParameters: parameters.multiValueQueryStringParameters ?? {},
        }
      : { headers: lastOf(lines), queryStringParameters: parameters.queryStringParameters ?? {} }),
    ...asText(request),
  };
}

export const LAMBDA_EVENTS: Readonly<Record<string, (request: SentRequest) => LambdaEvent>> = {
  "API Gateway 1.0": version1,
  "API Gateway 1.0, in base64": (request) => ({ ...version1(request), ...base64(request) }),
  "API Gateway 2.0": (request) => ({ ...version2(request), ...asText(request) }),
  "a function URL": (request) => ({ ...version2(request), ...base64(request) }),
  "a load balancer": (request) => loadBalancer(request, false),
  "a load balancer with multi-value headers": (request) => loadBalancer(request, true),
};

/** Platforms that drop Content-Length, or lead HTTP/2 to a function. */
export const withoutLength = (request: SentRequest): SentRequest => ({
  ...request,
  headers: request.headers.filter(([name]) => name.toLowerCase() !== "content-length"),
});
