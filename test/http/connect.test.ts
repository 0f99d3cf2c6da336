/** How connections are made, over real sockets: the names of this machine, proxies, and interim responses that undici cannot read. */
import { createServer, type Server } from "node:http";
import { onTestFinished, describe, expect, it } from "vitest";
import { SendError } from "../../src/http/exchange.ts";
import type { HttpRequest } from "../../src/http/message.ts";
import { proxiesOf, proxyFor, withDirectLoopback } from "../../src/http/proxies.ts";
import { rawServer } from "../support/raw-server.ts";
import { openSender } from "../support/sender.ts";

const requestTo = (authority: string, body = ""): HttpRequest => ({
  method: body === "" ? "GET" : "POST",
  scheme: "http",
  authority,
  target: "/",
  headers: [],
  body: Buffer.from(body),
});

/** Answers 200 at this address alone. */
async function serverAt(address: string): Promise<number> {
  const server: Server = createServer((request, response) => response.end(request.headers.host));
  await new Promise<void>((resolve) => void server.listen(0, address, resolve));
  onTestFinished(() => void server.close());
  const bound = server.address();
  return typeof bound === "object" && bound !== null ? bound.port : 0;
}

describe("a name of this machine", () => {
  it.each([
    ["localhost", "127.0.0.1"],
    ["localhost", "::1"],
    ["app.localhost", "127.0.0.1"],
    ["app.localhost", "::1"],
    ["a.b.localhost", "::1"],
  ])("is reached, whatever the resolver answers: %s at %s", async (name, address) => {
    const authority = `${name}:${await serverAt(address)}`;
    const { status, body } = await openSender()(requestTo(authority));
    expect([status, new TextDecoder().decode(body)]).toEqual([200, authority]);
  });

  it("without a listener is reported as refused, not as unknown", async () => {
    const failure = openSender()(requestTo("app.localhost:1"));
    await expect(failure).rejects.toThrow("http://app.localhost:1: connection refused");
    await expect(failure).rejects.toThrow(SendError);
  });
});

