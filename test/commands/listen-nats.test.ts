/** `listen --forward-to nats://…`, in process, against a real server of NATS with JetStream. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { createVerifier } from "../../src/library/webhooks.ts";
import { NATS_SERVER, startNats } from "../support/broker-servers.mjs";
import {
  deliver,
  detailsOf,
  listenTo,
  messageId,
  underKills,
  untilTaken,
  useServer,
} from "../support/brokers.ts";
import { privatelyIssued } from "../support/certificate.ts";
import { runCommand } from "../support/context.ts";
import { temporaryHome } from "../support/home.ts";
import { keyFile, KEYS } from "../support/keys.ts";
import { freePort } from "../support/postgres-server.mjs";
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
    const verified = await createVerifier({ key: KEYS.publicPem })({
      method: "POST",
      url: "/",
      headers: fields,
      body,
    });
    expect(verified).toMatchObject({ outcome: "APPROVED" });
  });

  it("that is full, missing or another kind of service is answered 503", async () => {
    await server().createStream("small", { max_msgs: 1, discard: "new" });
    const listen = await listenTo(targetOf("small"));
    expect([await deliver(listen), await deliver(listen)]).toEqual([200, 503]);
    const lost = await listenTo(targetOf("nowhere"));
    expect(await deliver(lost)).toBe(503);
    expect([...detailsOf(listen), ...detailsOf(lost)]).toEqual([
      undefined,
      "the stream refused it: maximum messages exceeded",
      "no stream takes the subject nowhere",
    ]);
  });

  it("gets one outcome, and an application the others", async () => {
    await server().createStream("good");
    await server().createStream("bad");
    const flags = ["--no-store", "--forward-to", `declined=${targetOf("bad")}`];
    const listen = await listenTo(`approved=${targetOf("good")}`, { flags });
    expect(await deliver(listen)).toBe(200);
    expect(await deliver(listen, record({ transApproved: false }))).toBe(200);
    expect(await server().messages("good")).toHaveLength(1);
    expect(await server().messages("bad")).toHaveLength(1);
  });

  it("gets what is replayed, signed anew", async () => {
    await server().createStream("again");
    const home = temporaryHome();
    const listen = await listenTo(targetOf("gone"), { home, flags: [] });
    expect(await deliver(listen)).toBe(503);
    const key = join(home, "forward.pem");
    const argv = ["events", "replay", "--all", "--failed", "--to", targetOf("again"), "--sign-with", key];
    expect(await runCommand(argv, { home })).toMatchObject({ exit: 0 });
    const [{ headers, body } = { headers: "", body: Buffer.of() }] = await server().messages("again");
    const verified = await createVerifier({ key: `${key}.pub` })({
      method: "POST",
      url: "/",
      headers: fieldsOf(headers),
      body,
    });
    expect(verified).toMatchObject({ outcome: "APPROVED" });
  });
});

describe("a server that is away", () => {
  it("keeps nothing from starting, and is used when it is there", async () => {
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

describe("logging in", () => {
  it("takes the user and the password from the environment", async () => {
    const guarded = await startOwn("authorization { user: shop, password: secret }");
    const login = { NATS_USER: "shop", NATS_PASSWORD: "secret" };
    await guarded.createStream("in", {}, { user: "shop", pass: "secret" });
    const target = targetOf("in", guarded.port);
    const [right, wrong] = [await listenTo(target, { env: login }), await listenTo(target)];
    expect([await deliver(right), await deliver(wrong)]).toEqual([200, 503]);
    expect(String(detailsOf(wrong))).toMatch(/authorization violation/i);
  });

  it("over TLS needs the authority of the server's certificate", async () => {
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
  });

  it("stops before listening if a file cannot be read", async () => {
    const env = { NATS_CREDS: "/nowhere.creds" };
    const home = temporaryHome();

    const argv = ["listen", "--key", keyFile(home), "--forward-to", targetOf("x", await freePort())];
    expect(await runCommand(argv, { home, env })).toMatchObject({
      exit: 2,
      stderr: expect.stringMatching(/NATS_CREDS/),
    });
  });
});
