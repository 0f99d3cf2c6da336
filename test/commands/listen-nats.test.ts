/** `listen --forward-to nats://…`, in process, against a real server of NATS with JetStream. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { credsAuthenticator, nkeys } from "@nats-io/transport-node";
import { describe, expect, it, onTestFinished } from "vitest";
import { NATS_SERVER, startNats } from "../support/broker-servers.mjs";
import { brokerContract } from "../support/broker-contract.ts";
import {
  deliver,
  detailsOf,
  listenTo,
  messageId,
  outcomeOf,
  underKills,
  untilTaken,
  useServer,
  openTarget,
} from "../support/brokers.ts";
import { privatelyIssued } from "../support/certificate.ts";
import { runCommand } from "../support/context.ts";
import { temporaryHome } from "../support/home.ts";
import { keyFile } from "../support/keys.ts";
import { ownPort } from "../support/own-port.mjs";
import { post, record, webhook } from "../support/webhooks.ts";

const server = useServer(NATS_SERVER, "nats-server", () => startNats());

/** A server of one test, which may end it. */
async function startOwn(config?: string) {
  const own = await startNats(config);
  onTestFinished(own.remove);
  return own;
}

const targetOf = (subject: string, port = server().port): string => `nats://127.0.0.1:${port}/${subject}`;

/** The header fields of a stored message, by their names in lower case. */
const fieldsOf = (headers: string): Record<string, string> =>
  Object.fromEntries(
    [...headers.matchAll(/^([^:\r\n]+): (.*)\r$/gm)].map(([, name = "", value = ""]) => [
      name.toLowerCase(),
      value,
    ]),
  );

const textOf = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

/** What one key of NATS says about another, as its servers read it. */
function jwtOf(signer: nkeys.KeyPair, subject: nkeys.KeyPair, claims: object): string {
  const encode = (part: object): string => Buffer.from(JSON.stringify(part)).toString("base64url");
  const about = { iss: signer.getPublicKey(), sub: subject.getPublicKey(), name: "shop", jti: "1", iat: 1 };
  const signed = `${encode({ typ: "JWT", alg: "ed25519-nkey" })}.${encode({ ...about, nats: { ...claims, version: 2 } })}`;
  return `${signed}.${Buffer.from(signer.sign(Buffer.from(signed))).toString("base64url")}`;
}

brokerContract(() => ({
  name: "NATS",
  target: (route) => targetOf(route),
  createRoute: (route) => server().createStream(route),
  removeRoute: (route) => server().deleteStream(route),
  missing: /no stream takes the subject/,
}));

describe("a stream that would lose what it confirms", () => {
  it.each([
    ["confirms nothing", { no_ack: true }, /no_ack/],
    [
      "keeps for consumers that there are not",
      { retention: "interest" },
      /retention "interest" and no consumer/,
    ],
    [
      "keeps for workers that there are not",
      { retention: "workqueue" },
      /retention "workqueue" and no consumer/,
    ],
    ["forgets by count", { max_msgs: 1, discard: "old" }, /forgets its oldest/],
    ["forgets by size", { max_bytes: 10_000 }, /forgets its oldest/],
    ["forgets by subject", { max_msgs_per_subject: 1, discard: "new" }, /discard_new_per_subject/],
  ])("is refused at the start: one that %s", async (name, limits, words) => {
    const stream = name.replaceAll(" ", "_");
    await server().createStream(stream, limits);
    const home = temporaryHome();
    const argv = ["listen", "--key", keyFile(home), "--no-store", "--forward-to", targetOf(stream)];
    expect(await runCommand(argv, { home })).toMatchObject({ exit: 2, stderr: expect.stringMatching(words) });
  });

  it.each([
    ["forgets by age", { max_age: 3_600e9 }, /one replica/],
    ["is in memory", { storage: "memory" }, /kept in memory/],
  ])("is used with a warning: one that %s", async (name, limits, words) => {
    const stream = name.replaceAll(" ", "_");
    await server().createStream(stream, limits);
    const listen = await listenTo(targetOf(stream));
    await listen.until(words);
    expect(await deliver(listen)).toBe(200);
  });

  it("is not asked where the user may only publish", async () => {
    const guarded = await startOwn();
    await guarded.createStream("in");
    await guarded.kill();
    await guarded.start(
      `authorization { users = [{ user: shop, password: secret, permissions: { publish: ["in"], subscribe: ["_INBOX.>"] } }] }`,
    );
    const env = { NATS_USER: "shop", NATS_PASSWORD: "secret" };
    const listen = await listenTo(targetOf("in", guarded.port), { env });
    await listen.until(/this login may not ask how the stream of/);
    expect(await deliver(listen)).toBe(200);
  });
});

