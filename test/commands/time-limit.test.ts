/** `--timeout` bounds the whole command: its retries and waits, and not only each exchange. */
import { expect, it } from "vitest";
import type { SendOptions } from "../../src/http/exchange.ts";
import type { HttpReply } from "../../src/http/message.ts";
import { runCommand } from "../support/context.ts";

const CREATE = ["create", "--amount", "10", "--currency", "EUR", "--customer-name", "Ada Lovelace"];
const ACCOUNT = {
  PAYLINK_BASE_URL: "https://pay.example",
  PAYLINK_TOKEN: "token-1",
  PAYLINK_TERMINAL_ID: "1234567890",
};

const overloaded = (retryAfter: string): HttpReply => ({
  status: 503,
  headers: [["Retry-After", retryAfter]],
  body: new Uint8Array(),
});

it("does not wait for a retry that would be too late", async () => {
  let sent = 0;
  const { exit, stderr } = await runCommand([...CREATE, "--timeout", "20s"], {
    env: ACCOUNT,
    send: async () => (sent++, overloaded("40")),
  });
  expect({ exit, sent }).toEqual({ exit: 5, sent: 1 });
  expect(stderr).toContain("The service answered 503");
});

it("gives each exchange only the time that is left", async () => {
  let time = Date.parse("2026-03-01T12:00:00Z");
  const given: (number | undefined)[] = [];
  const { exit } = await runCommand([...CREATE, "--timeout", "20s"], {
    env: ACCOUNT,
    now: () => new Date(time),
    send: async (_, { timeout }: SendOptions = {}) => {
      given.push(timeout);
      time += 15_000;
      return overloaded("0");
    },
  });
  expect({ exit, given }).toEqual({ exit: 5, given: [20_000, 5_000] });
});
