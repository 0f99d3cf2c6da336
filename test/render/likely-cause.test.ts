/** The likely causes: what applications, frameworks, proxies and networks answer, and what people are told. */
import { createServer as createTlsServer } from "node:tls";
import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import { describe, expect, it } from "vitest";
import { SYSTEM_TIMERS } from "../../src/values/timers.ts";
import type { HeaderLine } from "../../src/http/message.ts";
import { SendError } from "../../src/http/exchange.ts";
import { SEND_FAILURES, type SendFailure, sendFailure } from "../../src/http/send-failure.ts";
import { makeAttempt, deliverOver } from "../../src/receiver/attempt.ts";
import { type Ending, likelyCause } from "../../src/render/likely-cause.ts";
import { selfSigned } from "../support/certificate.ts";
import { temporaryHome } from "../support/home.ts";
import { listenOnFreePort } from "../support/ports.ts";
import { openSender } from "../support/sender.ts";
import { event } from "../support/stored-events.ts";

const causeOfEnding = (ending: Ending, comesAgain = false): string | undefined =>
  likelyCause({ genuine: [ending] }, { comesAgain });

const causeOf = (status: number, text = "", headers: readonly HeaderLine[] = []): string =>
  causeOfEnding({ status, failure: null, reply: { headers, text } }, true) ?? "";

