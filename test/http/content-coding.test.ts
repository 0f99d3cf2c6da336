/** The codings of replies, over real sockets: as labelled, mislabelled, repeated, damaged, and too large. */
import { brotliCompressSync, constants, deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { SendError, type SendOptions } from "../../src/http/exchange.ts";
import { decoded } from "../../src/http/content-coding.ts";
import { fieldLines, type HttpReply } from "../../src/http/message.ts";
import { rawServer } from "../support/raw-server.ts";
import { openSender } from "../support/sender.ts";

const JSON_TEXT = '{"id":"L1","customerName":"Zoë 株式会社"}';

interface Answer {
  readonly coding?: string;
  readonly field?: string;
  readonly body: Uint8Array;
  readonly options?: SendOptions;
}

async function exchange({ coding, field = "Content-Encoding", body, options }: Answer): Promise<HttpReply> {
  const server = await rawServer((socket) => {
    const label = coding === undefined ? "" : `${field}: ${coding}\r\n`;
    const framing = field === "Transfer-Encoding" ? "Connection: close" : `Content-Length: ${body.length}`;
    socket.write(`HTTP/1.1 200 OK\r\nX: 1\r\n${label}${framing}\r\n\r\n`);
    socket.write(body);
    if (field === "Transfer-Encoding") socket.end();
  });
  const authority = `127.0.0.1:${server.port}`;
  return openSender()(
    { method: "GET", scheme: "http", authority, target: "/", headers: [], body: new Uint8Array() },
    options,
  );
}

const textIn = ({ body }: HttpReply): string => new TextDecoder().decode(body);

type Encoder = (bytes: Uint8Array) => Uint8Array;

describe("a reply in a coding", () => {
  it.each<readonly [string, string | undefined, Encoder]>([
    ["gzip", "gzip", gzipSync],
    ["x-gzip", "x-gzip", gzipSync],
    ["GZIP in capitals", "GZIP", gzipSync],
    ["deflate, as RFC 9110 has it", "deflate", deflateSync],
    ["deflate without the zlib format", "deflate", deflateRawSync],
    ["br", "br", brotliCompressSync],
    ["gzip, br: one after the other", "gzip, br", (text) => brotliCompressSync(gzipSync(text))],
    ["gzip twice", "gzip, gzip", (text) => gzipSync(gzipSync(text))],
    ["gzip twice and said once", "gzip", (text) => gzipSync(gzipSync(text))],
    ["gzip without a label", undefined, gzipSync],
    ["gzip with the label deflate", "deflate", gzipSync],
    ["deflate with the label gzip", "gzip", deflateSync],
    ["gzip and identity", "identity, gzip", gzipSync],
    ["gzip and a charset in its place", "utf-8", gzipSync],
    ["none, with the label gzip", "gzip", (text) => text],
    ["none, with the label br", "br", (text) => text],
    ["none, with the label deflate", "deflate", (text) => text],
    ["none, with a label that nobody knows", "compress", (text) => text],
    ["none, with a charset as the label", "UTF-8", (text) => text],
    ["none, with an empty label", "", (text) => text],
  ])("is read: %s", async (_, coding, encode) => {
    const reply = await exchange({
      ...(coding === undefined ? {} : { coding }),
      body: encode(Buffer.from(JSON_TEXT)),
    });
    expect(textIn(reply)).toBe(JSON_TEXT);
    expect(reply.undecoded).toBeUndefined();
    expect(fieldLines(reply.headers, "x")).toEqual(["1"]);
  });

  it.each([
    ["text", Buffer.from(JSON_TEXT)],
    ["gzip", gzipSync(JSON_TEXT)],
  ])("is not undone with thousands of names: %s", async (_, body) => {
    const reply = await exchange({ coding: Array(2000).fill("gzip").join(","), body });
    expect(reply.undecoded).toMatch(/^(?:gzip, ){7}gzip: 2000 codings are too many to undo$/);
    expect(Buffer.from(reply.body)).toEqual(Buffer.from(body));
  });

  it("is read if the coding is a transfer coding (RFC 9112 7)", async () => {
    const reply = await exchange({ field: "Transfer-Encoding", coding: "gzip", body: gzipSync(JSON_TEXT) });
    expect(textIn(reply)).toBe(JSON_TEXT);
  });

  it("no longer has fields that describe the coding", async () => {
    const { headers } = await exchange({ coding: "gzip", body: gzipSync(JSON_TEXT) });
    expect(fieldLines(headers, "content-encoding")).toEqual([]);
    expect(fieldLines(headers, "content-length")).toEqual([]);
  });

  it("is read as far as it goes if its end is missing", async () => {
    const whole = gzipSync(JSON_TEXT);
    expect(textIn(await exchange({ coding: "gzip", body: whole.subarray(0, -8) }))).toBe(JSON_TEXT);
  });

  it.each([
    ["is damaged", "gzip", damaged(gzipSync(JSON_TEXT))],
    ["is of a coding that paylink cannot read", "zstd", Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x20, 0x02])],
    ["is not what its label says", "br", Buffer.from([0xff, 0xfe, 0x00, 0x01, 0x02])],
  ])("is kept unchanged, with the reason, if it %s", async (_, coding, body) => {
    const reply = await exchange({ coding, body });
    expect(reply.body).toEqual(body);
    expect(reply.undecoded).toMatch(new RegExp(`^${coding}: `));
    expect(fieldLines(reply.headers, "content-encoding")).toEqual([coding]);
  });

  it("is asked for by name", async () => {
    const server = await rawServer((socket) => void socket.write("HTTP/1.1 204 No Content\r\n\r\n"));
    const authority = `127.0.0.1:${server.port}`;
    const head = { method: "GET", scheme: "http", authority, target: "/", body: new Uint8Array() } as const;
    await openSender()({ ...head, headers: [] });
    await openSender()({ ...head, headers: [["accept-encoding", "identity"]] });
    expect(server.requests[0]).toContain("\r\nAccept-Encoding: gzip, deflate, br\r\n");
    expect(server.requests[1]).not.toContain("gzip");
  });
});