describe("an unexpected 100 Continue", () => {
  const FINAL = "HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\nHTTP/1.1 100";

  it.each([
    ["alone", ["HTTP/1.1 100 Continue\r\n\r\n", FINAL]],
    ["with the answer", [`HTTP/1.1 100 Continue\r\n\r\n${FINAL}`]],
    ["with fields", [`HTTP/1.1 100 Continue\r\nX-Trace: 1\r\n\r\n`, FINAL]],
    ["twice", ["HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 100 Continue\r\n\r\n", FINAL]],
    ["after Early Hints", [`HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n${FINAL}`]],
    ["of HTTP/1.0", ["HTTP/1.0 100 Continue\r\n\r\n", FINAL]],
  ])("is skipped: %s", async (_, parts) => {
    const server = await rawServer((socket) => {
      const writeNext = (at: number): void => {
        const part = parts[at];
        if (part === undefined) return;
        socket.write(part);
        setTimeout(writeNext, 10, at + 1);
      };
      writeNext(0);
    });
    const send = openSender();
    // On a connection that is used again too.
    for (let attempt = 0; attempt < 2; attempt++) {
      const { status, body } = await send(requestTo(`127.0.0.1:${server.port}`, "{}"));
      expect([status, new TextDecoder().decode(body)]).toEqual([200, "HTTP/1.1 100"]);
    }
  });

  it("is not looked for in a body that begins like one", async () => {
    const body = "HTTP/1.1 100 Continue\r\n\r\n";
    const server = await rawServer((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n`);
      setTimeout(() => socket.write(body), 20);
    });
    const reply = await openSender()(requestTo(`127.0.0.1:${server.port}`));
    expect(new TextDecoder().decode(reply.body)).toBe(body);
  });
});

describe("the proxy of a request", () => {
  const PROXY = "http://proxy.corp:3128";
  const isDirect = (address: string, noProxy?: string): boolean =>
    proxyFor(new URL(address), { httpsProxy: PROXY, noProxy }) === undefined;

  it.each([
    "https://localhost:8443",
    "https://LOCALHOST",
    "https://localhost.",
    "https://app.localhost",
    "https://127.0.0.1",
    "https://127.8.9.10",
    "https://[::1]:8443",
  ])("is not used for loopback: %s", (address) => {
    expect(isDirect(address)).toBe(true);
  });

  it.each([
    ["https://10.1.2.3", "10.0.0.0/8"],
    ["https://10.1.2.3", "192.168.0.0/16, 10.0.0.0/8"],
    ["https://10.1.2.3:8443", "10.0.0.0/8:8443"],
    ["https://10.1.2.3", "10.1.2.3"],
    ["https://10.1.2.3", "10.1.2.3/32"],
    ["https://10.1.2.3", "10.*"],
    ["https://[fd00::5]", "fd00::/8"],
    ["https://[fd00::5]", "[fd00::]/8"],
    ["https://[fd00::5]", "fd00:0::0005"],
    ["https://[fd00::5]:8443", "[fd00::5]:8443"],
    ["https://pay.corp.example", "corp.example"],
    ["https://pay.corp.example", ".corp.example"],
    ["https://pay.corp.example", "*.corp.example"],
    ["https://PAY.corp.example.", "Corp.Example."],
    ["https://pay.corp.example", "other.example;corp.example"],
    ["https://pay.corp.example", "corp.example:443"],
    ["https://pay.corp.example", "*"],
    ["https://pay.corp.example", "other.example *"],
    ["https://10.1.2.3", "*"],
  ])("is not used if NO_PROXY names it: %s in %j", (address, noProxy) => {
    expect(isDirect(address, noProxy)).toBe(true);
  });

  it.each([
    ["https://11.1.2.3", "10.0.0.0/8"],
    ["https://10.1.2.3", "10.0.0.0/33"],
    ["https://10.1.2.3", "/8"],
    ["https://10.1.2.3:8443", "10.0.0.0/8:443"],
    ["https://[fe80::5]", "fd00::/8"],
    ["https://evilcorp.example", "corp.example"],
    ["https://corp.example.evil", "corp.example"],
    ["https://pay.corp.example", "corp.example:8443"],
    ["https://pay.corp.example", ""],
    ["https://pay.corp.example", " , ;"],
    ["https://pay.corp.example", undefined],
  ])("is used if NO_PROXY does not name it: %s in %j", (address, noProxy) => {
    expect(isDirect(address, noProxy)).toBe(false);
  });

  it.each([
    [{ HTTPS_PROXY: ` ${PROXY}\n` }],
    [{ https_proxy: PROXY }],
    [{ HTTPS_PROXY: " ", https_proxy: PROXY }],
    [{ HTTPS_PROXY: PROXY, https_proxy: "http://other.corp:1" }],
  ])("is that of the variable in either case, without white space around it: %j", (env) => {
    expect(proxyFor(new URL("https://service.example"), proxiesOf(env))).toBe(PROXY);
  });

  it("is none without a variable, or with an empty one", () => {
    for (const env of [{}, { HTTPS_PROXY: "" }, { HTTPS_PROXY: " \r\n" }])
      expect(proxyFor(new URL("https://service.example"), proxiesOf(env))).toBeUndefined();
  });

  it("is not used for http, which has no tunnel", () => {
    expect(isDirect("http://service.example")).toBe(true);
  });
});

describe("the variables of a program that must reach this machine", () => {
  const both = (exempt: string) => ({ NO_PROXY: exempt, no_proxy: exempt });
  it.each([
    [{ HTTP_PROXY: "http://proxy.corp:3128" }, both("localhost,127.0.0.1,::1")],
    [{ http_proxy: "http://p:1", no_proxy: "corp.example" }, both("corp.example,localhost,127.0.0.1,::1")],
    [{ ALL_PROXY: "socks5://p:1", NO_PROXY: " " }, both("localhost,127.0.0.1,::1")],
    [{ HTTPS_PROXY: "http://p:1", NO_PROXY: "*" }, {}],
    [{ NO_PROXY: "corp.example" }, {}],
    [{ HTTP_PROXY: "" }, {}],
  ])("exempt loopback from a proxy, and change nothing without one: %j", (env, changed) => {
    expect(withDirectLoopback(env)).toEqual(changed);
  });
});
