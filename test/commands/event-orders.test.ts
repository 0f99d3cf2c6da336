/** `paylink events list --pending`, `retry` and `skip`, in process, beside a running `listen --ack stored`. */
import { expect, it } from "vitest";
import { SELECTION_FLAGS } from "../../src/commands/events/command.ts";
import { startListenCommand } from "../support/background-command.ts";
import { runCommand } from "../support/context.ts";
import { fixedAnswers } from "../support/fixed-answers.ts";
import { temporaryHome } from "../support/home.ts";
import { jsonLines } from "../support/json-lines.ts";
import { keyFile, KEY_ENV } from "../support/keys.ts";
import { post, record, startApp, webhook } from "../support/webhooks.ts";

/** A receiver of two payments whose application fails until `answer` is changed. */
async function failingApplication(...flags: string[]) {
  const home = temporaryHome();
  const state = { answer: 500 };
  const app = await startApp(() => state.answer);
  const forwarding = ["--forward-to", app.url, "--ack", "stored", ...flags];
  const listen = await startListenCommand(home, "--key", keyFile(home), ...forwarding);
  for (const uti of ["uti-a", "uti-b"])
    expect(await post(listen.url, webhook(listen.url, record({ uti, reference: uti })))).toBe(200);
  await expect.poll(() => app.taken.length).toBe(2);
  const events = (...args: string[]) => runCommand(["events", ...args], { home, env: KEY_ENV });
  const listed = async (...args: string[]) =>
    jsonLines((await events("list", ...args, "--json")).stdout).map(({ uti, delivery }) => [uti, delivery]);
  return { home, app, state, listen, events, listed };
}

const AFTER_AN_HOUR = {
  state: "pending",
  attempts: 1,
  isTrying: false,
  next: expect.any(String) as unknown,
  comesAgain: false,
};

it("lists what waits with its attempts, and makes it due for the running listener", async () => {
  const { app, state, listen, events, listed } = await failingApplication("--retry", "1h");
  await expect
    .poll(() => listed("--pending"))
    .toEqual([
      ["uti-b", AFTER_AN_HOUR],
      ["uti-a", AFTER_AN_HOUR],
    ]);
  expect((await events("list", "--pending")).stdout).toMatch(
    /pending, 1 attempt, next at \d{4}-\d\d-\d\d \d\d:\d\d:\d\d [+-]/,
  );
  expect(await listed("--failed")).toEqual([]);
  state.answer = 200;
  expect(await events("retry", "uti-a")).toMatchObject({
    exit: 0,
    stdout: "1 event is due to be forwarded.\n",
  });
  await expect.poll(() => app.taken.length).toBe(3);
  await expect.poll(() => listed("--pending")).toEqual([["uti-b", AFTER_AN_HOUR]]);
  expect(JSON.parse((await events("retry", "--all", "--json")).stdout)).toEqual({
    due: 1,
    unchanged: 0,
    otherKey: 0,
  });
  await expect.poll(() => listed("--pending")).toEqual([]);
  expect((await events("list", "--pending")).stderr).toMatch(/^No pending events found in /);
  expect((await events("retry", "--all")).stderr).toBe(
    "No event waits or has failed. Nothing was changed.\n",
  );
  expect(await events("retry", "uti-a")).toMatchObject({
    exit: 2,
    stderr: expect.stringMatching(
      /accepted uti-a already\..*\n.*Nothing was retried\.[^]*events replay uti-a/,
    ),
  });
  await listen.stop();
});

it("says that what is due already waits, and does not change it", async () => {
  const { listen, events, listed } = await failingApplication("--retry", "1h");
  await expect.poll(() => listed("--pending")).toHaveLength(2);
  await listen.stop();
  const retried = async (): Promise<unknown> => JSON.parse((await events("retry", "--all", "--json")).stdout);
  expect(await retried()).toEqual({ due: 2, unchanged: 0, otherKey: 0 });
  expect(await retried()).toEqual({ due: 0, unchanged: 2, otherKey: 0 });
  expect(await events("retry", "--all")).toMatchObject({
    stdout: "",
    stderr: "2 events not changed: they are already due, or being forwarded at this moment.\n",
  });
});

/** Of each filter a value that no event passes: a filter without one does not compile. */
const NO_EVENT: Readonly<Record<(typeof SELECTION_FLAGS)[number], string>> = {
  outcome: "cancelled",
  reference: "uti-c",
  since: "0s",
  until: "1h",
};

it("retries only what matches the filter", async () => {
  const { events, listen, listed } = await failingApplication("--retry", "1h");
  await expect.poll(() => listed("--pending")).toHaveLength(2);
  const due = async (...filter: string[]): Promise<unknown> =>
    JSON.parse((await events("retry", "--all", ...filter, "--json")).stdout);
  for (const name of SELECTION_FLAGS)
    expect({ name, ...Object(await due(`--${name}`, NO_EVENT[name])) }).toMatchObject({ name, due: 0 });
  expect(await due("--reference", "uti-b")).toMatchObject({ due: 1 });
  await listen.stop();
});

it("skips an event after a confirmation, and says so wherever it is shown", async () => {
  const { home, app, events, listen, listed } = await failingApplication("--retry", "none");
  await expect.poll(() => listed("--failed")).toHaveLength(2);
  const skip = ["events", "skip", "uti-a"];
  const no = fixedAnswers({ confirm: false });
  expect(await runCommand(skip, { home, ask: no.ask })).toMatchObject({
    exit: 0,
    stdout: "",
    stderr: expect.stringMatching(/uti-a[^]*Nothing was done\.\n$/),
  });
  expect(no.asked).toEqual(["Skip 1 event? paylink will not tell your application about the payment."]);
  expect(await events("skip", "uti-a")).toMatchObject({ exit: 2, stderr: expect.stringContaining("--yes") });
  expect(await events("skip", "uti-a", "--yes")).toMatchObject({
    exit: 0,
    stdout: "Skipped 1 event.\n",
    stderr: expect.stringMatching(/To forward it after all: paylink events retry uti-a\n$/),
  });
  expect(await listed("--failed")).toMatchObject([["uti-b", { state: "failed" }]]);
  expect((await events("list")).stdout).toMatch(/uti-a +skipped$/m);
  expect((await events("show", "uti-a")).stdout).toMatch(
    /skip by \S+\n.*It was skipped, and will not be forwarded\.\n.*events retry \w+ {3}forwards it after all/,
  );
  expect(JSON.parse((await events("show", "uti-a", "--json")).stdout)).toMatchObject({
    delivery: { state: "skipped", next: null },
    actions: [{ action: "skip", actor: expect.any(String) as unknown }],
  });
  expect(app.taken).toHaveLength(2);
  await listen.stop();
});

it("does not skip what is being forwarded, and says so", async () => {
  const home = temporaryHome();
  let answer = (): void => undefined;
  const app = await startApp(() => new Promise((resolve) => (answer = () => resolve(200))));
  const flags = ["--forward-to", app.url, "--ack", "stored"];
  const listen = await startListenCommand(home, "--key", keyFile(home), ...flags);
  await post(listen.url, webhook(listen.url, record({ uti: "uti-a" })));
  await expect.poll(() => app.taken.length).toBe(1);
  const skipped = await runCommand(["events", "skip", "uti-a", "--yes"], { home });
  expect(skipped).toMatchObject({
    exit: 2,
    stdout: "",
    stderr: expect.stringContaining(
      "uti-a was not skipped: it is skipped already, or is being forwarded at this moment",
    ),
  });
  answer();
  await listen.stop();
});
