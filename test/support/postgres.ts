/** The PostgreSQL server of a test file: its tests are skipped where none is installed. */
import { afterAll, beforeAll, beforeEach } from "vitest";
import { POSTGRES_BIN, startPostgresServer, type PostgresServer } from "./postgres-server.mjs";

export const hasPostgres = POSTGRES_BIN !== undefined;

/** Starts a server for the tests of this file. */
export function usePostgres(): () => PostgresServer {
  let server: PostgresServer | undefined;
  beforeAll(async () => {
    if (hasPostgres) server = await startPostgresServer();
  });
  beforeEach((test) => test.skip(!hasPostgres, "no PostgreSQL server is installed"));
  afterAll(() => server?.remove());
  return () => {
    if (server === undefined) throw new Error("the server has not been started");
    return server;
  };
}
