/** Values that may be secrets in a place where none belongs: refused, and never repeated, in any spelling. */
import { generateKeyPairSync } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { eventStoreProblem } from "../../src/store/store-place.ts";
import { createVerifier } from "../../src/library/webhooks.ts";
import { forgettingPlace } from "../../src/store/container-folder.ts";
import { startListenCommand } from "../support/background-command.ts";
import { runCommand } from "../support/context.ts";
import { storeProfiles, temporaryHome } from "../support/home.ts";
import { keyFile } from "../support/keys.ts";

const PASSWORD = "hunter2";

describe("a place of events that is neither a plain path nor a URL", () => {
  const places = [
    "$(DATABASE_URL)",
    "${DATABASE_URL}",
    "$DATABASE_URL",
    "%DATABASE_URL%",
    "{{ .Values.db }}",
    "<database url>",
    "db.internal:5432",
    `host=db user=shop password=${PASSWORD}`,
    `"postgres://shop:${PASSWORD}@db/paylink"`,
    `'postgres://shop:${PASSWORD}@db/paylink'`,
    `jdbc:postgresql://db/paylink?user=shop&password=${PASSWORD}`,
    `DATABASE_URL=postgres://shop:${PASSWORD}@db/paylink`,
    `psql postgres://shop:${PASSWORD}@db/paylink`,
    `postgres:/shop:${PASSWORD}@db/paylink`,
    `postgres//shop:${PASSWORD}@db/paylink`,
    `//shop:${PASSWORD}@db/paylink`,
    `shop:${PASSWORD}@db/paylink`,
    `mysql://shop:${PASSWORD}@db/paylink`,
    `postgres://shop:${PASSWORD}%@db/paylink`,
  ];

  it.each(places)(
    "is refused in the variable, the flag and the settings, and not shown: %s",
    async (place) => {
      const home = temporaryHome();
      storeProfiles(home, { shop: { webhookKey: [keyFile(home)] } });
      const listen = ["listen", "--port", "0", "--timeout", "5s"];
      for (const [args, env] of [
        [listen, { PAYLINK_DB: place }],
        [[...listen, "--json"], { PAYLINK_DB: place }],
        [["status"], { PAYLINK_DB: place }],
        [[...listen, "--db", place], {}],
        [["events", "list", "--db", place, "--json"], {}],
        [["config", "set", "eventStore", place], {}],
      ] as const) {
        const { exit, stdout, stderr } = await runCommand(args, { home, env });
        expect({ args, exit }).toEqual({ args, exit: 2 });
        for (const part of [place, PASSWORD]) expect(stdout + stderr).not.toContain(part);
      }
      expect(readdirSync(home).filter((name) => name.includes("db") || name.includes(PASSWORD))).toEqual([]);
    },
  );

  it.each(["events.db", "/data/a:b.db", "C:\\data\\events.db", "my events.db", "../x/events-1.db", "a@b.db"])(
    "is not %s",
    (place) => {
      expect(eventStoreProblem(place)).toBeUndefined();
    },
  );
});

const AT = ["--base-url", "https://service.example", "--terminal-id", "1"];

