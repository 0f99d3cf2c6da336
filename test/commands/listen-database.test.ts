/** `listen` and a database that is away at its start, that another one replaces, or whose network drops everything. */
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { startCommand } from "../support/background-command.ts";
import { runCommand, terminated } from "../support/context.ts";
import { temporaryHome } from "../support/home.ts";
import { jsonLines } from "../support/json-lines.ts";
import { keyFile } from "../support/keys.ts";
import { freePort } from "../support/ports.ts";
import { usePostgres } from "../support/postgres.ts";
import { post, record, webhook } from "../support/webhooks.ts";

const server = usePostgres();

/** A way to the server that can lose everything, as a firewall that drops packets does. */
async function passage(to: number) {
  let isOpen = true;
  const sockets = new Set<Socket>();
  const between = createServer((client) => {
    const upstream = connect(to, "127.0.0.1");
    for (const [from, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from);
      from.on("data", (chunk) => isOpen && other.write(chunk));
      from.on("error", () => other.destroy()).on("close", () => other.destroy());
    }
  });
  await new Promise<void>((resolve) => between.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    between.close();
    for (const socket of sockets) socket.destroy();
  });
  return { port: (between.address() as AddressInfo).port, set: (open: boolean) => void (isOpen = open) };
}

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

  it("is not waited for where only another configuration helps", async () => {
    const url = (await server().createDatabase()).replace(/[^/]*$/, "nowhere");
    const { ended } = await startListen(url);
    expect(await ended).toMatchObject({ exit: 2, stdout: "" });
  });
});

describe("a network that drops everything", () => {
  it("costs each webhook 8 s at most, loses none that is acknowledged, and is used again", async () => {
    const url = await server().createDatabase();
    const way = await passage(server().port);
    const listen = await startListen(url.replace(/:\d+\//, `:${way.port}/`));
    await listen.until(/"type":"ready"/);
    expect(await Promise.all(["a", "b", "c"].map(listen.send))).toEqual([200, 200, 200]);
    way.set(false);
    const answers = await Promise.all(
      Array.from({ length: 6 }, async (_, number) => {
        await new Promise((resolve) => setTimeout(resolve, number * 2_000));
        const started = performance.now();
        const status = await listen.send(`lost-${number}`);
        return { status, seconds: (performance.now() - started) / 1000 };
      }),
    );
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 503));
    expect(Math.max(...answers.map(({ seconds }) => seconds))).toBeLessThan(8);
    expect(await listen.ready()).toContain("not ready");
    way.set(true);
    await expect.poll(() => listen.send("d"), { timeout: 15_000 }).toBe(200);
    await listen.stop();
    expect(await utis(url)).toEqual(expect.arrayContaining(["a", "b", "c", "d"]));
  }, 60_000);
});
