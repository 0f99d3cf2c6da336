/** A command that needs the time asks the sandbox for it, and goes on without an answer. */
import { writeFileSync } from "node:fs";
import type { Socket } from "node:net";
import { join } from "node:path";
import { expect, it } from "vitest";
import { runCommand } from "../support/context.ts";
import { temporaryHome } from "../support/home.ts";
import { rawServer, reply } from "../support/raw-server.ts";

const LINK = JSON.stringify({ id: "L1", url: "https://pay.example/pay?r=L1", status: "active" });

/** The clock of this machine. */
const now = (): Date => new Date("2029-01-01T00:00:00Z");

/** Creates a link at a registered sandbox whose clock answers so. */
async function createAt(clock: (socket: Socket) => void) {
  const server = await rawServer((socket, count) => (count === 1 ? clock : reply(201, LINK))(socket));
  const home = temporaryHome();
  const sandbox = {
    baseUrl: server.url,
    token: "secret-token",
    terminalId: "1234567890",
    customerName: "Ada",
    currency: "EUR",
  };
  writeFileSync(join(home, "settings.json"), JSON.stringify({ current: "sandbox", profiles: { sandbox } }));
  const { exit, stdout } = await runCommand(["create", "--amount", "10", "--quiet"], { home, now });
  const paths = server.requests.map((request) => request.split(" HTTP/")[0]);
  return { exit, stdout, paths, request: server.requests[1] };
}

it("is asked before the link is created, whose expiry it decides", async () => {
  const { exit, stdout, paths, request } = await createAt(
    reply(200, JSON.stringify({ now: "2030-01-01T00:00:00Z", own: true })),
  );
  expect({ exit, stdout }).toEqual({ exit: 0, stdout: "https://pay.example/pay?r=L1\n" });
  expect(paths).toEqual(["GET /sandbox/clock", expect.stringMatching(/^POST /)]);
  expect(request).toContain(`"expirationDate":"2030-01-08T00:00:00`);
});

it("is given up after 2 s, and the link expires by the clock of this machine", async () => {
  const { exit, stdout, paths, request } = await createAt(() => undefined);
  expect({ exit, stdout }).toEqual({ exit: 0, stdout: "https://pay.example/pay?r=L1\n" });
  expect(paths).toEqual(["GET /sandbox/clock", expect.stringMatching(/^POST /)]);
  expect(request).toContain(`"expirationDate":"2029-01-08T00:00:00`);
});