describe("a private key in place of a key or a file", () => {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const pem = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  const der = privateKey.export({ type: "pkcs8", format: "der" });
  const pkcs1 = privateKey.export({ type: "pkcs1", format: "pem" }).toString();
  const ed = generateKeyPairSync("ed25519").privateKey.export({ type: "pkcs8", format: "der" });
  const texts: Readonly<Record<string, string>> = {
    "base64 of the PEM": Buffer.from(pem).toString("base64"),
    "base64url of the PEM": Buffer.from(pem).toString("base64url"),
    "base64 of the PKCS#1 PEM, in lines": (
      Buffer.from(pkcs1)
        .toString("base64")
        .match(/.{1,64}/g) ?? []
    ).join("\n"),
    "base64 of the DER": der.toString("base64"),
    "base64url of the DER": der.toString("base64url"),
    "quoted base64": `"${Buffer.from(pem).toString("base64")}"`,
    "a short key": ed.toString("base64"),
    PEM: pem,
    "encrypted PEM": privateKey
      .export({ type: "pkcs8", format: "pem", cipher: "aes-256-cbc", passphrase: "x" })
      .toString(),
    JWK: JSON.stringify(privateKey.export({ format: "jwk" })),
  };

  it.each(Object.keys(texts))("is never shown: %s", async (name) => {
    const text = texts[name] ?? "";
    const home = temporaryHome();
    const parts = [text.slice(30, 50), text.slice(-30, -10)];
    const env = { PAYLINK_WEBHOOK_KEY: text };
    const sample = ["trigger", "approved", "--to", "http://127.0.0.1:1/"];
    for (const [args, variables] of [
      [["listen", "--port", "0", "--timeout", "1s"], env],
      [["listen", "--port", "0", "--timeout", "1s", "--json"], env],
      [["config", "list"], env],
      [["config", "list", "--json"], env],
      [["config", "get", "webhookKey"], env],
      [["status"], { ...env, PAYLINK_BASE_URL: "http://127.0.0.1:1" }],
      [["listen", "--port", "0", "--timeout", "1s", "--key", text], {}],
      [["config", "set", "webhookKey", text], {}],
      [["config", "set", "webhookKey", text, "--no-check"], {}],
      [[...sample, "--sign-with", text], {}],
      [["listen", "--port", "0", "--forward-to", "1", "--sign-with", text, "--key", keyFile(home)], {}],
    ] as const) {
      const { stdout, stderr } = await runCommand(args, { home, env: variables });
      const shown = (stdout + stderr).replace(/\s+/g, "");
      for (const part of parts)
        expect({ args: args.slice(0, 3), found: shown.includes(part) }).toEqual({
          args: args.slice(0, 3),
          found: false,
        });
    }
    for (const command of [
      ["config", "set", "--no-check", "webhookKey", "--", text],
      ["login", ...AT, "--token-stdin", "--no-check", `--webhook-key=${text}`],
    ]) {
      const stored = await runCommand(command, { home, stdin: "t" });
      expect(stored).toMatchObject({ exit: 2, stdout: "" });
      expect(stored.stderr).toMatch(/is a private key or a secret|must not have a line end/);
    }
    expect(existsSync(join(home, "settings.json"))).toBe(false);
    expect(existsSync(join(home, text.slice(0, 40)))).toBe(false);
    const message = await (async () =>
      createVerifier({ key: text })({ method: "POST", url: "http://a/", headers: {}, body: "" }))().then(
      () => "",
      (error: unknown) => String(error),
    );
    expect(message).not.toBe("");
    for (const part of parts) expect(message).not.toContain(part);
  });
});

describe("white space, line ends and control characters", () => {
  it("are removed around PAYLINK_HOME, and refused inside", async () => {
    const home = temporaryHome();
    const path = (PAYLINK_HOME: string) => runCommand(["config", "path"], { home, env: { PAYLINK_HOME } });
    expect((await path(`${home}\r\n`)).stdout).toBe(`${join(home, "settings.json")}\n`);
    const refused = await path(`${home}\r/x`);
    expect(refused).toMatchObject({ exit: 2, stdout: "" });
    expect(refused.stderr).toMatch(/PAYLINK_HOME.* must not have a line end or another control character/);
  });

  it("are removed around every value, and refused inside", async () => {
    const home = temporaryHome();
    const base = ["create", "--amount", "1", "--currency", "EUR", "--customer-name", "Ada", "--dry-run"];
    const around = await runCommand([...base, "--invoice-id", " A-1\r", "--description", "one\n\ttwo\r\n"], {
      home,
      env: { PAYLINK_TERMINAL_ID: "T1\r\n" },
    });
    expect(JSON.parse(around.stdout)).toMatchObject({
      invoiceId: "A-1",
      terminalId: "T1",
      description: "one\n\ttwo",
    });
    for (const [args, env, place] of [
      [["--invoice-id", "A\r-1"], {}, "--invoice-id"],
      [["--description", "a\u0000b"], {}, "--description"],
      [[], { PAYLINK_TERMINAL_ID: "T\n1" }, "PAYLINK_TERMINAL_ID"],
      [[], { PAYLINK_CLIENT_SECRET: `${PASSWORD}\nx` }, "PAYLINK_CLIENT_SECRET"],
    ] as const) {
      const run = await runCommand([...base, "--terminal-id", "1", ...args], { home, env });
      expect({ exit: run.exit, stderr: run.stderr }).toEqual({
        exit: 2,
        stderr: expect.stringMatching(new RegExp(`${place} +must not have a line end`)) as unknown,
      });
      expect(run.stderr).not.toContain(PASSWORD);
    }
    expect(await runCommand(["config", "set", "terminalId", "\tT1\r\n"], { home })).toMatchObject({
      exit: 0,
    });
    expect(JSON.parse(readFileSync(join(home, "settings.json"), "utf8"))).toMatchObject({
      profiles: { default: { terminalId: "T1" } },
    });
    expect(await runCommand(["config", "set", "terminalId", "T\u001b1"], { home })).toMatchObject({
      exit: 2,
    });
    const named = await runCommand(["config", "get", "terminalId"], {
      home,
      env: { PAYLINK_PROFILE: "default\r" },
    });
    expect(named.stdout).toBe("T1\n");
  });

  it.each([
    ["two lines", `${PASSWORD}\nother\n`],
    ["UTF-16 with its mark", Buffer.from(`\uFEFF${PASSWORD}\n`, "utf16le")],
    ["UTF-16", Buffer.from(`${PASSWORD}\n`, "utf16le")],
  ])("make a secret of %s invalid", async (_, stdin) => {
    const home = temporaryHome();
    const login = ["login", ...AT, "--no-check"];
    const credentials = ["--client-id", "a", "--token-url", "https://service.example/token"];
    for (const args of [["--token-stdin"], ["--client-secret-stdin", ...credentials]]) {
      const run = await runCommand([...login, ...args], { home, stdin });
      expect(run.exit).toBe(2);
      expect(run.stderr).not.toContain(PASSWORD);
      expect(run.stderr).toContain(`${args[0]}  must`);
    }
    expect(existsSync(join(home, "settings.json"))).toBe(false);
    const mended = await runCommand([...login, "--token-stdin"], { home, stdin: `  ${PASSWORD}\r\n` });
    expect(mended.exit).toBe(0);
    expect(readFileSync(join(home, "settings.json"), "utf8")).toContain(`"${PASSWORD}"`);
  });
});

