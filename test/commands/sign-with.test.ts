/** `--sign-with` of `listen` and `events replay`: late deliveries to an application with a verifier of others, and the key files. */
import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createVerifier, httpbis } from "http-message-signatures";
import { parseDictionary } from "structured-headers";
import { describe, expect, it } from "vitest";
import { sampleTransaction } from "../../src/library/webhooks.ts";
import type { ComponentName } from "../../src/signatures/cover.ts";
import { startListenWith } from "../support/background-command.ts";
import { runCommand } from "../support/context.ts";
import { temporaryHome } from "../support/home.ts";
import { jsonLines, type JsonLine, linesOf } from "../support/json-lines.ts";
import { keyFile, KEYS, OTHER_KEYS, KEY_ENV } from "../support/keys.ts";
import { forged, post, record, startApp, type App, type Taken, webhook } from "../support/webhooks.ts";

const ALG = "rsa-v1_5-sha256";
/** Seconds that a signature may be old. */
const LIMIT = 3;
const HOUR = 3_600_000;

const SERVICE: readonly ComponentName[] = ["content-digest", "content-length", "content-type"];
const DERIVED: readonly ComponentName[] = [
  "@method",
  "@target-uri",
  "@path",
  "@query",
  "content-digest",
  "host",
];

const headersOf = ({ headers }: Taken): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));

const createdOf = ({ headers }: Taken): number =>
  Number(/;created=(\d+)/.exec(String(headers["signature-input"]))?.[1]);

const isFresh = (sent: Taken, now: Date): boolean =>
  Math.abs(Math.floor(now.getTime() / 1000) - createdOf(sent)) <= LIMIT;

/** Throws, or gives false, for what it does not accept at this time. */
const verifies = async (sent: Taken, url: string, pem: string, now: Date): Promise<boolean> =>
  (await httpbis.verifyMessage(
    {
      keyLookup: async () => ({ id: "k", algs: [ALG], verify: createVerifier(createPublicKey(pem), ALG) }),
      requiredParams: ["created"],
      // Its own maximum is by the clock of this machine, which a slow test would miss.
      notAfter: now,
    },
    { method: "POST", url, headers: headersOf(sent) },
  )) === true && isFresh(sent, now);

const digestFits = ({ headers, body }: Taken): boolean =>
  headers["content-digest"] === `sha-256=:${createHash("sha256").update(body).digest("base64")}:`;

interface Shop {
  readonly app: App;
  /** The application's answers; it is down while `isUp` is false. */
  readonly state: { isUp: boolean; now: Date; readonly answers: number[] };
}

/** An application that verifies with this public key. */
async function startShop(pem: () => string): Promise<Shop> {
  const state = { isUp: false, now: new Date(), answers: [] as number[] };
  const app = await startApp(async (sent) => {
    if (!state.isUp) return 503;
    const url = new URL(sent.url, app.url).href;
    const status = (await isAccepted(sent, url, pem(), state.now)) && digestFits(sent) ? 200 : 401;
    state.answers.push(status);
    return status;
  });
  return { app, state };
}

const isAccepted = (...given: Parameters<typeof verifies>): Promise<boolean> =>
  verifies(...given).catch(() => false);

/** Writes a private key for --sign-with, which is not that of the service. */
function forwardKey(home: string): string {
  const path = join(home, "forward.pem");
  writeFileSync(path, OTHER_KEYS.privatePem, { mode: 0o600 });
  return path;
}

/** Receives webhooks while the application is down: each is acknowledged, and forged ones are not. */
async function receive(home: string, app: App, ...flags: string[]): Promise<void> {
  const usual = [
    "--key",
    keyFile(home),
    "--forward-to",
    app.url,
    "--ack",
    "stored",
    "--retry",
    "100ms,48x1h",
  ];
  const listen = await startListenWith({ home }, ...usual, ...flags);
  for (const cover of [SERVICE, DERIVED]) {
    const genuine = webhook(listen.url, { ...sampleTransaction("APPROVED") }, { cover });
    expect(await post(listen.url, genuine)).toBe(200);
    expect(await post(listen.url, forged(genuine))).toBe(401);
  }
  await expect.poll(() => linesOf("forward", listen.stdout()).length).toBeGreaterThanOrEqual(2);
  await listen.stop();
}

