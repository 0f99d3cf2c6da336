/** The place of the PostgreSQL server that all test files share: the first that needs it starts it. */
import type { TestProject } from "vitest/node";
import { newPlace, removeServer, type Place } from "./postgres-server.mjs";

declare module "vitest" {
  interface ProvidedContext {
    postgres: Place;
  }
}

export default async function setup(project: TestProject): Promise<() => void> {
  const place = await newPlace();
  project.provide("postgres", place);
  return () => removeServer(place);
}