describe("a stream", () => {
  it("gets the bytes, what verifies them, and each record once", async () => {
    await server().createStream("paid");
    const [one, other] = [await listenTo(targetOf("paid")), await listenTo(targetOf("paid"))];
    const request = webhook(one.url, record());
    expect(await post(one.url, request)).toBe(200);
    expect(await post(one.url, request)).toBe(200);
    expect(await post(other.url, { ...request, headers: request.headers })).toBe(200);
    const [stored, ...others] = await server().messages("paid");
    const { headers = "", body = Buffer.of() } = stored ?? {};
    expect(others).toEqual([]);
    expect(body).toEqual(Buffer.from(request.body));
    const fields = fieldsOf(headers);
    expect(fields["nats-msg-id"]).toBe(messageId(request));
    expect(fields).not.toHaveProperty("host");
    expect(await outcomeOf(fields, body)).toBe("APPROVED");
  });

  it("that is full, missing or another kind of service is answered 503", async () => {
    await server().createStream("small", { max_msgs: 1, discard: "new" });
    const listen = await listenTo(targetOf("small"));
    expect([await deliver(listen), await deliver(listen)]).toEqual([200, 503]);
    await server().createStream("lost");
    const lost = await listenTo(targetOf("lost"));
    await server().deleteStream("lost");
    expect(await deliver(lost)).toBe(503);
    expect([...detailsOf(listen), ...detailsOf(lost)]).toEqual([
      undefined,
      "the stream refused it: maximum messages exceeded",
      "no stream takes the subject lost",
    ]);
  });

  it("does not have messages that its stream refused or that no stream took", async () => {
    await server().createStream("tight", { max_msgs: 1, discard: "new" });
    const { answer } = await openTarget(targetOf("tight"));
    expect(await answer()).toMatchObject({ kind: "answered", status: 200 });
    expect(await answer()).toMatchObject({ kind: "noAnswer", sent: false });
    await server().deleteStream("tight");
    expect(await answer()).toMatchObject({ kind: "noAnswer", sent: false });
  });

  it("gets what is replayed, signed anew", async () => {
    await server().createStream("again");
    const home = temporaryHome();
    await server().createStream("gone");
    const listen = await listenTo(targetOf("gone"), { home, flags: [] });
    await server().deleteStream("gone");
    expect(await deliver(listen)).toBe(503);
    const key = join(home, "forward.pem");
    const argv = [
      "events",
      "replay",
      "--all",
      "--failed",
      "--to",
      targetOf("again"),
      "--sign-with",
      key,
      "--key",
      keyFile(home),
    ];
    expect(await runCommand(argv, { home })).toMatchObject({ exit: 0 });
    const [{ headers, body } = { headers: "", body: Buffer.of() }] = await server().messages("again");
    expect(await outcomeOf(fieldsOf(headers), body, `${key}.pub`)).toBe("APPROVED");
  });
});

