/** `paylink bulk` where the event store is PostgreSQL, in process: colleagues and CI jobs share what was sent. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Ask } from "../../src/context.ts";
import { runCommand } from "../support/context.ts";
import { fixedAnswers } from "../support/fixed-answers.ts";
import { temporaryHome } from "../support/home.ts";
import { startLinkService, type Fate } from "../support/link-service.ts";
import { usePostgres } from "../support/postgres.ts";

const listOf = (rows: number): string =>
  `invoiceId,amount,customerName\n${Array.from({ length: rows }, (_, row) => `I${row},${row + 1},Ada\n`).join("")}`;

describe("a memory in PostgreSQL", () => {
  const server = usePostgres();

  /** Each run is that of another machine: it has a home of its own. */
  async function desk(fateOf: (before: number) => Fate = () => "create") {
    const service = await startLinkService(({ before }) => fateOf(before));
    const url = await server().createDatabase();
    const run = (text: string, flags: readonly string[], ask?: Ask) => {
      const home = temporaryHome();
      const path = join(home, "orders.csv");
      writeFileSync(path, text);
      const env = { ...service.env, PAYLINK_DB: url };
      return runCommand(["bulk", path, "--currency", "EUR", ...flags], { home, env, ...(ask && { ask }) });
    };
    const send = (text: string, ...flags: string[]) => run(text, flags);
    /** `confirm` answers the question whether to send. */
    const sendAsking = (text: string, confirm: Ask["confirm"]) =>
      run(text, [], { ...fixedAnswers({ interruptAt: "" }).ask, confirm });
    const query = (sql: string) => server().query(sql, new URL(url).pathname.slice(1));
    return { service, send, sendAsking, query };
  }

  it("is shared by every machine", async () => {
    const { service, send } = await desk();
    expect((await send(listOf(4))).stdout).toContain("4 rows: 4 created");
    const other = await send(listOf(5));
    expect(other).toMatchObject({ exit: 0, stdout: expect.stringContaining("1 created, 4 sent before") });
    expect(other.stderr).toContain("4 of 5 rows were sent before: 4 open.");
    expect((await send(listOf(5), "--again", "all", "--yes")).stdout).toContain("5 rows: 5 created");
    expect([...service.links.values()]).toEqual([2, 2, 2, 2, 2]);
  });

  it("lets several runs work on one list at the same time, and each row is sent once", async () => {
    const { service, send } = await desk();
    const runs = await Promise.all(Array.from({ length: 3 }, () => send(listOf(60))));
    expect(runs.map(({ exit }) => exit)).toEqual([0, 0, 0]);
    expect([...service.links.values()]).toEqual(Array.from({ length: 60 }, () => 1));
    const created = runs.map(({ stdout }) => Number(/(\d+) created/.exec(stdout)?.[1] ?? 0));
    expect(created.reduce((sum, rows) => sum + rows)).toBe(60);
  });

  it("sends nothing if a mark on this machine shows that the database was emptied or replaced", async () => {
    const service = await startLinkService(() => "create");
    const url = await server().createDatabase();
    const home = temporaryHome();
    const path = join(home, "orders.csv");
    writeFileSync(path, listOf(3));
    const send = (...flags: string[]) =>
      runCommand(["bulk", path, "--currency", "EUR", "-o", join(home, `${flags.length}.csv`), ...flags], {
        home,
        env: { ...service.env, PAYLINK_DB: url },
      });
    expect(await send("--dry-run")).toMatchObject({ exit: 0 });
    const database = new URL(url).pathname.slice(1);
    await server().query("DROP SCHEMA paylink CASCADE", database);
    expect(await send()).toMatchObject({ exit: 0, stdout: expect.stringContaining("3 created") });
    await server().query("DROP SCHEMA paylink CASCADE", database);
    rmSync(join(home, "0.csv"));
    const replaced = await send("--yes");
    expect(replaced.exit).not.toBe(0);
    expect(replaced.stderr).toMatch(
      /is not as bulk left it: it was replaced or emptied\. Nothing was sent\./,
    );
    expect(service.arrivals).toHaveLength(3);
    const [, mark = ""] = /remove (\S+\.mark):/.exec(replaced.stderr) ?? [];
    rmSync(mark);
    expect(await send("--dry-run", "--yes")).toMatchObject({
      exit: 0,
      // The service has them.
      stdout: expect.stringContaining("0 links"),
    });
  });

  it.each(["TRUNCATE", "DELETE FROM"])("sends nothing once its rows are gone: %s", async (remove) => {
    const service = await startLinkService(() => "create");
    const url = await server().createDatabase();
    const home = temporaryHome();
    const path = join(home, "orders.csv");
    writeFileSync(path, listOf(3));
    const send = (at: string, ...flags: string[]) =>
      runCommand(["bulk", path, "--currency", "EUR", "-o", join(home, "out.csv"), ...flags], {
        home: at,
        env: { ...service.env, PAYLINK_DB: url },
      });
    const first = await send(home);
    expect(first.stderr).toContain("remembers no row. If lists were sent with it before, it was emptied");
    rmSync(join(home, "out.csv"));
    await server().query(`${remove} paylink.sent_rows`, new URL(url).pathname.slice(1));
    for (const flags of [[], ["--dry-run"]]) {
      const { exit, stderr } = await send(home, ...flags);
      expect([exit, stderr]).toEqual([
        2,
        expect.stringMatching(
          /is not as bulk left it: it was emptied, or an older copy was put in its place\. Nothing was sent\./,
        ),
      ]);
    }
    expect(service.arrivals).toHaveLength(3);
    // A machine that has not sent anything cannot know it, and says so.
    const elsewhere = await send(temporaryHome(), "--dry-run");
    expect(elsewhere).toMatchObject({ exit: 0, stderr: expect.stringContaining("remembers no row.") });
  });

  it("counts what this machine sent before it used the database, and after", async () => {
    const service = await startLinkService(({ before }) => (before === 2 ? "created and reset" : "create"));
    const [home, url] = [temporaryHome(), await server().createDatabase()];
    const send = (rows: number, db: string, ...flags: string[]) => {
      mkdirSync(home, { recursive: true });
      const path = join(home, `${rows}.csv`);
      writeFileSync(path, listOf(rows));
      const env = { ...service.env, ...(db !== "" && { PAYLINK_DB: db }) };
      return runCommand(["bulk", path, "--currency", "EUR", "--concurrency", "1", ...flags], { home, env });
    };
    expect(await send(3, "")).toMatchObject({
      exit: 6,
      stdout: expect.stringContaining("2 created, 1 unknown"),
    });
    const shared = await send(4, url);
    // The service has the link of the third.
    expect(shared).toMatchObject({ exit: 0, stdout: expect.stringContaining("1 created, 3 sent before") });
    // The outcome is kept where the row is.
    expect((await send(5, url, "--look-back", "0")).stdout).toContain("1 created, 4 sent before");
    expect((await send(4, url)).stdout).toContain("4 rows: 4 sent before");
    expect([...service.links.values()]).toEqual([1, 1, 1, 1, 1]);
    const changed = await send(2, url, "--again", "all", "--yes");
    expect(changed.stdout).toContain("2 rows: 2 created");
    const alone = await send(1, "", "--dry-run");
    expect(alone.stderr).toMatch(
      /This machine has also sent lists with postgres\S+, which this run does not use: rows without an order number that were sent there are sent again\. To use it, name it in PAYLINK_DB\./,
    );
  });

  it("stops a run whose rows disappear while it sends", async () => {
    const { service, send, query } = await desk();
    const run = { isOver: false };
    const sending = send(listOf(400), "--rate", "40").finally(() => (run.isOver = true));
    await expect.poll(() => service.arrivals.length).toBeGreaterThan(1);
    // Again and again: one moment may be between two rows.
    while (!run.isOver) await query("TRUNCATE paylink.sent_rows");
    const { exit, stderr } = await sending;
    expect(exit).toBe(2);
    expect(stderr).toContain("The memory of bulk was emptied during this run.");
    expect(stderr).toContain("These results have them: keep a copy.");
  });

  it("says where its mark cannot be kept", async () => {
    const service = await startLinkService(() => "create");
    const url = await server().createDatabase();
    const home = temporaryHome();
    writeFileSync(join(home, "orders.csv"), listOf(1));
    mkdirSync(join(home, "data"), { recursive: true });
    writeFileSync(join(home, "data", "bulk"), "a file in the place of the folder");
    const run = await runCommand(["bulk", join(home, "orders.csv"), "--currency", "EUR"], {
      home,
      env: { ...service.env, PAYLINK_DB: url },
    });
    expect(run).toMatchObject({ exit: 0, stdout: expect.stringContaining("1 created") });
    expect(run.stderr).toMatch(
      /\.mark cannot be written \(.*\): the next run here will not notice if postgres\S+ was emptied or replaced\./,
    );
  });

  it("waits for a row that another run has in flight, and sends it once that run has released it", async () => {
    const { service, send, query } = await desk();
    await send(listOf(2));
    await query(
      "UPDATE paylink.sent_rows SET state = 'claimed', lease = (extract(epoch FROM now()) * 1000)::bigint + 60000",
    );
    service.created.splice(1);
    const waiting = send(listOf(2));
    await expect.poll(() => service.others.length).toBeGreaterThan(1);
    await query("UPDATE paylink.sent_rows SET state = 'created' WHERE id = 'I0.1'");
    await query("DELETE FROM paylink.sent_rows WHERE id = 'I1.1'");
    expect(await waiting).toMatchObject({
      exit: 0,
      stdout: expect.stringContaining("1 created, 1 sent before"),
    });
    expect(service.arrivals).toHaveLength(3);
  });

  it("does not know the outcome of a row whose run has ended in between", async () => {
    const { service, send, query } = await desk();
    await send(listOf(2));
    await query("UPDATE paylink.sent_rows SET state = 'claimed', lease = 0, id = NULL, url = NULL");
    service.created.splice(1);
    const run = await send(listOf(2));
    // The service has the link of one of them.
    expect(run).toMatchObject({ exit: 6, stdout: expect.stringContaining("1 sent before, 1 unknown") });
    expect(run.stderr).toContain(
      "an earlier run ended during this request; the link may exist; the service has no link of it now",
    );
    expect((await send(listOf(2), "--again", "unknown", "--yes")).stdout).toContain(
      "1 created, 1 sent before",
    );
    service.arrivals.pop();
    expect(service.arrivals).toHaveLength(2);
  });
});
