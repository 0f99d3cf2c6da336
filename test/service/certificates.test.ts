/** Certificates that are not accepted, or cannot be used: what the message says to do. */
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:https";
import { join } from "node:path";
import { expect, it } from "vitest";
import { readClientCertificate } from "../../src/service/open-client.ts";
import { resolveSettings } from "../../src/settings/resolved-settings.ts";
import { apiAt } from "../support/api.ts";
import { adviceOf, failure } from "../support/failure.ts";
import { selfSigned } from "../support/certificate.ts";
import { runCommand } from "../support/context.ts";
import { temporaryHome } from "../support/home.ts";
import { REQUEST } from "../support/link-request.ts";
import { listenOnFreePort } from "../support/ports.ts";

async function selfSignedServer(home: string): Promise<string> {
  const { cert, key } = selfSigned(home, "localhost");
  const server = createServer({ cert: readFileSync(cert), key: readFileSync(key) });
  return `https://localhost:${await listenOnFreePort(server)}/`;
}

it("names NODE_EXTRA_CA_CERTS for an authority that Node does not know", async () => {
  const url = await selfSignedServer(temporaryHome());
  const error = await failure(apiAt(url.slice(0, -1)).api.createLink(REQUEST));
  expect([error.code, error.exit]).toEqual(["not_reached", 5]);
  expect(adviceOf(error)).toContain("Nothing was created.");
  expect(adviceOf(error)).toContain("NODE_EXTRA_CA_CERTS");
});

it("names NODE_EXTRA_CA_CERTS for an endpoint that is to be tested, too", async () => {
  const home = temporaryHome();
  const url = await selfSignedServer(home);
  for (const [args, undone] of [
    [["trigger", "approved", "--to", url], "Nothing was sent"],
    [["check", url], "Nothing was checked"],
  ] as const) {
    const { exit, stderr } = await runCommand(args, { home });
    expect({ exit, stderr }).toEqual({
      exit: 5,
      stderr: `✗ The certificate of ${url} is not trusted: self-signed certificate.\n  ${undone}. Set NODE_EXTRA_CA_CERTS to the PEM file of the certificate, or of its authority.\n`,
    });
  }
});

it("refuses client files that are missing, are no PEM, or do not belong together", async () => {
  const home = temporaryHome();
  const one = selfSigned(home, "one");
  const [cert, otherKey, text] = ["cert.pem", "other.key", "text.pem"].map((name) => join(home, name));
  writeFileSync(cert ?? "", readFileSync(one.cert));
  writeFileSync(otherKey ?? "", readFileSync(selfSigned(home, "two").key));
  writeFileSync(text ?? "", "no certificate");
  const env = {
    PAYLINK_BASE_URL: "https://service.invalid",
    PAYLINK_TOKEN: "token-1",
    PAYLINK_TERMINAL_ID: "1",
  };
  const create = ["create", "--amount", "10", "--currency", "EUR", "--customer-name", "Ada", "--json"];
  const tried = async (certFile = "", keyFile = ""): Promise<{ exit: number; stderr: string }> => {
    await runCommand(["config", "set", "clientKey", keyFile], { home });
    await runCommand(["config", "set", "clientCert", certFile], { home });
    return runCommand(create, { home, env });
  };
  const missing = await tried(cert, join(home, "nope.key"));
  expect(missing).toMatchObject({ exit: 2, stderr: expect.stringMatching(/clientKey: .*nope\.key/) });
  const foreign = await tried(cert, otherKey);
  expect(foreign).toMatchObject({
    exit: 2,
    stderr: expect.stringContaining("does not belong to the certificate"),
  });
  const notPem = await tried(text, otherKey);
  expect(notPem).toMatchObject({ exit: 2, stderr: expect.stringContaining("is not PEM") });
});

it.each([
  ["clientCert", "clientKey"],
  ["clientKey", "clientCert"],
])("refuses %s without %s before it reads a file", async (given, missing) => {
  const settings = resolveSettings({
    named: undefined,
    env: {},
    current: "shop",
    profiles: { shop: { [given]: "/c.pem" } },
  });
  const readFile = (): Promise<never> => Promise.reject(new Error("a file was read"));
  const error = await failure(readClientCertificate(settings, readFile));
  expect([error.code, error.message]).toEqual([
    "usage",
    `${given} is set, and ${missing} is not. Nothing was sent.`,
  ]);
});