function damaged(bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes);
  // In its checksum (RFC 1952 2.3.1).
  copy.fill(0, copy.length - 8, copy.length - 4);
  return copy;
}

describe("a reply that is small until it is decoded", () => {
  const bomb = gzipSync(Buffer.alloc(50 * 1024 * 1024), { level: constants.Z_BEST_COMPRESSION });

  it("is refused if it is larger than a reply may be", async () => {
    const answer = exchange({ coding: "gzip", body: bomb, options: { maxReply: 1000 * 1000 } });
    await expect(answer).rejects.toThrow("sent more than 1000000 bytes of reply");
    await expect(answer).rejects.toMatchObject({ sent: true });
    await expect(answer).rejects.toThrow(SendError);
  });

  it("is cut if only its beginning is kept", async () => {
    const reply = await exchange({ coding: "gzip", body: bomb, options: { keep: 1000 } });
    expect(reply.body).toEqual(Buffer.alloc(1000));
  });

  it("is bounded at each of its layers", async () => {
    const twice = gzipSync(bomb);
    const { reply, isWhole } = await decoded({ status: 200, headers: [], body: twice }, 1000);
    expect(isWhole).toBe(false);
    expect(reply.body.length).toBeLessThanOrEqual(1000);
  });
});

it("gives back every body that was encoded, and every text that was not", async () => {
  const encoders = {
    gzip: gzipSync,
    deflate: deflateSync,
    br: brotliCompressSync,
  } as const;
  const names = fc.array(fc.constantFrom(...(Object.keys(encoders) as (keyof typeof encoders)[])), {
    maxLength: 3,
  });
  await fc.assert(
    fc.asyncProperty(names, fc.string({ unit: "grapheme", maxLength: 200 }), async (codings, text) => {
      const printable = text.replaceAll(/\p{Cc}/gu, " ");
      let body: Uint8Array = Buffer.from(printable);
      for (const coding of codings) body = encoders[coding](body);
      const headers = codings.map((coding): [string, string] => ["Content-Encoding", coding]);
      const labelled = await decoded({ status: 200, headers, body }, 1e6);
      expect(textIn(labelled.reply)).toBe(printable);
    }),
  );
});
