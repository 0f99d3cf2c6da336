/** `listen --require-terminal`: a verified record of another terminal is refused, and accepted only by its id. */
import { expect, it } from "vitest";
import { startListenCommand } from "../support/background-command.ts";
import { runCommand } from "../support/context.ts";
import { storeProfiles, temporaryHome } from "../support/home.ts";
import { linesOf } from "../support/json-lines.ts";
import { KEY_ENV, keyFile } from "../support/keys.ts";
import { post, record, startApp, webhook } from "../support/webhooks.ts";

it("refuses records of another terminal or of none with 422, and forwards the rest", async () => {
  const home = temporaryHome();
  const app = await startApp(() => 200);
  const terminals = ["--require-terminal", "T-1", "--require-terminal", "T-2"];
  const listen = await startListenCommand(home, "--key", keyFile(home), "-f", app.url, ...terminals);
  const answer = (terminalId: unknown): Promise<number> =>
    post(listen.url, webhook(listen.url, record({ terminalId })));
  expect(await answer("T-1")).toBe(200);
  expect(await answer("T-2")).toBe(200);
  for (const other of ["T-3", "t-1", "", 1, null, undefined]) expect(await answer(other)).toBe(422);
  const forged = webhook(listen.url, record({ terminalId: "T-3" }));
  expect(await post(listen.url, { ...forged, body: Buffer.from(`${String(forged.body)} `) })).toBe(401);
  await listen.stop();
  expect(app.taken).toHaveLength(2);
  const rejected = linesOf("rejected", listen.stdout());
  expect(rejected.slice(0, 6).map(({ code }) => code)).toEqual(Array(6).fill("terminal_mismatch"));
  expect(rejected[0]).toMatchObject({ status: 422, detail: "the record is of terminal T-3" });
  expect(rejected[5]).toMatchObject({ detail: "the record names no terminal" });

  const events = (...args: string[]) => runCommand(["events", ...args], { home, env: KEY_ENV });
  const all = await events("accept", "--all");
  expect(all.stderr).toContain("6 of another terminal stay rejected. To accept one, name its id.");
  const one = await events("accept", String(rejected[0]?.["id"]), "--json");
  expect(JSON.parse(one.stdout)).toEqual({ accepted: [rejected[0]?.["id"]], refused: 0, otherTerminal: 0 });
});

it("does not require the profile's terminal", async () => {
  const home = temporaryHome();
  storeProfiles(home, { shop: { terminalId: "T-1" } });
  const listen = await startListenCommand(home, "--key", keyFile(home), "-p", "shop");
  expect(await post(listen.url, webhook(listen.url, record({ terminalId: "T-2" })))).toBe(200);
});

it("cannot be used with --no-verify, whose records anyone can have written", async () => {
  const { exit, stderr } = await runCommand(["listen", "--no-verify", "--require-terminal", "T-1"]);
  expect(exit).toBe(2);
  expect(stderr).toContain("--require-terminal");
});