describe("a server that is away", () => {
  it("does not stop listen from starting, and is used once it is up", async () => {
    const away = await startOwn();
    await away.createStream("late");
    await away.kill();
    const flags = ["--no-store", "--admin", "127.0.0.1:0"];
    const listen = await listenTo(targetOf("late", away.port), { flags });
    const [, admin = ""] = await listen.until(/"admin":"([^"]+)"/);
    const readiness = async (): Promise<string> => {
      const reply = await fetch(new URL("/readyz", admin));
      return `${reply.status} ${await reply.text()}`;
    };
    expect(await readiness()).toMatch(/^503 not ready: the broker nats:.*connection refused/);
    expect(await deliver(listen)).toBe(503);
    await listen.until(/"type":"warning".*takes no messages: connection refused.*paylink help environment/);
    await away.start();
    await untilTaken(listen);
    while (!(await readiness()).startsWith("200")) await new Promise((resolve) => setTimeout(resolve, 100));
  });

  it("gets what was stored meanwhile", async () => {
    const away = await startOwn();
    await away.createStream("stored");
    await away.kill();
    const flags = ["--ack", "stored", "--retry", "20x200ms"];
    const listen = await listenTo(targetOf("stored", away.port), { flags });
    expect(await deliver(listen)).toBe(200);
    await listen.until(/"state":"pending"/);
    await away.start();
    await listen.until(/"state":"delivered"/);
    expect(await away.messages("stored")).toHaveLength(1);
  });

  it("has every message that was acknowledged, after kills under load", async () => {
    const killed = await startOwn();
    await killed.createStream("load", { duplicate_window: 600e9 });
    const target = targetOf("load", killed.port);
    const acknowledged = await underKills([await listenTo(target), await listenTo(target)], killed, 3);
    const stored = new Set(
      (await killed.messages("load")).map(({ headers }) => fieldsOf(headers)["nats-msg-id"]),
    );
    expect([...acknowledged].filter((id) => !stored.has(id))).toEqual([]);
  }, 60_000);
});

describe("a cluster of three servers", () => {
  it("stores what arrives while the named server is down", async () => {
    const routes = await Promise.all([ownPort(), ownPort(), ownPort()]);
    const servers = await Promise.all(
      routes.map((route) =>
        startOwn(`server_name: s${route}
          cluster { name: paid, listen: "127.0.0.1:${route}", routes: [${routes.map((to) => `"nats://127.0.0.1:${to}"`).join()}] }`),
      ),
    );
    const [first, second] = servers;
    if (first === undefined || second === undefined) throw new Error("no servers");
    // Until the servers have chosen a leader.
    const create = async () => (await first.createStream("paid", { num_replicas: 3 })).config;
    await expect.poll(() => create().catch(() => undefined)).toMatchObject({ num_replicas: 3 });
    const listen = await listenTo(targetOf("paid", first.port));
    await untilTaken(listen);
    await first.kill();
    await untilTaken(listen);
    expect(await second.messages("paid")).toHaveLength(2);
  }, 60_000);
});

