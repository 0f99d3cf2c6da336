/** The built program behind gateways as companies run them: nginx, Express with compression, and the proxy tinyproxy. */
import { generateKeyPairSync } from "node:crypto";
import { createServer } from "node:http";
import { join } from "node:path";
import { readFileSync, writeFileSync } from "node:fs";
import compression from "compression";
import express from "express";
import { describe, expect, it } from "vitest";
import { ACCOUNT, CREATE } from "../support/account.ts";
import { temporaryHome } from "../support/home.ts";
import { ANSWER } from "../support/link-request.ts";
import { runPaylink, startSandbox, type Ended } from "../support/paylink.ts";
import { freePort, listenOnFreePort } from "../support/ports.ts";
import { startProxy, startSecureService, UNRESOLVABLE } from "../support/secure-service.ts";
import { startSystemProgram, systemProgram } from "../support/system-program.ts";

const NGINX = systemProgram("nginx");
const TINYPROXY = systemProgram("tinyproxy");

const PAGE = `{"totalCount":1,"records":[${ANSWER}]}`;
const REFUSAL = '{"message":"Validation failed","errors":{"amount":["must be positive"]}}';

/** A service that creates links, and answers that as late as asked. */
async function startService({ late = 0, refuses = false } = {}) {
  const created: string[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => (body += chunk.toString()));
    request.on("end", () => {
      const creates = request.method === "POST";
      if (creates && !refuses) created.push(body);
      const isList = request.url?.includes("?") === true;
      const answer = (): void => {
        response.writeHead(refuses ? 422 : 200, { "Content-Type": "application/json" });
        response.end(refuses ? REFUSAL : isList ? PAGE : ANSWER);
      };
      setTimeout(answer, creates ? late : 0);
    });
  });
  return { port: await listenOnFreePort(server), created };
}

/** The address of an nginx with these lines in its server; `%s` is the address of the service. */
async function nginxBefore(service: number, lines: string): Promise<string> {
  const port = Number(await freePort());
  await startSystemProgram({
    program: NGINX ?? "nginx",
    port,
    args: (file, folder) => ["-p", folder, "-c", file, "-e", join(folder, "error.log")],
    configuration: (folder) => `
daemon off; master_process off; pid ${folder}/pid;
events {}
http {
  access_log off;
  ${["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((name) => `${name}_temp_path ${folder}/${name};`).join(" ")}
  gzip on; gzip_types application/json; gzip_min_length 0; gzip_proxied any;
  server {
    listen 127.0.0.1:${port};
    ${lines.replaceAll("%s", `http://127.0.0.1:${service}`)}
  }
}`,
  });
  return `http://127.0.0.1:${port}`;
}

const run = (baseUrl: string, args: readonly string[], home = temporaryHome()): Promise<Ended> =>
  runPaylink(args, { home, env: { ...ACCOUNT, PAYLINK_BASE_URL: baseUrl } });

const errorIn = ({ stderr }: Ended): unknown => (JSON.parse(stderr) as { error: unknown }).error;

describe.skipIf(NGINX === undefined)("behind nginx", () => {
  it("that compresses, links are created, listed, and refused with a reason", async () => {
    const { port, created } = await startService();
    const address = await nginxBefore(port, "location / { proxy_pass %s; }");
    expect(await run(address, [...CREATE, "-q"])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("r=L1"),
    });
    expect(created).toHaveLength(1);
    const listed = await run(address, ["links", "list", "--json"]);
    expect(JSON.parse(listed.stdout)).toMatchObject({ id: "L1" });
    const refusing = await startService({ refuses: true });
    const refused = await run(
      await nginxBefore(refusing.port, "gzip_proxied any; location / { proxy_pass %s; }"),
      [...CREATE, "--json"],
    );
    expect(refused.code).toBe(4);
    expect(errorIn(refused)).toMatchObject({
      details: { service: "Validation failed", problems: [{ at: "amount", message: "must be positive" }] },
    });
  });

  it("that compresses, login checks the account and its key set, and stores it", async () => {
    const ofSandbox = temporaryHome();
    const service = await startSandbox(ofSandbox);
    const address = await nginxBefore(Number(new URL(service).port), "location / { proxy_pass %s; }");
    const home = temporaryHome();
    const settings = JSON.parse(readFileSync(join(ofSandbox, "settings.json"), "utf8")) as {
      profiles: { sandbox: { terminalId: string; clientSecret: string } };
    };
    const { clientSecret, terminalId } = settings.profiles.sandbox;
    const args = [
      "login",
      "--base-url",
      address,
      "--token-url",
      `${address}/oauth2/token`,
      "--token-scope",
      "pay_by_link",
    ];
    const key = ["--webhook-key", `${address}/.well-known/jwks.json`];
    const client = ["--terminal-id", terminalId, "--client-id", "sandbox", "--client-secret-stdin"];
    const login = await runPaylink([...args, ...key, ...client], { home, input: clientSecret });
    expect(login).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(`Logged in: profile default, ${address}`),
    });
    expect(login.stderr).toMatch(/✓ webhook key.*rsa 2048 bits/s);
  });

  it("that answers 408 while the service works, the outcome is unknown, and bulk resends no row", async () => {
    const { port, created } = await startService({ late: 20_000 });
    const address = await nginxBefore(
      port,
      "location / { proxy_pass %s; proxy_read_timeout 2s; error_page 504 =408 /408; } location = /408 { internal; return 408 timeout; }",
    );
    const once = await run(address, [...CREATE, "--json"]);
    expect(once.code).toBe(6);
    expect(errorIn(once)).toMatchObject({ code: "outcome_unknown", details: { status: 408 } });
    expect(created).toHaveLength(1);
    const home = temporaryHome();
    const list = join(home, "list.csv");
    writeFileSync(list, "invoiceId,amount,currency,customerName\nA-1,10,EUR,Ada\n");
    for (let attempt = 0; attempt < 2; attempt++)
      expect((await run(address, ["bulk", list, "--yes"], home)).code).toBe(6);
    expect(created).toHaveLength(2);
  });

  it.each([
    ["413", "client_max_body_size 10; location / { proxy_pass %s; }", 4, "refused", 413],
    ["502", "location / { proxy_pass http://127.0.0.1:1; }", 6, "outcome_unknown", 502],
    ["503", "location / { return 503; }", 6, "outcome_unknown", 503],
    ["429", "location / { return 429; }", 5, "overloaded", 429],
    ["302", "location / { return 302 /login; }", 4, "redirected", 302],
    [
      "308 elsewhere",
      "location / { return 308 https://elsewhere.example$request_uri; }",
      4,
      "redirected",
      308,
    ],
  ])("that answers %s, it says what that means", async (_, lines, code, name, status) => {
    const { port, created } = await startService();
    const ended = await run(await nginxBefore(port, lines), [...CREATE, "--json"]);
    expect(ended).toMatchObject({ code, stdout: "" });
    const lineOf = ended.stderr.trim().split("\n").at(-1) ?? "";
    expect(JSON.parse(lineOf)).toMatchObject({ error: { code: name, details: { status } } });
    expect(created).toEqual([]);
  });

  it("that adds a slash by a redirect, a link is created once", async () => {
    const { port, created } = await startService();
    const address = await nginxBefore(
      port,
      "location = /v1/payment-links { return 308 /v1/payment-links/; } location = /v1/payment-links/ { proxy_pass %s/v1/payment-links; }",
    );
    expect(await run(address, [...CREATE, "-q"])).toMatchObject({ code: 0 });
    expect(created).toHaveLength(1);
  });
});

