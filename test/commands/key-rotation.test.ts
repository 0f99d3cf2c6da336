/** Keys change while a real `listen` runs: no payment is refused on the way, and a key that was replaced is not trusted any more. */
import { generateKeyPairSync } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { expect, it } from "vitest";
import { publicJwk } from "../../src/signatures/keys.ts";
import { startListenWith, type ServingCommand } from "../support/background-command.ts";
import { selfSigned } from "../support/certificate.ts";
import { runCommand } from "../support/context.ts";
import { temporaryHome } from "../support/home.ts";
import { linesOf } from "../support/json-lines.ts";
import { type Keys, KEYS, OTHER_KEYS } from "../support/keys.ts";
import { listenOnFreePort } from "../support/ports.ts";
import { post, record, webhook } from "../support/webhooks.ts";

const [OLD, NEW] = [OTHER_KEYS, KEYS];

/** A key server, which answers with what `held` is now; 500 without. */
async function keyServer(first?: object) {
  const held = { set: first };
  const server = createServer((_, response) => {
    response.statusCode = held.set === undefined ? 500 : 200;
    response.end(JSON.stringify(held.set ?? {}));
  });
  return { held, url: `http://127.0.0.1:${await listenOnFreePort(server)}/jwks.json` };
}

const pay = ({ url }: ServingCommand, { privateKey: key }: Keys, keyid: string | null) =>
  post(url, webhook(url, record(), { key: { keyid, key } }));

const warningsOf = (listen: ServingCommand): unknown[] =>
  linesOf("warning", listen.stdout()).map(({ message }) => message);

it("takes both keys of a file of two certificates, and of one of two keys", async () => {
  const home = temporaryHome();
  const certificate = ({ privatePem }: Keys) =>
    readFileSync(selfSigned(home, "service.example", privatePem).cert, "utf8");
  for (const text of [certificate(OLD) + certificate(NEW), OLD.publicPem + NEW.publicPem]) {
    const file = join(home, "keys.pem");
    writeFileSync(file, text);
    const listen = await startListenWith({ home }, "--no-store", "--key", file);
    expect([await pay(listen, OLD, "a"), await pay(listen, NEW, "b"), await pay(listen, NEW, null)]).toEqual([
      200, 200, 200,
    ]);
    await listen.stop();
  }
});

it("takes the next key of a file that has both while listen runs", async () => {
  const file = join(temporaryHome(), "service.pem");
  writeFileSync(file, OLD.publicPem);
  const listen = await startListenWith({}, "--no-store", "--key", file);
  expect(await pay(listen, OLD, null)).toBe(200);
  writeFileSync(file, OLD.publicPem + NEW.publicPem);
  expect([await pay(listen, NEW, null), await pay(listen, OLD, null)]).toEqual([200, 200]);
});

it.each([
  ["another id", "new"],
  ["the old id", "old"],
])("takes the next key of a key set under %s, and the old one no more", async (_, kid) => {
  const { held, url } = await keyServer({ keys: [publicJwk(OLD.publicKey, "old")] });
  const listen = await startListenWith({}, "--no-store", "--key", url);
  expect(await pay(listen, OLD, "old")).toBe(200);
  held.set = { keys: [publicJwk(NEW.publicKey, kid)] };
  expect(await pay(listen, NEW, kid)).toBe(200);
  expect(await pay(listen, OLD, "old")).toBe(401);
});

it("takes two keys under one id while a rotation overlaps", async () => {
  const { url } = await keyServer({ keys: [OLD, NEW].map(({ publicKey }) => publicJwk(publicKey, "k")) });
  const listen = await startListenWith({}, "--no-store", "--key", url);
  expect([await pay(listen, OLD, "k"), await pay(listen, NEW, "k")]).toEqual([200, 200]);
});

it("works with a file beside a key server that is down, names it, and takes its key once it is up", async () => {
  const home = temporaryHome();
  const file = join(home, "old.pem");
  writeFileSync(file, OLD.publicPem);
  const { held, url } = await keyServer();
  const admin = ["--admin", "127.0.0.1:0"];
  const listen = await startListenWith({ home }, "--key", url, "--key", file, ...admin);
  expect(warningsOf(listen)).toContainEqual(
    expect.stringMatching(/^The other keys are used\. .*it answered 500/),
  );
  const adminUrl = String(linesOf("ready", listen.stdout())[0]?.["admin"]).replace(/\/$/, "");
  const source = async () =>
    (await (await fetch(`${adminUrl}/metrics`)).text()).match(/^paylink_key_source_up.*$/gm);
  expect(await pay(listen, OLD, "old")).toBe(200);
  expect(await source()).toEqual([
    `paylink_key_source_up{source="${file}"} 1`,
    `paylink_key_source_up{source="${url}"} 0`,
  ]);
  held.set = { keys: [publicJwk(NEW.publicKey, "new")] };
  expect(await pay(listen, NEW, "new")).toBe(200);
  expect(await pay(listen, OLD, "old")).toBe(200);
  expect(await source()).toContain(`paylink_key_source_up{source="${url}"} 1`);
});

it("asks for a repeat of what no known key verifies while a key server is down", async () => {
  const { url } = await keyServer();
  const listen = await startListenWith({}, "--no-store", "--key", url, "--key", OLD.publicPem);
  expect([await pay(listen, NEW, "new"), await pay(listen, NEW, null)]).toEqual([503, 503]);
  expect(linesOf("rejected", listen.stdout())).toMatchObject([
    { code: "not_reached" },
    { code: "not_reached" },
  ]);
});

it("does not start where none of its sources has a key, and names them all", async () => {
  const { url } = await keyServer();
  const flags = ["--key", url, "--key", "nowhere.pem"];
  const { exit, stderr } = await runCommand(["listen", "--port", "0", "--no-store", ...flags]);
  expect(exit).toBe(5);
  expect(stderr).toContain("it answered 500");
  expect(stderr).toContain("nowhere.pem");
});

it("answers honest and other webhooks while its key set has thousands of small keys", async () => {
  const small = publicJwk(generateKeyPairSync("rsa", { modulusLength: 512 }).publicKey, "k");
  const many = Array.from({ length: 6579 }, (_, at) => ({ ...small, kid: `k${at}` }));
  const { url } = await keyServer({ keys: [publicJwk(NEW.publicKey, "new"), ...many] });
  const listen = await startListenWith({}, "--no-store", "--key", url);
  expect(warningsOf(listen)).toContainEqual(
    expect.stringContaining("only the first 500 of its 6580 entries"),
  );
  const answers = await Promise.all(Array.from({ length: 30 }, () => pay(listen, OLD, null)));
  expect(new Set(answers)).toEqual(new Set([401]));
  expect(await pay(listen, NEW, "new")).toBe(200);
});
