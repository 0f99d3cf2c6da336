import { expect, it } from "vitest";
import { usePostgres } from "../support/postgres.ts";
import { openPostgresEventStore } from "../../src/store/events/postgres-event-store.ts";
const server = usePostgres();
it("starts", async () => {
  const url = await server().createDatabase();
  const store = openPostgresEventStore(url, { env: {}, owner: "a" });
  await store.ready();
  expect(await store.listeners()).toEqual([]);
  await store.close();
});