describe("logging in", () => {
  it("accepts a user and password or a token from the environment, and a seed from a file", async () => {
    const user = nkeys.createUser();
    const file = join(temporaryHome(), "user.nk");
    writeFileSync(file, `${textOf(user.getSeed())}\n`);
    const logins = [
      { config: "user: shop, password: secret", env: { NATS_USER: "shop", NATS_PASSWORD: "secret" } },
      { config: "token: secret", env: { NATS_TOKEN: "secret" } },
      { config: `users = [{ nkey: ${user.getPublicKey()} }]`, env: { NATS_NKEY: file } },
    ];
    for (const { config, env } of logins) {
      const guarded = await startOwn();
      await guarded.createStream("in");
      await guarded.kill();
      await guarded.start(`authorization { ${config} }`);
      const target = targetOf("in", guarded.port);
      const [right, wrong] = [await listenTo(target, { env }), await listenTo(target)];
      expect([await deliver(right), await deliver(wrong)]).toEqual([200, 503]);
      expect(String(detailsOf(wrong))).toMatch(/authorization violation/i);
    }
  });

  it("accepts the credentials file of a user whose account an operator has signed", async () => {
    const [operator, user] = [nkeys.createOperator(), nkeys.createUser()];
    const [account, system] = [nkeys.createAccount(), nkeys.createAccount()];
    const limits = {
      subs: -1,
      data: -1,
      payload: -1,
      imports: -1,
      exports: -1,
      wildcards: true,
      conn: -1,
      leaf: -1,
    };
    const storage = { mem_storage: -1, disk_storage: -1, streams: -1, consumer: -1 };
    const accountJwt = jwtOf(operator, account, { type: "account", limits: { ...limits, ...storage } });
    const userJwt = jwtOf(account, user, { type: "user", pub: {}, sub: {}, subs: -1, data: -1, payload: -1 });
    const creds = join(temporaryHome(), "shop.creds");
    writeFileSync(
      creds,
      `-----BEGIN NATS USER JWT-----\n${userJwt}\n------END NATS USER JWT------\n\n-----BEGIN USER NKEY SEED-----\n${textOf(user.getSeed())}\n------END USER NKEY SEED------\n`,
    );
    const guarded = await startOwn(`
      operator: ${jwtOf(operator, operator, { type: "operator" })}
      resolver: MEMORY
      system_account: ${system.getPublicKey()}
      resolver_preload: {
        ${account.getPublicKey()}: ${accountJwt}
        ${system.getPublicKey()}: ${jwtOf(operator, system, { type: "account", limits })}
      }`);
    const authenticator = credsAuthenticator(readFileSync(creds));
    await guarded.createStream("in", {}, { authenticator });
    const target = targetOf("in", guarded.port);
    const [right, wrong] = [
      await listenTo(target, { env: { NATS_CREDS: creds } }),
      await listenTo(target, { env: { NATS_USER: "shop", NATS_PASSWORD: "no" } }),
    ];
    expect([await deliver(right), await deliver(wrong)]).toEqual([200, 503]);
  });

  it("over TLS needs the CA of the server's certificate, and a client certificate if the server asks for one", async () => {
    const home = temporaryHome();
    const { ca, cert, key } = privatelyIssued(home, ["localhost"]);

    const secure = await startOwn();
    const [servedCert, servedKey] = [
      secure.write("cert.pem", readFileSync(cert)),
      secure.write("key.pem", readFileSync(key)),
    ];
    await secure.createStream("safe");
    await secure.kill();
    await secure.start(`tls { cert_file: "${servedCert}", key_file: "${servedKey}" }`);
    const target = `tls://localhost:${secure.port}/safe`;
    const trusting = await listenTo(target, { env: { NATS_CA: ca } });
    const [doubting, careless] = [
      await listenTo(target),
      await listenTo(target, { flags: ["--no-store", "--insecure"] }),
    ];
    expect([await deliver(trusting), await deliver(doubting), await deliver(careless)]).toEqual([
      200, 503, 200,
    ]);
    expect(String(detailsOf(doubting))).toMatch(/certificate/);

    const authority = secure.write("ca.pem", readFileSync(ca));
    await secure.kill();
    await secure.start(
      `tls { cert_file: "${servedCert}", key_file: "${servedKey}", ca_file: "${authority}", verify: true }`,
    );
    const own = { NATS_CA: ca, NATS_CERT: cert, NATS_KEY: key };
    const [known, unknown] = [
      await listenTo(target, { env: own }),
      await listenTo(target, { env: { NATS_CA: ca } }),
    ];
    expect([await deliver(known), await deliver(unknown)]).toEqual([200, 503]);
  });

  it("stops before listening if a file cannot be read", async () => {
    const env = { NATS_CREDS: "/nowhere.creds" };
    const home = temporaryHome();

    const argv = ["listen", "--key", keyFile(home), "--forward-to", targetOf("x", await ownPort())];
    expect(await runCommand(argv, { home, env })).toMatchObject({
      exit: 2,
      stderr: expect.stringMatching(/NATS_CREDS/),
    });
  });
});