describe("behind Express with compression", () => {
  it.each(["gzip", "deflate", "br"])("links are created with %s", async (coding) => {
    const app = express();
    app.use((request, _, next) => {
      request.headers["accept-encoding"] = coding;
      next();
    });
    app.use(compression({ threshold: 0 }));
    app.post("/v1/payment-links", (_, response) => void response.type("json").send(ANSWER));
    const address = `http://127.0.0.1:${await listenOnFreePort(createServer(app))}`;
    expect(await run(address, [...CREATE, "-q"])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("r=L1"),
    });
  });
});

describe.skipIf(TINYPROXY === undefined)("through tinyproxy", () => {
  async function tinyproxy(lines: string): Promise<number> {
    const port = Number(await freePort());
    await startSystemProgram({
      program: TINYPROXY ?? "tinyproxy",
      port,
      args: (file) => ["-d", "-c", file],
      configuration: () =>
        `Port ${port}\nListen 127.0.0.1\nTimeout 30\nMaxClients 10\nAllow 127.0.0.1\n${lines}\n`,
    });
    return port;
  }

  const create = (home: string, env: Readonly<Record<string, string>>): Promise<Ended> =>
    runPaylink([...CREATE, "--json"], {
      home,
      env: { ...ACCOUNT, PAYLINK_BASE_URL: `https://${UNRESOLVABLE}`, ...env },
    });

  it("that asks for a user, 407 is reported at once, and the link is created once the user is given", async () => {
    const home = temporaryHome();
    const service = await startSecureService(home);
    // It reaches what no resolver knows.
    const { url } = await startProxy({ to: service.port });
    const port = await tinyproxy(`BasicAuth me s3cret\nUpstream http ${new URL(url).host} ".invalid"`);
    const refused = await create(home, { HTTPS_PROXY: `http://127.0.0.1:${port}` });
    expect(refused.code).toBe(5);
    expect(errorIn(refused)).toMatchObject({ message: expect.stringContaining("answered 407") });
    const env = { HTTPS_PROXY: `http://me:s3cret@127.0.0.1:${port}`, NODE_EXTRA_CA_CERTS: service.ca };
    const created = await create(home, env);
    expect(created).toMatchObject({ code: 0, stderr: "" });
  });

  it("that does not reach an application, the proxy is named as the cause", async () => {
    const port = await tinyproxy("");
    const home = temporaryHome();
    const key = join(home, "key.pem");
    const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
    writeFileSync(key, privateKey.export({ type: "pkcs8", format: "pem" }));
    const to = ["--to", `https://${UNRESOLVABLE}/`, "--allow-remote", "--sign-with", key];
    const ended = await runPaylink(["trigger", "approved", ...to], {
      home,
      env: { HTTPS_PROXY: `http://127.0.0.1:${port}` },
    });
    expect(ended.code).toBe(5);
    expect(ended.stderr.replace(/\s+/g, " ")).toContain(
      "The proxy did not connect: name the host in NO_PROXY",
    );
  });

  it("that does not reach the service, the proxy is named", async () => {
    const port = await tinyproxy("");
    const ended = await create(temporaryHome(), { HTTPS_PROXY: `http://127.0.0.1:${port}` });
    expect(ended.code).toBe(5);
    expect(ended.stderr).toMatch(/the proxy http:\/\/127\.0\.0\.1:\d+ answered 50\d/);
  });
});
