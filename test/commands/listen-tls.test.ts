/** The certificate of `listen`: what its dates come to, at the start, at a renewal and from day to day. */
import { X509Certificate } from "node:crypto";
import { appendFileSync, copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { describe, expect, it, onTestFinished } from "vitest";
import { certificateEnd, readTls, tlsWarnings, watchTls } from "../../src/commands/listen/tls.ts";
import { UNITS } from "../../src/values/time.ts";
import { privatelyIssued, selfSigned } from "../support/certificate.ts";
import { temporaryHome } from "../support/home.ts";

/** A certificate of a private authority for 30 days with its whole chain, and when it begins and ends. */
function issued(folder = temporaryHome()) {
  const paths = privatelyIssued(folder, ["shop.example"], { days: 30 });
  appendFileSync(paths.cert, readFileSync(paths.ca));
  return { paths, ...read(paths) };
}

function read(paths: { readonly cert: string; readonly key: string }) {
  const files = { cert: readFileSync(paths.cert), key: readFileSync(paths.key) };
  const { validFrom, validTo } = new X509Certificate(files.cert);
  return { files, begin: new Date(validFrom), end: new Date(validTo) };
}

const plus = (date: Date, milliseconds: number): Date => new Date(date.getTime() + milliseconds);

describe("the dates of a certificate", () => {
  it("are said where it is not valid, or will not be for longer than 14 days", () => {
    const { files, begin, end } = issued();
    for (const [now, ...said] of [
      [plus(end, -14.1 * UNITS.d)],
      [plus(end, -13.9 * UNITS.d), /^The certificate expires on \d{4}-.*from then on/],
      [end, /^The certificate expired on \d{4}-/],
      [plus(end, UNITS.d), /^The certificate expired on \d{4}-/],
      [plus(begin, -UNITS.h), /^The certificate is not valid before .* clock/],
    ] as const)
      expect(tlsWarnings(files, now)).toEqual(said.map((words) => expect.stringMatching(words)));
  });

  it("are those of the first certificate of the file to end", () => {
    const { paths, files } = issued();
    const sooner = selfSigned(temporaryHome(), "intermediate");
    appendFileSync(paths.cert, readFileSync(sooner.cert));
    const both = { ...files, cert: readFileSync(paths.cert) };
    // It was made last, and may begin a second after the other.
    const { begin, end } = read(sooner);
    expect(certificateEnd(both)).toEqual(end);
    const name = /^The certificate of intermediate in its file /.source;
    for (const [now, said] of [
      [begin, "expires on"],
      [plus(end, UNITS.d), "expired on"],
    ] as const)
      expect(tlsWarnings(both, now)).toEqual([expect.stringMatching(`${name}${said}`)]);
  });
});

describe("a chain that services do not trust", () => {
  const now = plus(new Date(), UNITS.h);

  it("is named where an issuer is missing, as in cert.pem in place of fullchain.pem", () => {
    const { cert, key } = privatelyIssued(temporaryHome(), ["shop.example"], { days: 30 });
    const files = { cert: readFileSync(cert), key: readFileSync(key) };
    expect(tlsWarnings(files, now)).toEqual([
      expect.stringMatching(/^Private test authority, who issued the certificate, .* full chain/),
    ]);
  });

  it("is named where it is for another name than the service calls", () => {
    const { files } = issued();
    for (const host of [undefined, "shop.example", "SHOP.example"])
      expect(tlsWarnings(files, now, host)).toEqual([]);
    for (const host of ["pay.example", "www.shop.example", "192.0.2.1"])
      expect(tlsWarnings(files, now, host)).toEqual([
        expect.stringContaining(`is for shop.example, not for ${host}`),
      ]);
  });

  it("cannot be used where an issuer stands before the server's own, and says so", async () => {
    const { paths } = issued();
    writeFileSync(paths.cert, `${readFileSync(paths.ca).toString()}${readFileSync(paths.cert).toString()}`);
    const context = { readFile: async (path: string) => readFileSync(path) };
    await expect(readTls(paths, context)).rejects.toMatchObject({
      code: "key_invalid",
      message: expect.stringContaining("the key belongs to a later certificate of the file"),
    });
    const other = selfSigned(temporaryHome(), "other");
    await expect(readTls({ ...paths, key: other.key }, context)).rejects.toMatchObject({
      message: expect.stringContaining("the key does not belong to the certificate"),
    });
  });
});

it("says once a day what the dates come to, and at once what a renewed certificate has", async () => {
  const { paths, files, end } = issued();
  let now = plus(end, -3 * UNITS.d);
  const [warnings, ends]: [string[], Date[]] = [[], []];
  const context = { readFile: async (path: string) => readFileSync(path), now: () => now };
  const observer = {
    warn: (text: string) => void warnings.push(text),
    serves: (date: Date) => void ends.push(date),
  };
  onTestFinished(watchTls(paths, files, { renewTls: () => undefined }, context, observer));
  expect([warnings, ends]).toEqual([[], [end]]);
  now = plus(now, UNITS.d);
  await expect.poll(() => warnings).toEqual([expect.stringContaining("expires on")]);
  now = plus(end, UNITS.h);
  await expect.poll(() => warnings).toEqual([expect.anything(), expect.stringContaining("expired on")]);
  const renewed = selfSigned(temporaryHome(), "shop.example");
  // Before its second, it is not valid yet.
  now = new Date();
  copyFileSync(renewed.key, paths.key);
  copyFileSync(renewed.cert, paths.cert);
  await expect.poll(() => ends).toEqual([end, read(renewed).end]);
  expect(warnings.slice(2)).toEqual([
    expect.stringContaining("self-signed"),
    expect.stringContaining("expires on"),
  ]);
});
