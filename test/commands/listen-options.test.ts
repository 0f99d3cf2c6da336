/** What `paylink listen` makes of its flags and settings, in process: values, defaults, and every problem at once. */
import { createServer } from "node:net";
import { describe, expect, it } from "vitest";
import listen from "../../src/commands/listen/command.ts";
import { listenOptions } from "../../src/commands/listen/options.ts";
import { PaylinkError } from "../../src/domain/errors.ts";
import { resolveSettings } from "../../src/settings/resolved-settings.ts";
import type { Profile } from "../../src/settings/profile.ts";
import { VirtualTime } from "../simulation/virtual-time.ts";
import { type Flags, optionsOf, wordsOf } from "../support/command-options.ts";
import { runCommand } from "../support/context.ts";
import { storeProfiles, temporaryHome } from "../support/home.ts";
import { listenOnFreePort } from "../support/ports.ts";

const settings = (profile: Profile = { webhookKey: ["service.pem"] }) =>
  resolveSettings({ name: "shop", profile, env: {} });

const read = async (flags: Flags = {}, profile?: Profile) =>
  listenOptions(await optionsOf(listen, wordsOf(flags)), settings(profile));

async function problemsOf(flags: Flags): Promise<Record<string, string>> {
  try {
    await optionsOf(listen, wordsOf(flags));
  } catch (error) {
    if (error instanceof PaylinkError)
      return Object.fromEntries(error.problems.map(({ at, message }) => [at, message]));
  }
  return {};
}

