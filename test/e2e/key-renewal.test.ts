/** A running `listen` whose service changes its key: found at its URL without a restart, asked for sparingly, never lost. */
import { createPublicKey, generateKeyPairSync } from "node:crypto";
import { createServer } from "node:http";
import { describe, expect, it } from "vitest";
import { publicJwk, type SigningKey } from "../../src/signatures/keys.ts";
import { temporaryHome } from "../support/home.ts";
import { readyUrl, type Running, runPaylink, startPaylink, startSandbox } from "../support/paylink.ts";
import { post, record, webhook } from "../support/webhooks.ts";
import { listenOnFreePort } from "../support/ports.ts";

const newKey = (keyid: string): SigningKey => ({
  keyid,
  key: generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey,
});

const [FIRST, SECOND, THIRD] = [newKey("first"), newKey("second"), newKey("third")];

/** A key set at a URL: serves one answer after the other, the last of them from then on. Undefined is a failure. */
async function serveKeys(...answers: (readonly SigningKey[] | undefined)[]) {
  let served = 0;
  const server = createServer((_, response) => {
    const keys = answers[Math.min(served++, answers.length - 1)];
    response.statusCode = keys === undefined ? 500 : 200;
    response.end(
      JSON.stringify({ keys: keys?.map(({ key, keyid }) => publicJwk(createPublicKey(key), keyid ?? "")) }),
    );
  });
  const port = await listenOnFreePort(server);
  return {
    url: `http://127.0.0.1:${port}/jwks.json`,
    served: () => served,
  };
}

async function listenWith(
  keys: string,
): Promise<{ listen: Running; send: (key: SigningKey) => Promise<number> }> {
  const home = temporaryHome();
  const listen = startPaylink(["listen", "--port", "0", "--json", "--key", keys], { home });
  const url = await readyUrl(listen);
  return { listen, send: (key) => post(url, webhook(url, record(), { key })) };
}

describe("a key that is changed under a running listen", () => {
  it("verifies from the next webhook on, in the sandbox", async () => {
    const home = temporaryHome();
    const sandbox = await startSandbox(home);
    const keys = new URL("/.well-known/jwks.json", sandbox).href;
    const listen = startPaylink(["listen", "--port", "0", "--json", "--key", keys], { home });
    const callback = await readyUrl(listen);
    const create = ["create", "--reusable", "--callback-url", callback, "-q"];
    const link = (await runPaylink(create, { home })).stdout.trim();
    const keyOf = async (payment: number): Promise<string | undefined> => {
      expect((await runPaylink(["pay", link, "--amount", "1"], { home })).code).toBe(0);
      await listen.until(new RegExp(`(?:\\n\\{"type":"event"[^\\n]*){${payment}}\\n`));
      const events = listen
        .stdout()
        .split("\n")
        .filter((line) => line.startsWith('{"type":"event"'));
      const { verdict } = JSON.parse(events[payment - 1] ?? "") as { verdict: { keyid: string } };
      return verdict.keyid;
    };
    const before = await keyOf(1);
    expect((await runPaylink(["sandbox", "rotate-key"], { home })).code).toBe(0);
    const after = await keyOf(2);
    expect(after).not.toBe(before);
    const { stdout } = await listen.stop();
    expect(JSON.parse(stdout.trim().split("\n").at(-1) ?? "")).toMatchObject({ verified: 2, rejected: 0 });
  });

  it("is requested once for many webhooks with unknown keys", async () => {
    const keys = await serveKeys([FIRST], [FIRST, SECOND]);
    const { send } = await listenWith(keys.url);
    expect(await send(FIRST)).toBe(200);
    expect(keys.served()).toBe(1);
    const together = [SECOND, THIRD, SECOND, THIRD].map(send);
    expect(await Promise.all(together)).toEqual([200, 401, 200, 401]);
    expect(await send(THIRD)).toBe(401);
    expect([await send(FIRST), await send(SECOND)]).toEqual([200, 200]);
    expect(keys.served()).toBe(2);
  });

  it("keeps the known keys in use if the new ones cannot be read", async () => {
    const keys = await serveKeys([FIRST], undefined);
    const { listen, send } = await listenWith(keys.url);
    expect(await send(SECOND)).toBe(401);
    expect(keys.served()).toBe(2);
    expect(await send(FIRST)).toBe(200);
    expect((await listen.stop()).stdout).toMatch(/"type":"warning".*answered 500/);
  });
});