describe("an application with http-message-signatures and a limit of 3 s", () => {
  it("accepts what is forwarded and replayed an hour later, each attempt signed anew", async () => {
    const home = temporaryHome();
    const path = forwardKey(home);
    const { app, state } = await startShop(() => readFileSync(`${path}.pub`, "utf8"));
    await receive(home, app, "--sign-with", path);
    const now = new Date(Date.now() + HOUR);
    Object.assign(state, { isUp: true, now });
    const flags = ["--key", keyFile(home), "-f", app.url, "--ack", "stored", "--sign-with", path];
    await runCommand(["events", "retry", "--all"], { home, env: KEY_ENV });
    const again = await startListenWith({ home, now: () => now }, ...flags);
    await expect.poll(() => linesOf("forward", again.stdout()).length).toBe(2);
    await again.stop();
    expect(state.answers).toEqual([200, 200]);
    state.now = new Date(now.getTime() + HOUR);
    const replayed = await runCommand(["events", "replay", "--all", "--to", app.url, "--sign-with", path], {
      env: KEY_ENV,
      home,
      now: () => state.now,
    });
    expect(replayed).toMatchObject({ exit: 0 });
    expect(state.answers).toEqual([200, 200, 200, 200]);
    for (const { headers } of app.taken) {
      expect([...parseDictionary(String(headers["signature"])).keys()]).toEqual(["sig1"]);
      expect(headers).not.toHaveProperty("x-forwarded-host");
    }
    // What was signed for an hour before is too old for it now.
    const [old] = app.taken.slice(-4);
    const pem = readFileSync(`${path}.pub`, "utf8");
    expect(old && (await isAccepted(old, app.url, pem, state.now))).toBe(false);
  });
});

describe("without --sign-with", () => {
  const reason = expect.stringMatching(
    /^The signature of the service is 60 minutes old, .*--sign-with <file>.*tolerance/,
  );

  it("makes listen say at the start and at a refusal that old signatures stay old", async () => {
    const home = temporaryHome();
    const { app, state } = await startShop(() => readFileSync(keyFile(home), "utf8"));
    await receive(home, app);
    Object.assign(state, { isUp: true, now: new Date(Date.now() + HOUR) });
    const flags = ["--key", keyFile(home), "-f", app.url, "--ack", "stored", "--retry", "none"];
    await runCommand(["events", "retry", "--all"], { home, env: KEY_ENV });
    const listen = await startListenWith({ home, now: () => state.now }, ...flags);
    await expect.poll(() => linesOf("forward", listen.stdout()).length).toBe(2);
    expect(linesOf("forward", listen.stdout())).toMatchObject([
      { status: 401, state: "failed", hint: reason },
      { status: 401, state: "failed", hint: reason },
    ]);
    expect(linesOf("warning", listen.stdout())[0]?.["message"]).toMatch(/^Late retries keep the signature/);
    await listen.stop();
    const replay = (...more: string[]) =>
      runCommand(["events", "replay", "--all", "--failed", "--to", app.url, ...more], {
        home,
        env: KEY_ENV,
        now: () => state.now,
      });
    const text = await replay();
    expect(text.exit).toBe(4);
    expect(text.stdout).toMatch(/401 in \d+ ms.*\n.*\n {4}The signature of the service is 60 minutes old/);
    expect(jsonLines((await replay("--json")).stdout)[0]).toMatchObject({ status: 401, hint: reason });
  });

  it("gives no such reason for a fresh refusal or another status", async () => {
    const home = temporaryHome();
    let status = 401;
    const app = await startApp(() => status);
    await receive(home, app);
    const replay = async (after: number): Promise<JsonLine | undefined> => {
      const now = new Date(Date.now() + after);
      return jsonLines(
        (
          await runCommand(["events", "replay", "--all", "--to", app.url, "--json"], {
            home,
            env: KEY_ENV,
            now: () => now,
          })
        ).stdout,
      )[0];
    };
    expect(await replay(0)).toMatchObject({ hint: expect.stringContaining("Does it verify with this key?") });
    status = 422;
    expect(await replay(HOUR)).not.toHaveProperty("hint");
    status = 403;
    expect(await replay(72 * HOUR)).toMatchObject({ hint: expect.stringContaining("is 3 days old") });
  });
});

it("needs a signature with created if no store can tell that a webhook is old", async () => {
  const flags = ["listen", "--key", "k.pem", "-f", "3000", "--sign-with", "f.pem", "--no-store"];
  const { exit, stderr } = await runCommand(flags, { home: temporaryHome() });
  expect({ exit, stderr }).toMatchObject({
    exit: 2,
    stderr: expect.stringContaining("needs --require-created with --no-store"),
  });
});

