/** The addresses of brokers, and that none with a secret is taken or repeated. */
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { withoutPassword } from "../../src/values/url-passwords.ts";
import {
  amqpRoute,
  BROKER_SCHEMES,
  BROKER_VARIABLES,
  brokerServer,
  natsSubject,
  parseBroker,
  SECRET_BROKER_VARIABLES,
} from "../../src/receiver/brokers/addresses.ts";
import { isSecretName } from "../../src/values/secrets.ts";
import { runCommand } from "../support/context.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");

describe("the table of brokers", () => {
  it.each(Object.entries(BROKER_SCHEMES))("%s is in the guide and in the security policy", (scheme) => {
    for (const path of ["src/texts/guides/production.txt", ".github/SECURITY.md"])
      expect({ path, text: read(path) }).toEqual({ path, text: expect.stringContaining(`${scheme}//`) });
  });

  it.each([...new Set(Object.values(BROKER_SCHEMES))])(
    "%s passes the contract with its real server",
    (name) => {
      const folder = join(ROOT, "test/commands");
      const tests = readdirSync(folder).map((file) => readFileSync(join(folder, file), "utf8"));
      const pattern = new RegExp(`brokerContract\\(\\(\\) => \\(\\{[^}]*\\bname: "${name}"`);
      expect(tests.filter((text) => pattern.test(text))).toHaveLength(1);
    },
  );

  it("marks each variable with a secret's name as a secret", () => {
    const secrets = Object.keys(BROKER_VARIABLES).filter(isSecretName);
    expect(secrets.length).toBeGreaterThan(2);
    expect(SECRET_BROKER_VARIABLES).toEqual(expect.arrayContaining(secrets));
  });
});

function urlOf(text: string): URL {
  const parsed = parseBroker(text);
  if (!parsed.ok) throw new Error(parsed.message);
  return parsed.value;
}

describe("the address of a broker", () => {
  it.each([
    ["nats://localhost/payments", "localhost", 4222, "payments"],
    ["nats://[::1]:4333/shop.payments", "::1", 4333, "shop.payments"],
    ["tls://nats.example/a-b_c", "nats.example", 4222, "a-b_c"],
  ])("%s names a subject", (text, hostname, port, subject) => {
    const url = urlOf(text);
    expect([brokerServer(url), natsSubject(url)]).toEqual([{ hostname, port }, subject]);
  });

  it.each([
    ["amqp://localhost/payments?key=a.b", 5672, { exchange: "payments", key: "a.b", vhost: "/" }],
    [
      "amqps://mq.example/amq.topic?key=a&vhost=shop",
      5671,
      { exchange: "amq.topic", key: "a", vhost: "shop" },
    ],
    ["amqp://localhost/fan", 5672, { exchange: "fan", key: "", vhost: "/" }],
    ["amqp://localhost?key=queue", 5672, { exchange: "", key: "queue", vhost: "/" }],
  ])("%s names an exchange", (text, port, route) => {
    const url = urlOf(text);
    expect([brokerServer(url).port, amqpRoute(url)]).toEqual([port, route]);
  });

  it.each([
    ["nats://localhost", /one subject/],
    ["nats://localhost/a.*", /one subject/],
    ["nats://localhost/a.>", /one subject/],
    ["nats://localhost/$JS.API.INFO", /one subject/],
    ["nats://localhost/a/b", /one subject/],
    ["nats://localhost/%ff", /one subject/],
    ["nats://localhost/a?token=b", /no parameters/],
    ["nats:///a", /must be nats:/],
    ["nats://localhost:0/a", /must be nats:/],
    ["nats://secret@localhost/a", /NATS_TOKEN/],
    ["amqp://user:secret@localhost/a", /AMQP_PASSWORD/],
    ["amqp://localhost", /an exchange, or \?key=/],
    ["amqp://localhost/vhost/exchange", /virtual host/],
    ["amqp://localhost/a?routing=b", /parameter routing/],
  ])("%s is refused", (text, message) => {
    expect(() => urlOf(text)).toThrow(message);
  });

  it.each([
    "nats://secret@localhost/a",
    "approved=nats://me:secret@localhost/a",
    "amqp://me:secret@localhost/a",
  ])("with a secret is not repeated: %s", async (text) => {
    expect(withoutPassword(text)).not.toContain("secret");
    const { exit, stderr } = await runCommand(["listen", "--forward-to", text]);
    expect(exit).toBe(2);
    expect(stderr).toMatch(/must not have a user, a password or a token: use (?:NATS|AMQP)_USER/);
    expect(stderr).not.toContain("secret");
  });

  it.each([[["check", "nats://localhost/a"]], [["trigger", "approved", "--to", "amqp://localhost/a"]]])(
    "is not an address for check or trigger: %s",
    async (argv) => {
      const { exit, stderr } = await runCommand(argv);
      expect([exit, stderr]).toEqual([2, expect.stringContaining("a broker stores what it gets")]);
    },
  );
});
