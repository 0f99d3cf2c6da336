/** Places of events: files, and the URLs of PostgreSQL as libpq reads them. */
import * as fc from "fast-check";
import { expect, it, test } from "vitest";
import { eventStoreProblem, passwordsIn } from "../../src/store/store-place.ts";
import { parsePostgresUrl, type PostgresUrl } from "../../src/store/postgres/url.ts";

test.each([
  ["events.db", undefined],
  ["/var/lib/paylink/events.db", undefined],
  ["C:\\paylink\\events.db", undefined],
  ["postgres://db/paylink", undefined],
  ["postgres://u:12345%2Fs3cr@host/db", undefined],
  ["postgres://u:12345/s3cr@host/db", "must be a file, or a URL"],
  ["postgres://u:1?s3cr@host/db", "must be a file, or a URL"],
  ["~/events.db", "it begins with a ~"],
  ["~shop/events.db", "it begins with a ~"],
  ["/home/shop/a~b/events.db", undefined],
  ["mysql://x", "must be a file, or a URL"],
  ["", "must not be empty"],
])("as a place of events, %j has the problem: %s", (text, problem) => {
  const found = eventStoreProblem(text);
  if (problem === undefined) expect(found).toBeUndefined();
  else expect(found).toContain(problem);
});

const read = (text: string): PostgresUrl => {
  const parsed = parsePostgresUrl(text);
  if (!parsed.ok) throw new Error(parsed.message);
  return parsed.value;
};

test.each([
  ["postgres://db", ["db:"]],
  ["postgres://", []],
  ["postgres://h1:5432,h2:5433/shop", ["h1:5432", "h2:5433"]],
  ["postgres://pay@[::1]:5433,h2/shop", ["::1:5433", "h2:"]],
  ["postgres:///shop?host=/cloudsql/a:b:c", ["/cloudsql/a:b:c:"]],
  ["postgres://pay:pw@/shop?host=/run/postgresql", ["/run/postgresql:"]],
  ["postgres://%2Frun%2Fpostgresql/shop", ["/run/postgresql:"]],
  ["postgres://pay@db/shop?host=h1,h2&port=5433", ["h1:5433", "h2:5433"]],
  ["postgres://pay@db/shop?host=h1,h2&port=1,2", ["h1:1", "h2:2"]],
  ["postgres://pay@db:5433/shop?port=5434", ["db:5434"]],
])("%s names the servers %j", (text, servers) => {
  expect(read(text).servers.map(({ host = "", port = "" }) => `${host}:${port}`)).toEqual(servers);
});

it("has login, database and parameters, where a plus sign is no space", () => {
  expect(
    read("postgresql://me%40x:a%2Fb:c@db/my%20shop?options=-c%20a%3Db+c&sslmode=verify-ca&application_name="),
  ).toMatchObject({
    user: "me@x",
    password: "a/b:c",
    database: "my shop",
    parameters: { options: "-c a=b+c", sslmode: "verify-ca" },
  });
  expect(read("postgres://db/x?user=me&password=pw&dbname=y&ssl=true")).toMatchObject({
    user: "me",
    password: "pw",
    database: "y",
    parameters: { sslmode: "require" },
  });
  expect(read("postgres://db/x?sslmode=verify-full&ssl=true").parameters.sslmode).toBe("verify-full");
});

test.each([
  ["postgres://db/x?sslmode=requre", /sslmode is "requre", .*did you mean require\?/],
  ["postgres://db/x?sslmode=disabled", /did you mean disable\?/],
  ["postgres://db/x?target_session_attrs=readwrite", /did you mean read-write\?/],
  ["postgres://db/x?sslmod=require", /unknown parameter sslmod; did you mean sslmode\?/],
  ["postgres://db/x?service=prod", /parameter service, which paylink does not support/],
  ["postgres://db/x?gssencmode=require", /gssencmode is "require"/],
  ["postgres://pay@::1/x", /IPv6 address must be in brackets/],
  ["postgres://pay@::1:5432/x", /IPv6 address must be in brackets/],
  ["postgres://h1:0/x", /port must be a number/],
  ["postgres://h1:5432,h2:port/x", /port must be a number/],
  ["postgres://db/x?host=a,b&port=1,2,3", /2 hosts and 3 ports/],
  ["mysql://x", /mysql:\/\/ is not an event store/],
])("%s is refused: %s", (text, problem) => expect(eventStoreProblem(text)).toMatch(problem));

it("never repeats a password, and knows it wherever it can be read", () => {
  const password = fc.string({ minLength: 1, unit: "grapheme" });
  fc.assert(
    fc.property(
      password,
      fc.constantFrom("u:", "u@db/x?password=", "u@db/x?sslmod=a&password="),
      (text, before) => {
        const secret = `s3cr3t${text}s3cr3t`;
        const end = before === "u:" ? "@db,other:5433/x" : "";
        expect(eventStoreProblem(`postgres://${before}${secret}${end}`) ?? "").not.toContain("s3cr3t");
        const escaped = `postgres://u:${encodeURIComponent(secret)}@db,other:5433/x`;
        expect([eventStoreProblem(escaped), passwordsIn(escaped)[0]]).toEqual([undefined, secret]);
      },
    ),
  );
});
