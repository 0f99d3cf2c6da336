/** An interruption ends the wait for a database that is silent: by a clock of the test, which no timer waits for. */
import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { expect, it, onTestFinished, vi } from "vitest";
import { PaylinkError } from "../../src/domain/errors.ts";
import { openStores, type StoresParts } from "../../src/open-stores.ts";
import { temporaryHome } from "../support/home.ts";
import { listenOnFreePort } from "../support/ports.ts";

/** Reads an event store of a server that takes connections and says nothing; resolves once it waits for it. */
async function waitingRead(options: { readonly drains?: true } = {}) {
  const server = createServer();
  const port = await listenOnFreePort(server);
  const interruption = new AbortController();
  const unused = async (): Promise<never> => {
    throw new Error("a place that is named needs no settings");
  };
  const parts: StoresParts = {
    settings: unused,
    profiles: unused,
    createFile: unused,
    signal: interruption.signal,
    newId: () => "id",
    env: {},
    later: (close) => onTestFinished(async () => void (await close())),
    eventThread: { program: "", options: {} },
    mounts: () => "",
    secrets: { know: () => undefined },
  };
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const store = await openStores(parts, temporaryHome()).events(
    `postgres://u:p@127.0.0.1:${port}/db?sslmode=disable`,
    options,
  );
  const connected = once(server, "connection");
  const read = store.count({}, 1).catch((error: unknown) => error);
  const [socket] = (await connected) as [Socket];
  socket.on("error", () => undefined);
  await once(socket, "data");
  return { store, read, interrupt: () => interruption.abort() };
}

it("gives a silent database half a second, and not as long as a connection may take", async () => {
  const { read, interrupt } = await waitingRead();
  interrupt();
  vi.advanceTimersByTime(500);
  expect(await read).toBeInstanceOf(PaylinkError);
});

it("leaves what drains its own time", async () => {
  const { store, read, interrupt } = await waitingRead({ drains: true });
  let hasEnded = false;
  void read.then(() => (hasEnded = true));
  interrupt();
  vi.advanceTimersByTime(500);
  await new Promise((resolve) => void setImmediate(resolve));
  expect(hasEnded).toBe(false);
  store.hurry(100);
  vi.advanceTimersByTime(100);
  expect(await read).toBeInstanceOf(PaylinkError);
});
