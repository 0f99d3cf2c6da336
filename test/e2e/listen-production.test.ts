/** `listen` in production, on the built program: paths, targets, health, metrics, signals and a tunnel in one process. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import parse from "parse-prometheus-text-format";
import { expect, it } from "vitest";
import { DERIVED_COVER } from "../../src/signatures/cover.ts";
import { OPENS, standIn, STAYS } from "../support/cloudflared.ts";
import { temporaryHome } from "../support/home.ts";
import { jsonLines } from "../support/json-lines.ts";
import { readyUrl, runPaylink, startPaylink, startSandbox } from "../support/paylink.ts";
import { openScreen } from "../support/screen.ts";
import { keyFile } from "../support/keys.ts";
import { post, record, startApp, webhook, type App } from "../support/webhooks.ts";

const amounts = ({ taken }: App): unknown[] =>
  taken.map(({ body }) => (JSON.parse(body.toString()) as { amountTrans: number }).amountTrans);

it("receives at two paths, forwards to two targets, counts and drains", async () => {
  const home = temporaryHome();
  await startSandbox(home);
  const [shop, failures] = [await startApp(() => 200), await startApp(() => 200)];
  const paths = ["--path", "/paid", "--path", "/failed"];
  const targets = ["-f", shop.url, "-f", `declined=${failures.url}`];
  const production = ["--admin", "127.0.0.1:0", "--drain", "2s"];
  const args = ["listen", "--port", "0", "--json", ...paths, ...targets, ...production];
  const listen = startPaylink(args, { home });
  const { origin } = new URL(await readyUrl(listen));
  const admin = String(jsonLines(listen.stdout())[0]?.["admin"]);
  const ask = async (path: string): Promise<string> => (await fetch(new URL(path, admin))).text();

  const callbacks = ["--callback-url", `${origin}/paid`, "--failure-callback-url", `${origin}/failed`];
  const link = await runPaylink(["create", "--reusable", "-q", ...callbacks], { home });
  for (const [outcome, amount] of [
    ["approved", "1"],
    ["declined", "2"],
    ["cancelled", "3"],
  ] as const)
    await runPaylink(["pay", link.stdout.trim(), "--outcome", outcome, "--amount", amount], { home });
  await expect.poll(() => [amounts(shop), amounts(failures)]).toEqual([[1, 3], [2]]);
  const metrics = async (): Promise<unknown> =>
    Object.fromEntries(parse(await ask("/metrics")).map(({ name, metrics }) => [name, metrics]));
  await expect.poll(metrics).toMatchObject({
    paylink_webhooks_verified_total: [{ value: "3" }],
    paylink_forwards_total: [{ value: "3", labels: { status: "200" } }],
  });

  expect(await ask("/readyz")).toBe("ready\n");
  const ended = listen.stop("SIGTERM");
  await expect.poll(() => ask("/readyz")).toBe("not ready: draining\n");
  expect(await post(`${origin}/paid`, webhook(`${origin}/paid`, record()))).toBe(401);
  const { code, stdout } = await ended;
  expect(code).toBe(143);
  expect(jsonLines(stdout).at(-1)).toMatchObject({ verified: 3, rejected: 1, forwarded: 3 });
});

it("ends at once at a second signal, and leaves no tunnel behind", async () => {
  const home = temporaryHome();
  const cloudflared = standIn(OPENS, STAYS);
  const args = ["listen", "--port", "0", "--json", "--tunnel", "--drain", "1h"];
  const listen = startPaylink([...args, "--key", keyFile(home)], { home, env: cloudflared.env });
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