describe("the key of --sign-with", () => {
  const replay = async (home: string, path: string) => {
    const { url } = await startApp(() => 200);
    return runCommand(["events", "replay", "--all", "--to", url, "--sign-with", path], {
      home,
      env: KEY_ENV,
    });
  };

  /** A home with one event, which a key is needed for. */
  const homeWithEvent = async (): Promise<string> => {
    const home = temporaryHome();
    const listen = await startListenWith({ home }, "--key", keyFile(home));
    expect(await post(listen.url, webhook(listen.url, record()))).toBe(200);
    await listen.stop();
    return home;
  };

  it("is not created while there is nothing to sign", async () => {
    const home = temporaryHome();
    const path = join(home, "forward.pem");
    const { exit, stderr } = await replay(home, path);
    expect({ exit, stderr }).toEqual({
      exit: 0,
      stderr: "No event matches. Nothing was sent.\n",
    });
    expect(existsSync(path)).toBe(false);
  });

  it("is created once, readable by its owner only, with its public key beside it", async () => {
    const home = await homeWithEvent();
    const path = join(home, "forward.pem");
    const made = await replay(home, path);
    expect(made.exit).toBe(0);
    expect(made.stderr).toContain(
      `Created the private key ${path}. Forwarded webhooks are signed with ${path}. Your application verifies them with ${path}.pub`,
    );
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const pem = readFileSync(path, "utf8");
    expect(pem).toMatch(/^-----BEGIN PRIVATE KEY-----/);
    expect(readFileSync(`${path}.pub`, "utf8")).toMatch(/^-----BEGIN PUBLIC KEY-----/);
    expect(createPrivateKey(pem).asymmetricKeyDetails?.modulusLength).toBeGreaterThanOrEqual(2048);
    expect((await replay(home, path)).stderr).not.toContain("Made");
    expect(readFileSync(path, "utf8")).toBe(pem);
  });

  it("is the same for commands that start at the same time", async () => {
    const home = await homeWithEvent();
    const path = join(home, "forward.pem");
    const ends = await Promise.all(Array.from({ length: 4 }, () => replay(home, path)));
    expect(ends.map(({ exit }) => exit)).toEqual([0, 0, 0, 0]);
    expect(ends.filter(({ stderr }) => stderr.includes("Created the private key"))).toHaveLength(1);
    const pair = createPublicKey(readFileSync(path)).export({ type: "spki", format: "pem" });
    expect(readFileSync(`${path}.pub`, "utf8")).toBe(pair);
  });

  const PKCS8 = { type: "pkcs8", format: "pem" } as const;

  it.each<[has: string, content: () => string | Buffer, words: string]>([
    ["a public key", () => KEYS.publicPem, "cannot be used to sign: it is a public key"],
    ["nothing", () => "", "cannot be used to sign: it is empty"],
    [
      "a short key",
      () => generateKeyPairSync("rsa", { modulusLength: 1024 }).privateKey.export(PKCS8),
      "the key has 1024 bits; the minimum is 2048",
    ],
    [
      "a key of another kind",
      () => generateKeyPairSync("ed25519").privateKey.export(PKCS8),
      "is not an RSA key",
    ],
  ])("is refused if the file has %s", async (_, content, words) => {
    const home = await homeWithEvent();
    const path = join(home, "forward.pem");
    writeFileSync(path, content());
    const { exit, stderr } = await replay(home, path);
    expect(exit).toBe(2);
    expect(stderr).toContain(words);
    expect(existsSync(`${path}.pub`)).toBe(false);
  });

  it("is refused if the public key beside it belongs to another key, or stands alone", async () => {
    const home = await homeWithEvent();
    const path = join(home, "forward.pem");
    writeFileSync(`${path}.pub`, OTHER_KEYS.publicPem);
    const alone = await replay(home, path);
    expect({ exit: alone.exit, made: existsSync(path) }).toEqual({ exit: 2, made: false });
    expect(alone.stderr).toContain(`${path}.pub exists, but its private key ${path} does not.`);
    writeFileSync(path, KEYS.privatePem);
    const other = await replay(home, path);
    expect(other.exit).toBe(2);
    expect(other.stderr).toContain(`${path}.pub is not the public key of ${path}`);
  });

  it("may be in a folder that cannot be written, and says how to get the public key", async () => {
    const home = await homeWithEvent();
    const folder = join(home, "secrets");
    mkdirSync(folder);
    const path = join(folder, "forward.pem");
    writeFileSync(path, KEYS.privatePem);
    // Root may write everywhere, so the name of the public key is taken by a link to nowhere.
    chmodSync(folder, 0o500);
    const { exit, stderr } = await replay(home, path);
    chmodSync(folder, 0o700);
    expect(exit).toBe(0);
    expect(stderr).toMatch(
      existsSync(`${path}.pub`) ? /verifies them with .*\.pub/ : /openssl pkey -in .*forward\.pem -pubout/,
    );
    const nowhere = await replay(home, join(home, "none", "forward.pem"));
    expect(nowhere.exit).toBe(2);
    expect(nowhere.stderr).toContain("Cannot write --sign-with");
    expect(nowhere.stderr).toContain("its folder does not exist");
  });
});

describe("events replay", () => {
  it("sends a signature over the address to a target of every form", async () => {
    const home = temporaryHome();
    const path = forwardKey(home);
    const { app, state } = await startShop(() => readFileSync(`${path}.pub`, "utf8"));
    state.isUp = true;
    const listen = await startListenWith({ home }, "--key", keyFile(home), "--path", "/a/b");
    const url = new URL("/a/b", listen.url).href;
    expect(
      await post(
        url,
        webhook(url, record(), { cover: [...DERIVED, "@authority", "@scheme", "@request-target"] }),
      ),
    ).toBe(200);
    await listen.stop();
    const { host } = new URL(app.url);
    for (const to of [`http://${host}/other?x=y`, `${host}/hook`, `approved=${host}/hook?a=b`]) {
      const args = ["events", "replay", "--all", "--to", to, "--sign-with", path];
      // Both clocks stand still: the shop refuses what is signed after its own time.
      const { exit } = await runCommand(args, { home, env: KEY_ENV, now: () => state.now });
      expect({ to, exit }).toEqual({ to, exit: 0 });
    }
    expect(state.answers).toEqual([200, 200, 200]);
  });
});
