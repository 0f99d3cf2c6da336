/** `listen --ack stored`, on the built program: an application that fails, resets, hangs and comes back, and kills. */
import { createServer, type ServerResponse } from "node:http";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openEventDatabase } from "../../src/store/sqlite/event-file.ts";
import { temporaryHome } from "../support/home.ts";
import { readyUrl, runPaylink, startPaylink, type Running } from "../support/paylink.ts";
import { freePort, listenOnFreePort } from "../support/ports.ts";
import { usePostgres } from "../support/postgres.ts";
import { keyFile } from "../support/keys.ts";
import { post, record, webhook } from "../support/webhooks.ts";

type Mode = "accepts" | "fails" | "resets" | "hangs";

/** An application that notes what it is sent, and what it has accepted. */
async function startUnsteadyApp() {
  const app = { mode: "accepts" as Mode, sent: [] as string[], accepted: [] as string[], url: "" };
  const answer = (response: ServerResponse, uti: string): void => {
    app.sent.push(uti);
    if (app.mode === "resets") response.destroy();
    if (app.mode === "fails") response.writeHead(500).end();
    if (app.mode !== "accepts") return;
    app.accepted.push(uti);
    response.end();
  };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { uti } = JSON.parse(Buffer.concat(chunks).toString()) as { uti: string };
      answer(response, uti);
    });
  });
  app.url = `http://127.0.0.1:${await listenOnFreePort(server)}/`;
  return app;
}

const EACH = 5;
const RETRY = Array.from({ length: 100 }, () => "200ms").join();

/**
 * The kills are in attempts that the application does not accept, so it is to accept each event once. `endClaims` does what
 * the end of a lease would.
 */
async function survive(db: string, endClaims: () => Promise<void>) {
  const home = temporaryHome();
  const app = await startUnsteadyApp();
  const port = await freePort();
  const args = ["listen", "--port", port, "--json", "--key", keyFile(home), "--db", db];
  const forwarding = ["--forward-to", app.url, "--ack", "stored", "--retry", RETRY];
  let listen: Running | undefined;
  const utis: string[] = [];
  const modes: readonly Mode[] = ["fails", "resets", "hangs", "accepts"];
  for (const mode of modes) {
    app.mode = mode;
    listen = startPaylink([...args, ...forwarding], { home });
    const url = await readyUrl(listen);
    const before = app.sent.length;
    for (let count = 0; count < EACH; count++) {
      const one = record();
      utis.push(String(one["uti"]));
      expect(await post(url, webhook(url, one))).toBe(200);
    }
    await expect.poll(() => app.sent.length).toBeGreaterThan(before);
    if (mode === "accepts") break;
    await listen.stop("SIGKILL");
    await endClaims();
  }
  await expect.poll(() => new Set(app.accepted).size).toBe(utis.length);
  const ended = await listen?.stop("SIGTERM");
  expect(ended?.stdout).not.toContain("not forwarded yet");
  const failed = await runPaylink(["events", "list", "--failed", "-q", "--db", db], {
    home,
    // Set for other programs of the machine, which have a client of PostgreSQL in C.
    env: { NODE_PG_FORCE_NATIVE: "1" },
  });
  expect(failed).toMatchObject({ code: 0, stdout: "" });
  return { utis, firsts: [...new Set(app.sent)], accepted: app.accepted };
}

const END_OF_LEASES = "SET due = 0 WHERE due IS NOT NULL";

describe("listen --ack stored", () => {
  const server = usePostgres();
  it.each([
    [
      "a file",
      async () => join(temporaryHome(), "events.db"),
      async (path: string) => {
        const database = openEventDatabase(path);
        database.exec(`UPDATE deliveries ${END_OF_LEASES}`);
        database.close();
      },
    ],
    [
      "PostgreSQL",
      () => server().createDatabase(),
      async (url: string) => {
        await server().query(`UPDATE paylink.deliveries ${END_OF_LEASES}`, new URL(url).pathname.slice(1));
      },
    ],
  ])(
    "on %s reaches an application that fails, resets, hangs and comes back, through kills",
    async (_, newPlace, endLeases) => {
      const place = await newPlace();
      const { utis, firsts, accepted } = await survive(place, () => endLeases(place));
      expect(firsts.toSorted()).toEqual(utis.toSorted());
      expect(accepted.toSorted()).toEqual(utis.toSorted());
    },
  );
});
