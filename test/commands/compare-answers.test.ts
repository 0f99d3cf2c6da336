/** `paylink events replay --compare`, in process: stored traffic against another build of an application. */
import { describe, expect, it } from "vitest";
import { startListenCommand } from "../support/background-command.ts";
import { runCommand, type CommandEnd } from "../support/context.ts";
import { temporaryHome } from "../support/home.ts";
import { jsonLines } from "../support/json-lines.ts";
import { keyFile, KEY_ENV } from "../support/keys.ts";
import { freePort } from "../support/ports.ts";
import { post, record, startApp, webhook } from "../support/webhooks.ts";

type Answer = (record: Readonly<Record<string, unknown>>) => number;

/** The events of a listener that an application has answered by their references. */
async function forwardedHome(answer: Answer, ...references: readonly string[]) {
  const home = temporaryHome();
  const app = await startApp(({ body }) => answer(JSON.parse(body.toString())));
  const listen = await startListenCommand(home, "--key", keyFile(home), "--forward-to", app.url);
  for (const reference of references) await post(listen.url, webhook(listen.url, record({ reference })));
  await listen.stop();
  return {
    home,
    compare: (to: string, ...flags: string[]): Promise<CommandEnd> =>
      runCommand(["events", "replay", "--all", "--compare", "--to", to, ...flags], { home, env: KEY_ENV }),
    events: (...args: string[]): Promise<CommandEnd> =>
      runCommand(["events", ...args], { home, env: KEY_ENV }),
  };
}

const buildThat = (answer: Answer) => startApp(({ body }) => answer(JSON.parse(body.toString())));

describe("events replay --compare", () => {
  it("lists the events that a new build answers differently, and counts none as delivered", async () => {
    const { compare, events } = await forwardedHome(
      ({ reference }) => (reference === "INV-3" ? 500 : 200),
      "INV-1",
      "INV-2",
      "INV-3",
    );
    const build = await buildThat(({ reference }) => (reference === "INV-2" ? 422 : 202));
    const { exit, stdout, stderr } = await compare(build.url);
    expect(exit).toBe(10);
    expect(stdout).toMatch(
      /^RECEIVED +OUTCOME +AMOUNT +REFERENCE +UTI +RECORDED +NOW +ANSWER\n.* INV-2 .* 200 +422.*\n.* INV-3 .* 500 +202\n$/,
    );
    expect(stderr).toContain(`${build.url} answers 2 of 3 events differently than recorded.`);
    // INV-3 failed, and the new build has accepted it: that is not a delivery.
    expect((await events("list", "--failed", "-q")).stdout.trim().split("\n")).toHaveLength(1);
    // A replay is no recorded answer.
    expect((await compare(build.url, "-q")).stdout.trim().split("\n")).toHaveLength(2);
  });

  it("counts another status of the same class as a difference only with --strict", async () => {
    const { compare } = await forwardedHome(() => 200, "INV-1");
    const build = await buildThat(() => 204);
    const same = await compare(build.url);
    expect(same).toMatchObject({
      exit: 0,
      stdout: "",
      stderr: `${build.url} answers 1 event as recorded.\n`,
    });
    const { exit, stdout } = await compare(build.url, "--strict", "--json");
    expect(exit).toBe(10);
    expect(jsonLines(stdout)).toMatchObject([
      { type: "difference", reference: "INV-1", recorded: { status: 200 }, status: 204, target: build.url },
      { type: "summary", compared: 1, differ: 1, unreached: 0, unanswered: 0, untargeted: 0, otherKey: 0 },
    ]);
  });

  it("leaves out events without a recorded answer, and does not send them", async () => {
    const home = temporaryHome();
    const listen = await startListenCommand(home, "--key", keyFile(home));
    await post(listen.url, webhook(listen.url, record()));
    await listen.stop();
    const build = await buildThat(() => 200);
    const args = ["events", "replay", "--all", "--compare", "--to", build.url];
    const { exit, stderr } = await runCommand(args, { home, env: KEY_ENV });
    expect({ exit, stderr }).toEqual({
      exit: 0,
      stderr:
        "! 1 event not sent: no answer of an application is recorded for it.\nNo matching event has a recorded answer. Nothing was compared.\n",
    });
    expect(build.taken).toEqual([]);
  });

  it("exits 5 if the new build is not reached, and 10 if it closes without an answer", async () => {
    const { compare } = await forwardedHome(() => 200, "INV-1", "INV-2");
    const unreached = await compare(await freePort());
    expect(unreached).toMatchObject({
      exit: 5,
      stderr: expect.stringContaining("2 of 2 events not compared"),
    });
    const silent = await startApp(() => new Promise<number>(() => undefined));
    const { exit, stdout } = await compare(silent.url, "--forward-timeout", "200ms");
    expect(exit).toBe(10);
    expect(stdout).toMatch(/ 200 +none +timed out/);
  });

  it.each([
    [["--compare", "--settle", "--to", "3000"], "--settle cannot be used with --compare"],
    [["--strict", "--to", "3000"], "--strict has no effect without --compare"],
    [["--compare", "--to", "nats://127.0.0.1/payments"], "must be an application with --compare"],
  ])("refuses %s", async (flags, words) => {
    const { exit, stderr } = await runCommand(["events", "replay", "--all", ...flags]);
    expect(exit).toBe(2);
    expect(stderr.replace(/\s+/g, " ")).toContain(words);
  });
});
