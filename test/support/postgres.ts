/** The PostgreSQL servers of test files: their tests are skipped where none is installed. */
import { afterAll, beforeAll, beforeEach, inject } from "vitest";
import { POSTGRES_BIN, sharedServer, startPostgresServer, type PostgresServer } from "./postgres-server.mjs";

export const hasPostgres = POSTGRES_BIN !== undefined;

/** The server of all test files, for tests that have a database each. */
export const usePostgres = (): (() => Omit<PostgresServer, "configure" | "start" | "stop" | "suspend">) =>
  use(() => sharedServer(inject("postgres")));

/** A server of this file alone, for tests that stop it or configure it. */
export function useOwnPostgres(): () => PostgresServer {
  const server = use(() => startPostgresServer());
  afterAll(() => (hasPostgres ? server().remove() : undefined));
  return server;
}

function use(open: () => Promise<PostgresServer>): () => PostgresServer {
  let server: PostgresServer | undefined;
  beforeAll(async () => {
    if (hasPostgres) server = await open();
  });
  beforeEach((test) => test.skip(!hasPostgres, "no PostgreSQL server is installed"));
  return () => {
    if (server === undefined) throw new Error("the server has not been started");
    return server;
  };
}
