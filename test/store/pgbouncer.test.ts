/** What PgBouncer reports, all as 08P01: what waiting does not mend is an error in its words, and everything else is waited for. */
import { describe, expect, it } from "vitest";
import { PaylinkError } from "../../src/domain/errors.ts";
import { openPostgres } from "../support/event-stores.ts";
import { usePgBouncer } from "../support/pgbouncer.ts";
import { usePostgres } from "../support/postgres.ts";

const server = usePostgres();

async function failureOf(url: string): Promise<PaylinkError | undefined> {
  try {
    await openPostgres(url).ready();
    return undefined;
  } catch (error) {
    if (error instanceof PaylinkError) return error;
    throw error;
  }
}

const withLogin = (url: string, login: string): string => url.replace(/\/\/[^@]*@/, `//${login}@`);

describe("a login", () => {
  const through = usePgBouncer(server, {
    users: { app: "right" },
    databases: `
      closed = host=127.0.0.1 port=%p user=paylink dbname=postgres
      gone = host=127.0.0.1 port=1 user=paylink
      missing = host=127.0.0.1 port=%p user=paylink dbname=nowhere
      stranger = host=127.0.0.1 port=%p user=stranger dbname=postgres
      open = host=127.0.0.1 port=%p user=paylink dbname=postgres`,
    settings: "server_login_retry = 1",
  });

  it.each([
    ["app:wr0ng", "open", "database_unusable", /refused the login: .*(?:auth|password)/],
    ["nobody:right", "open", "database_unusable", /refused the login/],
    ["app:right", "unknown", "database_unusable", /no such database/],
    ["app:right", "missing", "database_unusable", /"nowhere" does not exist/],
    ["app:right", "stranger", "database_unusable", /"stranger" does not exist/],
    ["app:right", "gone", "database_unreachable", /cannot be used now/],
  ])("of %s to %s is %s", async (login, database, code, words) => {
    const failure = await failureOf(withLogin(through(server().url(database)), login));
    expect(failure).toMatchObject({ code, message: expect.stringMatching(words) });
    expect(`${failure?.message} ${JSON.stringify(failure?.hints)}`).not.toMatch(/wr0ng|right/);
  });

  it("with a parameter that PgBouncer does not accept names the parameter", async () => {
    const url = `${withLogin(through(server().url("open")), "app:right")}?options=-c%20search_path%3Dx`;
    const failure = await failureOf(url);
    expect(failure).toMatchObject({
      code: "database_unusable",
      message: expect.stringMatching(/unsupported startup parameter/),
    });
    expect(JSON.stringify(failure?.hints)).toContain("ignore_startup_parameters");
  });
});

describe("pool_mode = statement", () => {
  const through = usePgBouncer(server, { settings: "pool_mode = statement" });
  it("is an error that names the mode to use", async () => {
    const failure = await failureOf(through(await server().createDatabase()));
    expect(failure).toMatchObject({
      code: "database_unusable",
      message: expect.stringMatching(/statement pooling/),
    });
    expect(JSON.stringify(failure?.hints)).toContain("pool_mode = transaction");
  });
});

describe("a full pool", () => {
  const through = usePgBouncer(server, { settings: "max_client_conn = 1" });
  it("is waited for", async () => {
    const url = through(await server().createDatabase());
    const store = openPostgres(url);
    // The place is that of the look whether PgBouncer is there, until it sees that this one has ended.
    await expect
      .poll(() =>
        store.ready().then(
          () => "ready",
          () => "full",
        ),
      )
      .toBe("ready");
    expect(await failureOf(url)).toMatchObject({ code: "database_unreachable" });
  });
});