describe("the store of listen", () => {
  it("is named when it starts", async () => {
    const home = temporaryHome();
    const place = join(home, "own.db");
    const listen = await startListenCommand(home, "--key", keyFile(home), "--db", place);
    expect((await listen.stop()).stdout).toContain(`"store":"${place}"`);
  });

  it.each([
    ["--ack", "stored", "--forward-to", "1"],
    ["--admin", "127.0.0.1:0"],
  ])("is not chosen by an empty PAYLINK_DB beside %s", async (...flags) => {
    const home = temporaryHome();
    const args = ["listen", "--port", "0", "--key", keyFile(home), "--timeout", "1s", ...flags];
    const run = await runCommand(args, { home, env: { PAYLINK_DB: " " } });
    expect(run).toMatchObject({ exit: 2, stderr: expect.stringMatching(/PAYLINK_DB +is empty/) as unknown });
  });

  it("gives a warning in listen and status if a container forgets it", async () => {
    const home = temporaryHome();
    const mounts = "1 0 0:1 / / rw - overlay overlay rw\n";
    const listen = ["listen", "--port", "0", "--key", keyFile(home), "--expect", "1", "--timeout", "1s"];
    expect((await runCommand(listen, { home, mounts })).stderr).toMatch(
      / warning The event store .* container/,
    );
    expect((await runCommand(listen, { home })).stderr).not.toContain("container");
    const status = await runCommand(["status"], {
      home,
      mounts,
      env: { PAYLINK_BASE_URL: "http://127.0.0.1:1" },
    });
    expect(status.stdout).toMatch(/^! event store /m);
    const nothing = await runCommand([...listen, "--no-store"], { home });
    expect(nothing.stderr).toContain(" warning Acknowledged webhooks are not kept");
  });

  it.each<[mounts: string[], folder: string, found: RegExp | undefined]>([
    [["1 0 0:1 / / rw - overlay overlay rw"], "/data", /file system of this container/],
    [
      ["1 0 0:1 / / rw - overlay overlay rw", "2 1 8:1 /v /data rw shared:1 - ext4 /dev/sda rw"],
      "/data/x",
      undefined,
    ],
    [
      ["1 0 0:1 / / rw - overlay overlay rw", "2 1 8:1 /v /data rw - ext4 /dev/sda rw"],
      "/database",
      /container/,
    ],
    [["1 0 0:1 / / rw - overlay overlay rw", "2 1 0:2 / /tmp rw - tmpfs tmpfs rw"], "/tmp", /memory/],
    [["1 0 8:1 / / rw - ext4 /dev/sda rw", "2 1 0:2 / /tmp rw - tmpfs tmpfs rw"], "/tmp", undefined],
    [
      [
        "1 0 0:1 / / rw - overlay overlay rw",
        "2 1 8:1 /pods/1/volumes/kubernetes.io~empty-dir/d /my\\040data rw - ext4 /dev/sda rw",
      ],
      "/my data",
      /emptyDir/,
    ],
    [[], "/data", undefined],
  ])("is found out from the mounts: %j %s", (mounts, folder, found) => {
    const words = forgettingPlace(mounts.join("\n"), folder);
    if (found === undefined) expect(words).toBeUndefined();
    else expect(words).toMatch(found);
  });
});
