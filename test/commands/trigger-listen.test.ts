/** `paylink trigger`, in process, against `listen`, an application of the test's own, and endpoints that give no usable answer. */
import { join } from "node:path";
import type { Socket } from "node:net";
import { describe, expect, it } from "vitest";
import { startCommand, startListenCommand, type ServingCommand } from "../support/background-command.ts";
import { runCommand, type CommandEnd } from "../support/context.ts";
import { jsonLines } from "../support/json-lines.ts";
import { temporaryHome } from "../support/home.ts";
import { rawServer, reply } from "../support/raw-server.ts";
import { startApp } from "../support/webhooks.ts";
import { keyFile, privateKeyFile } from "../support/keys.ts";

interface Stage {
  readonly home: string;
  readonly listen: ServingCommand;
  readonly trigger: (...flags: string[]) => Promise<CommandEnd>;
}

/** A listener with the public half of the key that `trigger` signs with. */
async function stage(...flags: string[]): Promise<Stage> {
  const home = temporaryHome();
  const privateKey = privateKeyFile(home);
  const listen = await startListenCommand(home, "--key", keyFile(home), ...flags);
  const trigger: Stage["trigger"] = (...more) => {
    const to = more.includes("--to") ? [] : ["--to", listen.url];
    return runCommand(["trigger", "approved", ...to, "--sign-with", privateKey, "--json", ...more], { home });
  };
  return { home, listen, trigger };
}

describe("the exit code", () => {
  const answering = async (status: number, ...flags: string[]) => {
    const app = await startApp(() => status);
    const twice = ["trigger", "approved", "--to", app.url, "--json", "--count", "2"];
    const { exit, stdout, stderr } = await runCommand([...twice, ...flags]);
    expect(jsonLines(stdout).map((line) => line["status"])).toEqual([status, status]);
    return { exit, stderr, error: exit === 0 ? undefined : JSON.parse(stderr).error };
  };

  it.each([401, 307, 500])(
    "is 4 where a well-formed webhook is answered %i, after all are sent",
    async (status) => {
      const { exit, error } = await answering(status);
      expect(exit).toBe(4);
      expect(error).toMatchObject({ code: "not_accepted" });
      expect(error.message).toContain("refused a well-formed webhook (2 of 2)");
    },
  );

  it("is 7 if a tampered webhook is accepted, and the message says what that means", async () => {
    const { exit, error } = await answering(204, "--tamper", "body");
    expect(exit).toBe(7);
    expect(error).toMatchObject({
      code: "check_failed",
      details: { hint: expect.stringContaining("what was paid") },
    });
    expect(error.message).toContain(
      "accepted a webhook whose amount was changed after it was signed (2 of 2)",
    );
  });

  it.each([
    ["a tampered webhook is refused", 401, ["--tamper", "body"]],
    ["an endpoint accepts a record that breaks the specification", 200, ["--set", "status=Pending"]],
    [
      "an endpoint refuses an authentic record that breaks the specification",
      422,
      ["--set", "status=Pending"],
    ],
  ])("is 0 if %s", async (_, status, flags) => {
    expect(await answering(status, ...flags)).toMatchObject({ exit: 0 });
  });
});

describe("several webhooks", () => {
  it("are --count payments", async () => {
    const { listen, trigger } = await stage();
    const { exit, stdout } = await trigger("--count", "3");
    expect(exit).toBe(0);
    expect(jsonLines(stdout).map(({ status }) => status)).toEqual([200, 200, 200]);
    const events = jsonLines((await listen.stop()).stdout).filter(({ type }) => type === "event");
    expect(events.map(({ repeated }) => repeated)).toEqual([false, false, false]);
    expect(new Set(events.map(({ bodyBase64 }) => bodyBase64)).size).toBe(3);
  });

  it("stop between two webhooks if interrupted", async () => {
    const { home, listen } = await stage();
    const args = ["trigger", "approved", "--to", listen.url, "--count", "100000"];
    const running = startCommand([...args, "--sign-with", join(home, "private.pem"), "--json"], { home });
    await running.until(/"status":200/);
    const { exit } = await running.stop();
    expect(exit).toBe(130);
  });
});

describe("no usable answer", () => {
  it.each<[string, (socket: Socket) => void]>([
    ["hangs up", (socket) => socket.destroy()],
    ["answers in another language", (socket) => void socket.end("SMTP ready\r\n")],
    ["breaks off in its head", (socket) => void socket.end("HTTP/1.1 200 OK\r\nContent-Le")],
  ])("is exit 6: it %s", async (_, answer) => {
    const endpoint = await rawServer(answer);
    const { exit, stdout, stderr } = await (await stage()).trigger("--to", endpoint.url, "--count", "2");
    expect(exit).toBe(6);
    expect(stdout).toBe("");
    expect(JSON.parse(stderr)).toMatchObject({
      error: { code: "outcome_unknown", message: expect.stringContaining("there was no answer") },
    });
    expect(endpoint.requests).toHaveLength(1);
  });

  it("ends the run after the webhooks that were answered", async () => {
    const endpoint = await rawServer((socket, count) =>
      count < 3 ? reply(200, "")(socket) : socket.destroy(),
    );
    const { exit, stdout } = await (await stage()).trigger("--to", endpoint.url, "--count", "5");
    expect(exit).toBe(6);
    expect(jsonLines(stdout).map(({ status }) => status)).toEqual([200, 200]);
  });
});
