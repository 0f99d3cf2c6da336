/** What every broker must pass with its real server: it is asked what it can keep, and its secrets are never printed. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  BROKER_VARIABLES,
  type BrokerName,
  SECRET_BROKER_VARIABLES,
} from "../../src/receiver/brokers/addresses.ts";
import { deliver, listenTo, untilTaken } from "./brokers.ts";
import { runCommand } from "./context.ts";
import { temporaryHome } from "./home.ts";
import { keyFile } from "./keys.ts";

export interface BrokerUnderTest {
  readonly name: BrokerName;
  /** The address of a route of this name. */
  readonly target: (route: string) => string;
  readonly createRoute: (route: string) => Promise<unknown>;
  readonly removeRoute: (route: string) => Promise<unknown>;
  /** What is said of a route that is not there. */
  readonly missing: RegExp;
}

export function brokerContract(broker: () => BrokerUnderTest): void {
  describe("the contract of brokers", () => {
    it("a route that is not there stops listen before it receives", async () => {
      const { target, missing } = broker();
      const home = temporaryHome();
      const argv = ["listen", "--key", keyFile(home), "--no-store", "--forward-to", target("nowhere")];
      const { exit, stderr } = await runCommand([...argv, "--json"], { home });
      expect(exit).toBe(2);
      const { error } = JSON.parse(stderr) as { error: { code: string; message: string } };
      expect(error).toEqual({
        code: "broker_unusable",
        message: expect.stringMatching(missing),
        details: {},
      });
      expect(error.message).toContain(target("nowhere"));
    });

    it("a route that goes away makes it not ready, with the reason, until it is back", async () => {
      const { target, createRoute, removeRoute, missing } = broker();
      await createRoute("contract");
      const listen = await listenTo(target("contract"), { flags: ["--no-store", "--admin", "127.0.0.1:0"] });
      const [, admin = ""] = await listen.until(/"admin":"([^"]+)"/);
      const readiness = async (): Promise<string> => (await fetch(new URL("/readyz", admin))).text();
      await expect.poll(readiness).toBe("ready\n");
      expect(await deliver(listen)).toBe(200);
      await removeRoute("contract");
      expect(await deliver(listen)).toBe(503);
      await expect.poll(readiness).toMatch(missing);
      await createRoute("contract");
      await untilTaken(listen);
      await expect.poll(readiness).toBe("ready\n");
    });

    it("is refused with files that would check nothing or log in with nothing", async () => {
      const { name, target } = broker();
      const home = temporaryHome();
      const empty = join(home, "empty.pem");
      writeFileSync(empty, "");
      const argv = ["listen", "--key", keyFile(home), "--no-store", "--forward-to", target("nowhere")];
      for (const [variable, words] of [
        ["CA", "has no certificate in PEM"],
        ["CERT", "belong together"],
        ["KEY", "belong together"],
      ] as const)
        expect(await runCommand(argv, { home, env: { [`${name}_${variable}`]: empty } })).toMatchObject({
          exit: 2,
          stderr: expect.stringContaining(words),
        });
    });

    it("its secrets are never printed, and each variable that sounds like one is one", async () => {
      const { name, target } = broker();
      const own = Object.keys(BROKER_VARIABLES).filter((variable) => variable.startsWith(`${name}_`));
      const secrets = own.filter((variable) => /(?:PASSWORD|TOKEN|SECRET)$/.test(variable));
      expect(secrets.length).toBeGreaterThan(0);
      expect(SECRET_BROKER_VARIABLES).toEqual(expect.arrayContaining(secrets));
      const home = temporaryHome();
      const env = Object.fromEntries(secrets.map((variable) => [variable, `s3cr3t-${variable}`]));
      const argv = [
        "listen",
        "--debug",
        "--key",
        keyFile(home),
        "--no-store",
        "--forward-to",
        target("nowhere"),
      ];
      const { stdout, stderr } = await runCommand([...argv, "--expect", "1", "--timeout", "2s"], {
        home,
        env: { [`${name}_USER`]: "nobody", ...env },
      });
      expect(stdout + stderr).not.toContain("s3cr3t");
      const help = await runCommand(["help", "environment"]);
      for (const variable of own) expect(help.stdout).toContain(variable);
    });
  });
}
