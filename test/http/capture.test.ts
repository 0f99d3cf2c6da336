/** Raw HTTP/1.1 requests: read as they were written, whatever a log, an editor or an attacker made of them. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatRequest, parseRequest } from "../../src/http/capture.ts";

const read = async (text: string) => {
  const request = await parseRequest(Buffer.from(text, "latin1"));
  return request && { ...request, body: Buffer.from(request.body).toString("latin1") };
};

describe("a raw request", () => {
  it("is read with each header line as it was spelled", async () => {
    expect(await read("POST /a?b HTTP/1.1\r\nHost: h\r\nX-a:  b c \t\r\nx-A:\r\n\r\nbody")).toEqual({
      method: "POST",
      target: "/a?b",
      headers: [
        ["Host", "h"],
        ["X-a", "b c"],
        ["x-A", ""],
      ],
      body: "body",
    });
  });

  it.each<[string, string, string]>([
    ["LF", "POST / HTTP/1.1\nHost: h\n\nbody", "body"],
    ["blank lines before it", "\r\n\nPOST / HTTP/1.1\nHost: h\n\nbody", "body"],
    ["a byte order mark", "\xEF\xBB\xBFPOST / HTTP/1.1\nHost: h\n\nbody", "body"],
    ["no body", "POST / HTTP/1.1\nHost: h\n", ""],
    [
      "an editor's newline after Content-Length",
      "POST / HTTP/1.1\nHost: h\nContent-Length: 4\n\nbody\n",
      "body",
    ],
    [
      "a newline that Content-Length counts",
      "POST / HTTP/1.1\nHost: h\nContent-Length: 5\n\nbody\n",
      "body\n",
    ],
    ["a body longer than Content-Length", "POST / HTTP/1.1\nHost: h\nContent-Length: 2\n\nbody", "bo"],
    [
      "the reply after it",
      "POST / HTTP/1.1\nHost: h\nContent-Length: 4\n\nbody\n\nHTTP/1.1 200 OK\n",
      "body",
    ],
    [
      "chunks",
      "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: Chunked\r\n\r\n3;x=y\r\nbod\r\n1\r\ny\r\n0\r\n\r\n",
      "body",
    ],
    ["chunks that a proxy undid", "POST / HTTP/1.1\nHost: h\nTransfer-Encoding: chunked\n\n{}", "{}"],
    [
      "the log of curl -v",
      "* Connected\n> POST / HTTP/1.1\n> Host: h\n> Content-Length: 0\n>\n* sent\n< HTTP/1.1 401\n<\n",
      "",
    ],
  ])("with %s", async (_, text, body) => {
    const request = await read(text);
    expect(request).toMatchObject({ method: "POST", target: "/", body });
    expect(request).not.toHaveProperty("fault");
  });

  it("leaves trailers out", async () => {
    const head = "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n";
    const request = await read(`${head}1\r\na\r\n0\r\nX: y\r\n\r\n`);
    expect(request?.headers.map(([name]) => name)).toEqual(["Host", "Transfer-Encoding"]);
    expect(request?.body).toBe("a");
  });

  it.each([
    ["a folded line", "Host: h\r\nX: a\r\n b\r\n c"],
    ["space before a colon", "Host: h\r\nX : a"],
    ["no colon", "Host: h\r\nhello"],
    ["two Content-Length", "Host: h\r\nContent-Length: 0\r\nContent-Length: 0"],
    ["an invalid Content-Length", "Host: h\r\nContent-Length: +1"],
    ["both ways of framing", "Host: h\r\nContent-Length: 0\r\nTransfer-Encoding: chunked"],
    ["no Host", "X: y"],
  ])("has a fault with %s", async (_, lines) => {
    const request = await read(`POST / HTTP/1.1\r\n${lines}\r\n\r\n`);
    expect(request?.fault).toMatchObject({ code: "http_parse_error" });
  });

  it.each(["3\r\nbo", "3\r\nbodX", "3\r\nbod\r\n"])("says where chunks %j end too soon", async (chunks) => {
    const request = await read(`POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}`);
    expect(request?.fault).toMatchObject({ code: "body_incomplete" });
  });

  it.each(["", "hello", "POST /", "POST / HTTP", "GET  / HTTP/1.1", '{"a":1}'])("is not %j", async (text) => {
    expect(await read(text)).toBeUndefined();
  });
});

const token = fc.stringMatching(/^[A-Za-z][A-Za-z0-9-]{0,12}$/);
const value = fc.stringMatching(/^[!-~\x80-\xff](?:[\t -~\x80-\xff]{0,20}[!-~\x80-\xff])?$/);
const special = new Set(["content-length", "transfer-encoding"]);

describe("for any request", () => {
  it("reads what it wrote, byte for byte", async () => {
    const lines = fc.array(
      fc.tuple(
        token.filter((name) => !special.has(name.toLowerCase())),
        value,
      ),
      { maxLength: 8 },
    );
    await fc.assert(
      fc.asyncProperty(
        fc.stringMatching(/^\/[!-~]{0,20}$/),
        lines,
        fc.uint8Array({ maxLength: 200 }),
        async (target, more, body) => {
          const headers: [string, string][] = [
            ["Host", "h"],
            ...more,
            ["Content-Length", String(body.length)],
          ];
          const request = { method: "POST", target, headers, body };
          const again = await parseRequest(formatRequest(request));
          expect(again).toEqual({ ...request, body: Buffer.from(body) });
        },
      ),
    );
  });

  it("reads the same body from chunks of any size", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.uint8Array({ minLength: 1, maxLength: 40 })), async (parts) => {
        const chunks = parts.flatMap((part) => [
          Buffer.from(`${part.length.toString(16)}\r\n`),
          part,
          Buffer.from("\r\n"),
        ]);
        const body = Buffer.concat([...chunks, Buffer.from("0\r\n\r\n")]);
        const headers: [string, string][] = [
          ["Host", "h"],
          ["Transfer-Encoding", "chunked"],
        ];
        const again = await parseRequest(formatRequest({ method: "POST", target: "/", headers, body }));
        expect(again?.body).toEqual(Buffer.concat(parts));
        expect(again?.fault).toBeUndefined();
      }),
    );
  });
});

/** Inputs that broke something once, or are close to one that did. */
const FOUND = [
  "POST / HTTP/1.1\r\n\r",
  "POST / HTTP/1.1\r\n:\r\n\r\n",
  "POST / HTTP/1.1\nTransfer-Encoding: chunked\n\nffffffff\n",
  "POST / HTTP/1.1\nContent-Length: 99999999999999999999\n\nx",
  "> POST / HTTP/1.1\n>",
  "{} x\n> POST / HTTP/1.1\n",
  "POST / HTTP/1.1\n\x00: \x00\n\n\x00",
  `POST / HTTP/1.1\nX:${" ".repeat(100_000)}x${" ".repeat(100_000)}\n\n`,
];

describe("whatever the bytes are", () => {
  it.each(FOUND)("%j is harmless", async (text) => {
    const request = await read(text);
    expect(request === undefined || request.method === "POST").toBe(true);
  });

  it("reading them never throws, and returns the bytes of the body", async () => {
    const start = fc.constantFrom(
      "",
      "POST / HTTP/1.1\r\n",
      "POST / HTTP/1.1\nTransfer-Encoding: chunked\n\n",
      "> POST / HTTP/1.1\n",
    );
    await fc.assert(
      fc.asyncProperty(start, fc.uint8Array({ maxLength: 300 }), async (text, bytes) => {
        const input = Buffer.concat([Buffer.from(text), bytes]);
        const request = await parseRequest(input);
        expect(request === undefined || request.body.length <= input.length).toBe(true);
      }),
      { numRuns: 500 },
    );
  });
});
