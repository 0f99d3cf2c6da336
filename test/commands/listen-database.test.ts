/** `listen` and a database that is away at its start. */
import { describe, expect, it } from "vitest";
import { startCommand } from "../support/background-command.ts";
import { runCommand, terminated } from "../support/context.ts";
import { temporaryHome } from "../support/home.ts";
import { jsonLines } from "../support/json-lines.ts";
import { keyFile } from "../support/keys.ts";
import { freePort } from "../support/ports.ts";
import { useOwnPostgres } from "../support/postgres.ts";
import { post, record, webhook } from "../support/webhooks.ts";

const server = useOwnPostgres();

/** With ports that are known before it is ready. */
async function startListen(db: string) {
  const home = temporaryHome();
  const [port, admin] = [await freePort(), await freePort()];
  const flags = ["--port", port, "--admin", `127.0.0.1:${admin}`, "--key", keyFile(home), "--db", db];
  const listen = startCommand(["listen", "--json", ...flags], { home });
  const url = `http://127.0.0.1:${port}/`;
  const send = (uti: string): Promise<number> => post(url, webhook(url, record({ uti })));
  const ready = async (): Promise<string> => (await fetch(`http://127.0.0.1:${admin}/readyz`)).text();
  return { ...listen, home, send, ready };
}

const utis = async (db: string): Promise<unknown[]> => {
  const { stdout } = await runCommand(["events", "list", "--json", "--db", db], { home: temporaryHome() });
  return jsonLines(stdout).map(({ uti }) => uti);
};

describe("a database that is away when listen starts", () => {
  it("is waited for: not ready, webhooks answered 503, and ready once it is there", async () => {
    const url = await server().createDatabase();
    await server().stop("SIGINT");
    const listen = await startListen(url);
    await listen.until(
      /"type":"warning","message":"Waiting for the database, and answering webhooks with 503/,
    );
    await expect.poll(() => listen.send("early")).toBe(503);
    expect(await listen.ready()).toMatch(/^not ready: The event store .* refused the connection/);
    expect(listen.stdout()).not.toContain('"type":"ready"');
    await server().start();
    await listen.until(/"type":"ready"/);
    expect(await listen.send("late")).toBe(200);
    expect(await listen.ready()).toBe("ready\n");
    await listen.stop();
    expect(await utis(url)).toEqual(["late"]);
  });

  it("ends at SIGTERM without having been ready", async () => {
    const listen = await startListen("postgres://paylink@127.0.0.1:1/shop");
    await listen.until(/Waiting for the database/);
    const { exit, stdout } = await listen.stop(terminated());
    expect({ exit, types: jsonLines(stdout).map(({ type }) => type) }).toEqual({
      exit: 143,
      types: ["warning"],
    });
  });

  it("is not waited for if only another configuration helps", async () => {
    const url = (await server().createDatabase()).replace(/[^/]*$/, "nowhere");
    const { ended } = await startListen(url);
    expect(await ended).toMatchObject({ exit: 2, stdout: "" });
  });
});
