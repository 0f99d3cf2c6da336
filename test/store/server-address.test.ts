/** Where the PostgreSQL server is: the URL, then libpq's variables, then its defaults; and the password file. */
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parseServerAddress } from "../../src/events/postgres/address.ts";
import { attemptsFor } from "../../src/events/postgres/connections.ts";
import { temporaryHome } from "../support/home.ts";

describe("the address of the server", () => {
  it("is in the URL", () => {
    expect(
      parseServerAddress("postgresql://shop:s%40x@db.example:6432/events?sslmode=require", {}),
    ).toMatchObject({
      host: "db.example",
      port: 6432,
      user: "shop",
      database: "events",
      sslMode: "require",
      name: "postgres://shop@db.example:6432/events",
    });
  });

  it("is in the variables of libpq where the URL says nothing", () => {
    const env = {
      PGHOST: "/run/pg",
      PGPORT: "5433",
      PGUSER: "me",
      PGDATABASE: "shop",
      PGSSLMODE: "verify-ca",
      PGAPPNAME: "hooks",
    };
    expect(parseServerAddress("postgres:///", env)).toMatchObject({
      host: "/run/pg",
      port: 5433,
      user: "me",
      database: "shop",
      sslMode: "verify-ca",
      applicationName: "hooks",
    });
    expect(parseServerAddress("postgres://you@db/other?sslmode=disable&port=1", env)).toMatchObject({
      host: "db",
      port: 1,
      user: "you",
      database: "other",
      sslMode: "disable",
    });
  });

  it.each([
    ["postgres://me@%2Ftmp%2Fpg/db", "/tmp/pg"],
    ["postgres:///db?user=me&host=/tmp/pg", "/tmp/pg"],
    ["postgres://me@[::1]/db", "::1"],
  ])("has a socket or an IPv6 address: %s", (url, host) => {
    expect(parseServerAddress(url, {}).host).toBe(host);
  });

  it("has the name of the user as its database, as in libpq", () => {
    expect(parseServerAddress("postgres://me@db", {}).database).toBe("me");
  });

  it("names no parameter that may be the rest of a password", () => {
    expect(() => parseServerAddress("postgres://me@db/x?password=s3&cr3t", {})).toThrow(
      expect.not.objectContaining({ message: expect.stringMatching(/s3|cr3t/) }),
    );
  });

  it("has no other parameters", () => {
    expect(() => parseServerAddress("postgres://me@db/x?ssl_mode=require", {})).toThrow(
      expect.objectContaining({ code: "usage", hints: [["Did you mean ", "sslmode", "?"]] }),
    );
    expect(() => parseServerAddress("postgres://me@db/x?sslmode=on", {})).toThrow('The sslmode "on"');
  });
});

describe("the password", () => {
  const home = (text: string, mode = 0o600): string => {
    const folder = temporaryHome();
    writeFileSync(join(folder, ".pgpass"), text);
    chmodSync(join(folder, ".pgpass"), mode);
    return folder;
  };
  const url = "postgres://shop@db.example/events";

  it("is read from the URL, then from PGPASSWORD, then from the password file", async () => {
    const env = { PGPASSWORD: "variable", HOME: home("*:*:*:*:file\n") };
    expect(await parseServerAddress("postgres://shop:url@db.example/events", env).password()).toBe("url");
    expect(await parseServerAddress(url, env).password()).toBe("variable");
    expect(await parseServerAddress(url, { HOME: env.HOME }).password()).toBe("file");
    expect(await parseServerAddress(url, { HOME: temporaryHome() }).password()).toBeUndefined();
  });

  it("is that of the first line that matches", async () => {
    const HOME = home("# comment\nother:5432:events:shop:a\ndb.example:*:events:shop:b\\:\\\\c\n*:*:*:*:d\n");
    expect(await parseServerAddress(url, { HOME }).password()).toBe("b:\\c");
    expect(await parseServerAddress("postgres://you@db.example/events", { HOME }).password()).toBe("d");
  });

  it("is not read from a file that others may read", async () => {
    const HOME = home("*:*:*:*:file\n", 0o644);
    await expect(parseServerAddress(url, { HOME }).password()).rejects.toMatchObject({
      code: "file_unreadable",
      hints: [["chmod 600 ", expect.any(String)]],
    });
  });
});

describe("sslmode", () => {
  const attempts = (mode: string, env = {}, rest = "") =>
    attemptsFor(parseServerAddress(`postgres://me@db/x?sslmode=${mode}${rest}`, env), env);
  const ROOT = join(import.meta.dirname, "server-address.test.ts");

  it.each([
    ["disable", [false]],
    ["allow", [false, { rejectUnauthorized: false }]],
    ["prefer", [{ rejectUnauthorized: false }, false]],
    ["require", [{ rejectUnauthorized: false }]],
  ])("%s verifies nothing without a root certificate", (mode, expected) => {
    expect(attempts(mode)).toEqual(expected);
  });

  it("require verifies as verify-ca where there is a root certificate, as in libpq", () => {
    const [attempt] = attempts("require", {}, `&sslrootcert=${ROOT}`);
    expect(attempt).toMatchObject({ ca: expect.any(Buffer), checkServerIdentity: expect.any(Function) });
    expect(attempt).not.toHaveProperty("rejectUnauthorized");
  });

  it("verify-full checks the name of the host too", () => {
    expect(attempts("verify-full", {}, `&sslrootcert=${ROOT}`)).toEqual([{ ca: expect.any(Buffer) }]);
    expect(attempts("verify-full", {}, "&sslrootcert=system")).toEqual([{}]);
  });

  it.each(["verify-ca", "verify-full"])("%s needs a root certificate", (mode) => {
    expect(() => attempts(mode)).toThrow("needs the certificate of the authority that signed the server's");
  });

  it("does not matter on a Unix socket", () => {
    const address = parseServerAddress("postgres://me@%2Ftmp/x?sslmode=verify-full", {});
    expect(attemptsFor(address, {})).toEqual([false]);
  });
});
