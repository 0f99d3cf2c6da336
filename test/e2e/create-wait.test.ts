/** `create --wait` beside a running `listen`: the application gets the webhook, and the wait ends with the payment. */
import { describe, expect, it } from "vitest";
import { jsonLines } from "../support/json-lines.ts";
import { temporaryHome } from "../support/home.ts";
import { readyUrl, type Running, runPaylink, startPaylink, startSandbox } from "../support/paylink.ts";
import { startApp } from "../support/webhooks.ts";

const CREATE = ["create", "--amount", "10", "--currency", "EUR", "--wait", "--json", "--timeout", "30s"];

async function pay(waiting: Running, home: string): Promise<void> {
  const [line = ""] = await waiting.until(/^\{[^]*?\n(?=$|\{)/);
  const { url } = JSON.parse(line) as { url: string };
  expect((await runPaylink(["pay", url], { home })).code).toBe(0);
}

const storedEvents = async (home: string) =>
  jsonLines((await runPaylink(["events", "list", "--json"], { home })).stdout);

describe("create --wait", () => {
  it("follows a listen at the callback, whose application gets the webhook", async () => {
    const home = temporaryHome();
    await startSandbox(home);
    const app = await startApp(() => 200);
    const listen = startPaylink(["listen", "--port", "0", "--json", "--forward-to", app.url], { home });
    const callback = await readyUrl(listen);
    for (const key of ["callbackUrl", "failureCallbackUrl"])
      await runPaylink(["config", "set", key, callback.replace("127.0.0.1", "localhost")], { home });
    const waiting = startPaylink(CREATE, { home });
    await pay(waiting, home);
    expect(await waiting.ended).toMatchObject({ code: 0, stderr: "" });
    await listen.until(/"type":"forward"/);
    expect(app.taken).toHaveLength(1);
    expect(await storedEvents(home)).toHaveLength(1);
  });

  it("receives by itself once that listen was killed, and keeps the event", async () => {
    const home = temporaryHome();
    await startSandbox(home);
    const listen = startPaylink(["listen", "--port", "0", "--json"], { home });
    const callback = await readyUrl(listen);
    await listen.stop("SIGKILL");
    const callbacks = ["--callback-url", callback, "--failure-callback-url", callback];
    const waiting = startPaylink([...CREATE, ...callbacks], { home });
    await pay(waiting, home);
    expect(await waiting.ended).toMatchObject({ code: 0, stderr: "" });
    expect(await storedEvents(home)).toMatchObject([{ type: "event", amount: 10, verified: true }]);
  });
});