describe("the options of listen", async () => {
  it("take the path of the public URL unless --path is given", async () => {
    const publicUrl = "https://shop.example/hook";
    expect((await read({ publicUrl })).paths).toEqual(["/hook"]);
    expect((await read({ publicUrl, path: ["/other"] })).paths).toEqual(["/other"]);
    expect((await read({ path: ["/paid", "/failed", "/paid"] })).paths).toEqual(["/paid", "/failed"]);
    const profile = { webhookKey: ["k"], publicUrl: "https://shop.example/kept" };
    expect((await read({}, profile)).paths).toEqual(["/kept"]);
  });

  it("name every problem at once, with the bad value", async () => {
    const bad: Flags = {
      port: "65536",
      path: ["hook"],
      publicUrl: "shop.example",
      maxBody: "big",
      tolerance: "5",
      require: ["@nothing"],
      forwardTo: ["ftp://x"],
      forwardHeader: ["no colon", "Signature: x"],
      expect: ["0"],
      timeout: "soon",
      tlsCert: "cert.pem",
      verify: false,
      host: "0.0.0.0",
      store: false,
      db: "events.db",
    };
    const problems = await problemsOf(bad);
    expect(Object.keys(problems).toSorted()).toEqual([
      "--expect",
      "--forward-header",
      "--forward-to",
      "--max-body",
      "--no-store",
      "--no-verify",
      "--path",
      "--port",
      "--public-url",
      "--require",
      "--timeout",
      "--tls-cert",
      "--tolerance",
    ]);
    expect(problems["--port"]).toBe('must be a whole number from 0 to 65535 (got "65536")');
  });

  it.each<[Record<string, unknown>, string]>([
    [{ publicUrl: "https://shop.example" }, "cannot be used with --public-url"],
    [{ tunnel: true }, "cannot be used with --tunnel"],
    [{ forwardTo: ["3000"], signWith: "k.pem" }, "cannot be used with --sign-with"],
    [{ admin: "127.0.0.1:0" }, "cannot be used with --admin"],
    [{ keep: "90d" }, "cannot be used with --keep"],
  ])("refuse --no-verify with %j", async (values, problem) => {
    expect((await problemsOf({ verify: false, ...values }))["--no-verify"]).toContain(problem);
  });

  it.each<[Record<string, unknown>, string]>([
    [{ verify: false }, "--no-verify"],
    [{ tunnel: true }, "--tunnel"],
    [{ expect: ["1"] }, "--expect"],
    [{ store: false }, "--no-store"],
  ])("refuse --ack stored with %j", async (values, flag) => {
    const problems = await problemsOf({ forwardTo: ["3000"], ack: "stored", ...values });
    expect(problems["--ack"]).toContain(`stored cannot be used with ${flag}: `);
  });

  it.each<[string[], string]>([
    [
      ["aproved=3000"],
      'must have one of these before "=": approved, partially-approved, declined, cancelled, unclear (got "aproved=3000"); did you mean approved=3000?',
    ],
    [
      ["paid=3000"],
      'must have one of these before "=": approved, partially-approved, declined, cancelled, unclear (got "paid=3000")',
    ],
    [["approved="], expect.stringContaining("must be a port")],
    [
      ["3000", "3001"],
      "names two targets for every other outcome: http://localhost:3000/ and http://localhost:3001/",
    ],
    [["4000/hook"], expect.stringContaining("is the address that listen itself receives at")],
    [["declined=127.0.0.1:4000"], expect.stringContaining("is the address that listen itself receives at")],
    [
      ["declined=1", "3000", "DECLINED=2"],
      "names two targets for declined: http://localhost:1/ and http://localhost:2/",
    ],
    [["70000"], expect.stringContaining("must be a port")],
  ])("refuse the targets %j", async (forwardTo, problem) => {
    expect(await problemsOf({ forwardTo })).toEqual({ "--forward-to": problem });
  });

  it("accept targets whose query has an equals sign", async () => {
    const { routes } = (await read({ forwardTo: ["localhost:3000/?approved=1"] })).forwarding;
    expect(routes).toMatchObject([{ outcome: undefined, url: { search: "?approved=1" } }]);
  });

  it("acknowledge once an event is stored, with these retries", async () => {
    const delaysOf = async (flags: Flags) =>
      (await read({ forwardTo: ["3000"], ...flags })).forwarding.delays;
    expect([await delaysOf({}), await delaysOf({ ack: "forwarded" })]).toEqual([undefined, undefined]);
    const [second, minute, hour] = [1_000, 60_000, 3_600_000];
    expect(await delaysOf({ ack: "stored" })).toEqual([
      5 * second,
      30 * second,
      2 * minute,
      10 * minute,
      ...Array.from({ length: 48 }, () => hour),
    ]);
    expect(await delaysOf({ ack: "stored", retry: "2x1s, 3x2m" })).toEqual([
      second,
      second,
      2 * minute,
      2 * minute,
      2 * minute,
    ]);
    expect(await delaysOf({ ack: "stored", retry: "1s,2m" })).toEqual([second, 2 * minute]);
    expect(await delaysOf({ ack: "stored", retry: "none" })).toEqual([]);
  });

  it("bound the requests to the application: how many at once, and how long", async () => {
    const forwardTo = ["3000"];
    expect((await read({ forwardTo })).forwarding).toMatchObject({ concurrency: 8, timeout: 8_000 });
    const most = { forwardTo, ack: "stored", forwardConcurrency: "1000", forwardTimeout: "10m" };
    expect((await read(most)).forwarding).toMatchObject({ concurrency: 1000, timeout: 600_000 });
    for (const forwardConcurrency of ["0", "1001", "1.5", "many"])
      expect(await problemsOf({ forwardTo, ack: "stored", forwardConcurrency })).toEqual({
        "--forward-concurrency": expect.stringMatching(/^must be a whole number from 1 to 1000/),
      });
    for (const forwardTimeout of ["0s", "11m", "soon"])
      expect(Object.keys(await problemsOf({ forwardTo, ack: "stored", forwardTimeout }))).toEqual([
        "--forward-timeout",
      ]);
  });

  const alone = "has no effect without --forward-to";
  const unstored = {
    "--retry": "has no effect without --ack stored: the service retries",
    "--forward-concurrency":
      "has no effect without --ack stored: each webhook goes out as the service sends it",
  };

  it.each<[Flags, Record<string, string>]>([
    [
      { forwardHeader: ["X-Shop: one"], insecure: true, signWith: "k" },
      { "--forward-header": alone, "--insecure": alone, "--sign-with": alone },
    ],
    [{ forwardTimeout: "5s" }, { "--forward-timeout": alone }],
    [
      { forwardTo: ["3000"], forwardTimeout: "10s" },
      {
        "--forward-timeout":
          "must be less than 10s without --ack stored: the service waits for the answer, and the sandbox gives up after 10s",
      },
    ],
    [{ ack: "stored" }, { "--ack": alone }],
    [{ forwardTo: ["3000"], retry: "5s", forwardConcurrency: "2" }, unstored],
    [{ ack: "forwarded", forwardTo: ["3000"], retry: "5s", forwardConcurrency: "2" }, unstored],
    [
      { tunnel: true, publicUrl: "https://shop.example", tlsCert: "c", tlsKey: "k" },
      { "--tunnel": "cannot be used with --tls-cert" },
    ],
    [{ tunnel: true, publicUrl: "https://shop.example" }, { "--tunnel": "cannot be used with --public-url" }],
  ])("refuse %j", async (flags, problems) => {
    expect(await problemsOf(flags)).toEqual(problems);
  });

  it.each(["5s,soon", "0x1h", "x1h", "2x", "10001x1s", "9999999999x1s", "-1x1s"])(
    "refuse --retry %s",
    async (retry) => {
      expect(Object.keys(await problemsOf({ ack: "stored", forwardTo: ["3000"], retry }))).toEqual([
        "--retry",
      ]);
    },
  );

  it("require a key, unless nothing is verified", async () => {
    await expect(read({}, {})).rejects.toThrow(expect.objectContaining({ code: "key_required" }));
    expect((await read({ verify: false }, {})).keySources).toEqual([]);
  });
});

describe("paylink listen", () => {
  it("ends at once if the port is in use, whatever --timeout says", async () => {
    const port = String(await listenOnFreePort(createServer()));
    const time = new VirtualTime();
    const flags = ["--port", port, "--no-verify", "--timeout", "12s", "--json"];
    const run = await runCommand(["listen", ...flags], { timers: time.timersOf(() => true) });
    expect(run.exit).toBe(2);
    expect(JSON.parse(run.stderr)).toMatchObject({ error: { code: "port_in_use" } });
    expect(time.next()).toBe(Number.POSITIVE_INFINITY);
  });

  it.each([{}, { shop: { baseUrl: "https://pay.example", token: "token" } }])(
    "says how to give a key: profiles %j",
    async (profiles) => {
      const home = temporaryHome();
      storeProfiles(home, profiles);
      const { exit, stderr } = await runCommand(["listen", "--port", "0"], { home });
      expect(exit).toBe(2);
      for (const way of ["--key", "paylink sandbox", "paylink login"]) expect(stderr).toContain(way);
    },
  );
});
