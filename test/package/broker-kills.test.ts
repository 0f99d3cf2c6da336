/** Two receivers without a store lose nothing that they acknowledged when their broker is killed under load. */
import { execFile } from "node:child_process";
import { resolve } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { RABBITMQ_SERVER } from "../support/broker-servers.mjs";

const BENCH = resolve(import.meta.dirname, "../bench/broker-kill.bench.mjs");

it("survives 2 kills of RabbitMQ", async (test) => {
  test.skip(RABBITMQ_SERVER === undefined, "no rabbitmq-server is installed");
  const { stdout } = await promisify(execFile)(process.execPath, [BENCH, "0", "2"]);
  expect(stdout).toContain("0 not acknowledged in the end");
  expect(stdout).toMatch(/\| 0 \(0; of 400\) \|/);
}, 180_000);
