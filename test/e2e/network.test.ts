/** The built program on the network of a company: through a proxy, and to a service with a private certificate authority. */
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ACCOUNT, CREATE } from "../support/account.ts";
import { temporaryHome } from "../support/home.ts";
import { runPaylink, type Ended } from "../support/paylink.ts";
import { startProxy, startSecureService, UNRESOLVABLE } from "../support/secure-service.ts";

const TOKEN = ACCOUNT.PAYLINK_TOKEN;

/** Runs `create` against a base URL, with the proxy's and the authority's variables in `env`. */
const create = (home: string, baseUrl: string, env: Readonly<Record<string, string>>): Promise<Ended> =>
  runPaylink([...CREATE, "--json"], { home, env: { ...ACCOUNT, PAYLINK_BASE_URL: baseUrl, ...env } });

/** The retries are reported before the error. */
function expectNotReached({ code, stdout, stderr }: Ended): void {
  expect({ code, stdout }).toEqual({ code: 5, stdout: "" });
  expect(JSON.parse(stderr.trim().split("\n").at(-1) ?? "")).toMatchObject({
    error: { code: "not_reached" },
  });
}

describe("HTTPS_PROXY", () => {
  it.each(["HTTPS_PROXY", "https_proxy"])(
    "(%s) tunnels to an https service, and hides the token",
    async (name) => {
      const home = temporaryHome();
      const { port, ca, tokens } = await startSecureService(home);
      const proxy = await startProxy({ to: port });
      const run = await create(home, `https://${UNRESOLVABLE}`, {
        [name]: proxy.url,
        NODE_EXTRA_CA_CERTS: ca,
      });
      expect(run).toMatchObject({ code: 0, stderr: "" });
      expect(JSON.parse(run.stdout)).toMatchObject({ url: expect.stringMatching(/^https:/) as unknown });
      expect(proxy.targets).toEqual([`${UNRESOLVABLE}:443`]);
      expect(tokens).toEqual([`Bearer ${TOKEN}`]);
      expect(proxy.tunnelled().length).toBeGreaterThan(500);
      expect(proxy.tunnelled()).not.toContain(TOKEN);
    },
  );

  it("still checks the certificate of the service", async () => {
    const home = temporaryHome();
    const { port, tokens } = await startSecureService(home);
    const proxy = await startProxy({ to: port });
    const ended = await create(home, `https://${UNRESOLVABLE}`, { HTTPS_PROXY: proxy.url });
    expectNotReached(ended);
    expect(proxy.targets).toContain(`${UNRESOLVABLE}:443`);
    expect(tokens).toEqual([]);
  });

  it("that cannot be read ends the command without its password", async () => {
    const env = { HTTPS_PROXY: "http://me:s3#cr3t@proxy:3128" };
    const { code, stderr } = await create(temporaryHome(), `https://${UNRESOLVABLE}`, env);
    expect({ code, error: JSON.parse(stderr) }).toMatchObject({
      code: 2,
      error: { error: { code: "usage" } },
    });
    expect(stderr).not.toMatch(/s3|cr3t/);
  });

  it.each([
    [407, 1, "set HTTPS_PROXY to http://<user>:<password>@<host>:<port>"],
    [403, 1, "Check the proxy"],
    [502, 4, "Check the proxy"],
  ])("that answers %d is asked %d times, and is named", async (refuse, times, advice) => {
    const proxy = await startProxy({ to: 0, refuse });
    const ended = await create(temporaryHome(), `https://${UNRESOLVABLE}`, { HTTPS_PROXY: proxy.url });
    expectNotReached(ended);
    expect(ended.stderr).toContain(`the proxy ${proxy.url} answered ${refuse}`);
    expect(ended.stderr).toContain(advice);
    expect(proxy.targets).toHaveLength(times);
  });

  it("is sent the user, with and without a password", async () => {
    for (const user of ["me", "me:s3cret%23"]) {
      const home = temporaryHome();
      const { port, ca } = await startSecureService(home);
      const proxy = await startProxy({ to: port });
      const env = { HTTPS_PROXY: proxy.url.replace("//", `//${user}@`), NODE_EXTRA_CA_CERTS: ca };
      expect(await create(home, `https://${UNRESOLVABLE}`, env)).toMatchObject({ code: 0 });
      const [, encoded = ""] = proxy.credentials[0]?.split(" ") ?? [];
      expect(atob(encoded)).toBe(user === "me" ? "me:" : "me:s3cret#");
    }
  });

  it("is never used for loopback", async () => {
    const home = temporaryHome();
    const { port, ca } = await startSecureService(home);
    const proxy = await startProxy({ to: 1, refuse: 502 });
    const env = { HTTPS_PROXY: proxy.url, NODE_EXTRA_CA_CERTS: ca };
    expect(await create(home, `https://localhost:${port}`, env)).toMatchObject({ code: 0, stderr: "" });
    expect(proxy.targets).toEqual([]);
  });

  it("is not used for a host in NO_PROXY, whose CA NODE_EXTRA_CA_CERTS names", async () => {
    const home = temporaryHome();
    const { port, ca, tokens } = await startSecureService(home);
    const proxy = await startProxy({ to: port });
    const env = { HTTPS_PROXY: proxy.url, NO_PROXY: "localhost", NODE_EXTRA_CA_CERTS: ca };
    expect(await create(home, `https://localhost:${port}`, env)).toMatchObject({ code: 0, stderr: "" });
    expect(proxy.targets).toEqual([]);
    expect(tokens).toEqual([`Bearer ${TOKEN}`]);
  });
});

describe("bulk", () => {
  const bulk = (home: string, env: Readonly<Record<string, string>>): Promise<Ended> =>
    runPaylink(
      ["bulk", "-", "--currency", "EUR", "--customer-name", "Ada", "-o", join(home, "links.csv"), "--json"],
      {
        home,
        env: { ...ACCOUNT, ...env },
        // Without order numbers, nothing is asked of the service before the first row is sent.
        input: `amount,description\n${Array.from({ length: 40 }, (_, row) => `10,Seat ${row}\n`).join("")}`,
      },
    );

  it("ends at once where waiting does not help: a proxy that refuses, a certificate that is not trusted", async () => {
    const home = temporaryHome();
    const proxy = await startProxy({ to: 0, refuse: 407 });
    const proxied = { PAYLINK_BASE_URL: `https://${UNRESOLVABLE}`, HTTPS_PROXY: proxy.url };
    const { port, connections } = await startSecureService(home);
    const runs = await Promise.all([
      bulk(home, proxied),
      bulk(temporaryHome(), { PAYLINK_BASE_URL: `https://localhost:${port}` }),
    ]);
    for (const { code, stdout } of runs) {
      expect(code).toBe(5);
      expect(stdout).toContain('"not_reached":');
      expect(stdout).not.toContain("Trying again");
    }
    // Those that were sent together.
    expect(proxy.targets.length).toBeLessThan(9);
    expect(connections()).toBeLessThan(9);
  });
});

describe("a private certificate authority", () => {
  it("is not trusted without NODE_EXTRA_CA_CERTS, and is sent no token", async () => {
    const home = temporaryHome();
    const { port, tokens, connections } = await startSecureService(home);
    const ended = await create(home, `https://localhost:${port}`, {});
    expectNotReached(ended);
    expect(tokens).toEqual([]);
    expect(connections()).toBe(1);
  });
});
