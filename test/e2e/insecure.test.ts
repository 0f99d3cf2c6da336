/** `--insecure` on the built program: `listen` for its target's certificate, `sandbox` for the one of `listen`. */
import { readFileSync } from "node:fs";
import { createServer } from "node:https";
import { describe, expect, it } from "vitest";
import { selfSigned } from "../support/certificate.ts";
import { runStep } from "../support/context.ts";
import { temporaryHome } from "../support/home.ts";
import { giveMerchant } from "../support/merchant.ts";
import { readyUrl, runPaylink, startPaylink } from "../support/paylink.ts";
import { keyFile } from "../support/keys.ts";
import { post, record, webhook } from "../support/webhooks.ts";
import { listenOnFreePort } from "../support/ports.ts";

/** Answers 200 with the body given, and counts who got so far. */
async function startHttps(home: string, body = ""): Promise<{ url: string; served: () => number }> {
  const { cert, key } = selfSigned(home, "localhost");
  let served = 0;
  const server = createServer({ cert: readFileSync(cert), key: readFileSync(key) }, (request, response) => {
    served += 1;
    request.resume().on("end", () => response.end(body));
  });
  const port = await listenOnFreePort(server);
  return { url: `https://127.0.0.1:${port}/hook`, served: () => served };
}

describe("a self-signed certificate", () => {
  it.each([
    [[], 502, null, 0],
    [["--insecure"], 200, 200, 1],
  ])("of the forward target, with %j, gives %d", async (flags, answer, status, served) => {
    const home = temporaryHome();
    const app = await startHttps(home);
    const args = ["listen", "--port", "0", "--json", "--key", keyFile(home), "-f", app.url, ...flags];
    const running = startPaylink(args, { home });
    const url = await readyUrl(running);
    expect(await post(url, webhook(url, record()))).toBe(answer);
    const [line = ""] = await running.until(/\{"type":"forward".*\n/);
    expect(JSON.parse(line)).toMatchObject({
      status,
      ...(status === 200 ? {} : { detail: expect.stringContaining("self-signed certificate") }),
    });
    expect(app.served()).toBe(served);
  });

  it("does not apply to the server of the key", async () => {
    const home = temporaryHome();
    const keys = await startHttps(home, readFileSync(keyFile(home), "utf8"));
    const args = ["listen", "--port", "0", "--key", keys.url, "-f", keys.url, "--insecure"];
    const { code, stdout, stderr } = await runPaylink(args, { home });
    expect(code).toBe(5);
    expect(stdout).toBe("");
    expect(stderr).toContain(`The key at ${keys.url} cannot be fetched`);
    expect(stderr).toContain("self-signed certificate");
    expect(keys.served()).toBe(0);
  });
});

describe("sandbox deliveries to a self-signed https listener", () => {
  async function payment(...sandboxFlags: string[]) {
    const home = temporaryHome();
    giveMerchant(home);
    const sandbox = startPaylink(["sandbox", "--port", "0", "--json", ...sandboxFlags], { home });
    await readyUrl(sandbox);
    const { cert, key } = selfSigned(home, "localhost");
    const tls = ["--tls-cert", cert, "--tls-key", key];
    const listen = startPaylink(["listen", "--port", "0", "--json", ...tls], { home });
    const callback = await readyUrl(listen);
    const create = ["create", "--amount", "10", "--currency", "EUR", "--callback-url", callback, "-q"];
    const link = await runStep(create, { home });
    expect(await runStep(["pay", link.stdout.trim()], { home })).toMatchObject({ code: 0 });
    return { sandbox, listen, callback };
  }

  it("arrive with --insecure", async () => {
    const { listen, callback } = await payment("--insecure");
    const [line = ""] = await listen.until(/\{"type":"event".*\n/);
    expect(JSON.parse(line)).toMatchObject({
      url: callback,
      verdict: { code: "ok" },
      record: { amountTrans: 10 },
    });
  });

  it("fail without it, and the sandbox and listen say why", async () => {
    const { sandbox, listen, callback } = await payment("--retry", "none");
    const [line = ""] = await sandbox.until(/\{"type":"delivery".*\n/);
    expect(JSON.parse(line)).toMatchObject({
      status: null,
      detail: `not sent: the certificate of ${new URL(callback).host} is not trusted (self-signed certificate). To accept it, start the sandbox with --insecure`,
    });
    await listen.until(/"type":"warning","message":"The certificate is self-signed.*--insecure/);
  });
});