describe("an answer is explained by its status and by its words:", () => {
  it.each([
    [401, "", /Does it verify with this key\? paylink config get webhookKey/],
    [401, '{"error":"invalid signature"}', /Does it verify with this key/],
    [400, "Webhook signature verification failed", /Does it verify with this key/],
    [403, "invalid csrf token", /CSRF/],
    [403, "<h1>CSRF verification failed. Request aborted.</h1>", /CSRF/],
    [403, "ForbiddenError: invalid CSRF token", /CSRF/],
    [422, "ActionController::InvalidAuthenticityToken", /CSRF/],
    [419, "<title>Page Expired</title>", /CSRF/],
    [403, "Please log in to continue", /a login/],
    [401, '{"detail":"Authentication credentials were not provided."}', /a login/],
    [401, '{"message":"Unauthenticated."}', /a login/],
    [403, "", /CSRF protection or a login: .* Does it verify with this key/],
    [403, "Blocked request. This host is not allowed.", /the host/],
    [400, "DisallowedHost at /hook: Invalid HTTP_HOST header: 'x'", /the host/],
    [421, "Misdirected Request", /the host/],
    [403, "<title>Attention Required! | Cloudflare</title>", /firewall/],
    [404, "Cannot POST /hook", /serves nothing at this path/],
    [403, '{"message":"Missing Authentication Token"}', /serves nothing at this path/],
    [500, "the URL doesn't end in a slash and you have APPEND_SLASH set", /write it in the address/],
    [403, "Your client does not have permission to get URL / from this server.", /a login/],
    [422, '{"detail":[{"loc":["body","amount"],"msg":"Field required"}]}', /check of its fields/],
    [400, '{"title":"One or more validation errors occurred."}', /check of its fields/],
    [521, "<title>521: Web server is down</title>", /cannot reach it/],
    [530, "Error 1033", /cannot reach it/],
    [524, "", /may have done the work/],
    [404, "ERR_NGROK_3200 The endpoint is offline", /tunnel/],
    [405, "", /no POST/],
    [413, "request entity too large", /size of a body/],
    [415, "", /parser.* fails on the body/],
    [400, "SyntaxError: Unexpected token u in JSON at position 0", /parser/],
    [400, '{"status":400,"error":"HttpMessageNotReadableException"}', /parser/],
    [500, "InternalServerError: stream is not readable", /parser/],
    [500, "Error: Payload must be provided as a string or a Buffer", /parser/],
    [400, "The plain HTTP request was sent to HTTPS port", /write https:\/\//],
    [400, "Client sent an HTTP request to an HTTPS server.", /write https:\/\//],
    [429, "", /limits how often/],
    [502, "<center>nginx</center>", /cannot reach it/],
    [503, '{"status":503,"code":"not_stored"}', /cannot store webhooks now/],
    [500, '{"status":500,"code":"body_parsed"}', /body is parsed before the webhook's route/],
    [500, "body_parsed: the body was read before", /body is parsed before the webhook's route/],
    [401, '{"code":"not_verified"}', /Does it verify with this key/],
    [401, "unsigned\n", /removes the fields Signature/],
    [500, '{"code":"key_missing"}', /no key that it can use/],
    [404, '{"code":"not_found"}', /serves nothing at this path/],
    [401, '{"code":"something_else","message":"session expired"}', /a login/],
    [504, "", /may have done the work, and the webhook is sent again/],
  ])("%i %s", (status, text, cause) => {
    expect(causeOf(status, text)).toMatch(cause);
  });

  it.each([
    [500, "boom"],
    [400, "amount is missing"],
    [200, "invalid csrf token"],
  ])("%i %s has no explanation", (status, text) => {
    expect(causeOf(status, text)).toBe("");
  });

  it("a redirect is explained by where it leads, and by what a login needs", () => {
    expect(causeOf(302, "", [["Location", "https://shop.example/hook/"]])).toMatch(
      /^It redirects to https:\/\/shop\.example\/hook\/, and paylink does not follow redirects/,
    );
    expect(causeOf(302, "", [["location", "/users/sign_in"]])).toMatch(/a login/);
    expect(causeOf(307)).toMatch(/redirects without a Location/);
    expect(causeOf(304)).toMatch(/^A cache /);
    expect(causeOf(401, "", [["WWW-Authenticate", "Basic"]])).toMatch(/a login/);
  });

  it("the application's own key is named, and the age of a signature comes first", () => {
    const ending = { status: 401, failure: null, reply: { headers: [], text: "" } };
    expect(likelyCause({ genuine: [ending] }, { ownKey: "forward.pem.pub", comesAgain: false })).toMatch(
      /forward\.pem\.pub$/,
    );
    expect(causeOfEnding({ ...ending, signatureAge: 7_200_000 })).toMatch(/2 hours old/);
  });
});

describe("a failure without an answer is explained by its cause:", () => {
  const causeAt = async (target: string, comesAgain = false, timeout = 2_000): Promise<string> => {
    const deliver = deliverOver(openSender());
    const time = { now: () => new Date(), timers: SYSTEM_TIMERS, timeout };
    const parts = { ...time, deliver, headers: [], insecure: false, keys: () => [] };
    const { forward } = await makeAttempt(event("a"), new URL(target), parts);
    return causeOfEnding(forward, comesAgain) ?? forward.detail;
  };
  const plainServer = async (answers: string): Promise<number> =>
    listenOnFreePort(
      createServer((socket) => {
        socket.on("error", () => undefined);
        socket.on("data", () => (answers === "" ? undefined : socket.end(answers)));
      }),
    );
  const tlsServer = async (): Promise<number> => {
    const { cert, key } = selfSigned(temporaryHome(), "127.0.0.1");
    const server = createTlsServer({ cert: readFileSync(cert), key: readFileSync(key) });
    server.on("tlsClientError", () => undefined);
    return listenOnFreePort(server);
  };

  it("nothing listens", async () => {
    expect(await causeAt("http://127.0.0.1:1/")).toMatch(/start your application/);
  });

  it("a host that is unknown", async () => {
    expect(await causeAt("http://nothing.invalid/")).toMatch(/host name is unknown/);
  });

  it("TLS to a plain port, and the reverse", async () => {
    expect(
      await causeAt(`https://127.0.0.1:${await plainServer("HTTP/1.1 400 Bad Request\r\n\r\n")}/`),
    ).toMatch(/write http:\/\//);
    expect(await causeAt(`http://127.0.0.1:${await tlsServer()}/`)).toMatch(/write https:\/\//);
  });

  it("a certificate that is not trusted", async () => {
    expect(await causeAt(`https://127.0.0.1:${await tlsServer()}/`)).toMatch(/NODE_EXTRA_CA_CERTS/);
  });

  it("what is not HTTP", async () => {
    expect(await causeAt(`http://127.0.0.1:${await plainServer("220 smtp ready\r\n")}/`)).toMatch(
      /is not HTTP/,
    );
  });

  it("a timeout, after which the work may be done and may come again", async () => {
    const silent = `http://127.0.0.1:${await plainServer("")}/`;
    expect(await causeAt(silent, true, 500)).toMatch(/may have done the work, and the webhook is sent again/);
    expect(await causeAt(silent, false, 500)).toMatch(/may have done the work: check its log/);
  });
});

describe("what genuine webhooks get is compared with what forged ones get:", () => {
  const answered = (status: number | null, text = ""): Ending =>
    status === null
      ? { status, failure: "closed", reply: null }
      : { status, failure: null, reply: { headers: [], text } };
  it.each<[genuine: Ending, forged: Ending, cause: RegExp]>([
    [answered(404, "order not found"), answered(401), /^It refuses genuine .* after it has verified/],
    [answered(403), answered(400), /^It refuses genuine .* after it has verified/],
    [answered(302), answered(401), /^It refuses genuine .* after it has verified/],
    [answered(500, "Unexpected token x in JSON"), answered(401), /^It refuses forged .* where it books/],
    [answered(400, "invalid signature"), answered(422), /Does it verify with this key/],
    [answered(401), answered(400), /Does it verify with this key/],
    [answered(404), answered(404), /serves nothing at this path/],
    [answered(401), answered(200), /accepts forged webhooks, and no genuine ones/],
    [answered(200), answered(null), /gives no answer to forged ones/],
    [answered(200), answered(200), /it does not verify/],
  ])("%j, %j", (genuine, forged, cause) => {
    expect(likelyCause({ genuine: [genuine], forged: [forged] }, { comesAgain: false })).toMatch(cause);
  });
});

it.each([
  ["CERT_HAS_EXPIRED", /has expired, or is not valid yet/],
  ["CERT_NOT_YET_VALID", /has expired, or is not valid yet/],
  ["ERR_TLS_CERT_ALTNAME_INVALID", /of another host/],
  ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", /NODE_EXTRA_CA_CERTS.*--insecure/],
])("a certificate is refused for %s, and trust helps only against the last", (code, words) => {
  const error = new SendError("no", false, Object.assign(new Error("no"), { code }));
  const target = "https://shop.example/";
  const ending = { status: null, failure: sendFailure(error), reply: null };
  expect(causeOfEnding({ ...ending, target })).toMatch(words);
});

it("no https is advised for an address that has it", () => {
  const closed = (target: string): string =>
    causeOfEnding({ status: null, failure: "closed", reply: null, target }) ?? "";
  expect(closed("http://shop.example/")).toMatch(/write https:/);
  expect(closed("https://shop.example/")).not.toMatch(/write https:/);
});

it("a broker that fails is no application", () => {
  const causeOfBroker = (target: string, failure: SendFailure): string =>
    causeOfEnding({ status: null, failure, reply: null, target }) ?? "";
  for (const target of ["nats://127.0.0.1:4222/pay", "amqps://127.0.0.1/pay?key=a"]) {
    expect(causeOfBroker(target, "refused")).toMatch(/start the broker/);
    expect(causeOfBroker(target, "closed")).toMatch(/same message id/);
    for (const failure of SEND_FAILURES)
      expect(causeOfBroker(target, failure)).not.toMatch(/application|https?:\/\//);
  }
  expect(causeOfBroker("tls://127.0.0.1:4222/pay", "certificate")).toMatch(/NATS_CA/);
  expect(causeOfBroker("amqps://127.0.0.1/pay", "certificate")).toMatch(/AMQP_CA/);
  expect(causeOfBroker("http://127.0.0.1:3000/", "refused")).toMatch(/start your application/);
});
