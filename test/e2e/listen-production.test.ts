/** `listen` in production, on the built program: signals, readiness, a tunnel and a terminal that is closed. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { DERIVED_COVER } from "../../src/signatures/cover.ts";
import { OPENS, standIn, STAYS } from "../support/cloudflared.ts";
import { temporaryHome } from "../support/home.ts";
import { jsonLines } from "../support/json-lines.ts";
import { readyUrl, startPaylink } from "../support/paylink.ts";
import { openScreen } from "../support/screen.ts";
import { keyFile } from "../support/keys.ts";
import { post, record, startApp, webhook } from "../support/webhooks.ts";

it("drains after a signal, and ends at once at a second one", async () => {
  const home = temporaryHome();
  const drained = ["--drain", "1h", "--admin", "127.0.0.1:0"];
  const listen = startPaylink(["listen", "--port", "0", "--json", "--key", keyFile(home), ...drained], {
    home,
  });
  const url = await readyUrl(listen);
  const admin = String(jsonLines(listen.stdout())[0]?.["admin"]);
  void listen.stop("SIGTERM");
  await expect
    .poll(async () => (await fetch(new URL("/readyz", admin))).text())
    .toBe("not ready: draining\n");
  expect(await post(url, webhook(url, record()))).toBe(200);
  expect(await listen.stop("SIGINT")).toMatchObject({ code: null });
});

it("leaves no tunnel behind at a second signal", async () => {
  const home = temporaryHome();
  const cloudflared = standIn(OPENS, STAYS);
  const args = ["listen", "--port", "0", "--json", "--tunnel", "--drain", "1h", "--key", keyFile(home)];
  const listen = startPaylink(args, { home, env: cloudflared.env });
  await readyUrl(listen);
  void listen.stop("SIGTERM");
  expect(cloudflared.isRunning()).toBe(true);
  expect(await listen.stop("SIGINT")).toMatchObject({ code: null });
  await expect.poll(cloudflared.isRunning).toBe(false);
});

it("ends the tunnel at Ctrl-C, after what is in flight", async () => {
  const home = temporaryHome();
  let answer = (): void => undefined;
  const app = await startApp(() => new Promise((resolve) => (answer = () => resolve(200))));
  const cloudflared = standIn(OPENS, STAYS);
  const args = ["listen", "--port", "0", "--json", "--tunnel", "-f", app.url, "--key", keyFile(home)];
  const listen = startPaylink(args, { home, env: cloudflared.env });
  const url = await readyUrl(listen);
  const { publicUrl } = jsonLines(listen.stdout())[0] ?? {};
  const posted = post(url, webhook(String(publicUrl), record(), { cover: DERIVED_COVER }));
  await expect.poll(() => app.taken.length).toBe(1);
  const ended = listen.stop("SIGINT");
  // It accepts no connection any more, and waits for the application.
  await expect
    .poll(() =>
      fetch(url).then(
        () => "answered",
        () => "refused",
      ),
    )
    .toBe("refused");
  expect(cloudflared.isRunning()).toBe(true);
  answer();
  expect(await posted).toBe(200);
  expect((await ended).code).toBe(130);
  expect(cloudflared.isRunning()).toBe(false);
});

it("ends when its terminal is closed", async () => {
  const home = temporaryHome();
  const output = (): string => readFileSync(join(home, "output"), { encoding: "utf8", flag: "a+" });
  const types = (): unknown[] => jsonLines(output()).map(({ type }) => type);
  keyFile(home);
  const listen = '"$0" "$1" listen --port 0 --json --key service.pem > output';
  const screen = openScreen([], { home, shell: `cd "$HOME"; ${listen}` });
  await expect.poll(types).toEqual(["ready"]);
  screen.close();
  await expect.poll(types).toEqual(["ready", "summary"]);
});
