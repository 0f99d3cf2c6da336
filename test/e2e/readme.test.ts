/** Runs the README: every block in the order given, with what the demo prints and its set-up commands. */
import { copyFileSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import { delimiter, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { sampleTransaction, signWebhook } from "paylink-webhooks";
import { expect, it, onTestFinished } from "vitest";
import { CLIENT, startDocumentedService } from "../support/documented-service.ts";
import { helpPages } from "../support/help-pages.ts";
import { runStep } from "../support/context.ts";
import { temporaryHome } from "../support/home.ts";
import { BINARY, runPaylink, startPaylink, type Running } from "../support/paylink.ts";
import { freePort, listenOnFreePort } from "../support/ports.ts";
import { README, readmeBlock, readmeBlocks } from "../support/readme.ts";
import { openShell } from "../support/shell.ts";
import { KEYS } from "../support/keys.ts";

/** The README's text as a pattern: the suffix of a reference differs from run to run. */
function patternOf(transcript: string): RegExp {
  const escaped = transcript.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const loose = escaped.replace(/DONATION-[A-Z0-9]{9}/g, "DONATION-[A-Z0-9]{9}");
  return new RegExp(`^${loose}$`);
}

it("shows a transcript that the demo really prints", async () => {
  const command = "$ npm ci && npm run demo\n";
  const transcript = readmeBlock("console", command).slice(command.length).trimEnd();
  const { code, stdout } = await runPaylink(["demo"], { home: temporaryHome() });
  expect(code).toBe(0);
  expect(stdout.trimEnd()).toMatch(patternOf(transcript));
});

it("names set-up commands that the package has", () => {
  const text = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  const { scripts, version } = JSON.parse(text) as { scripts: Record<string, string>; version: string };
  expect(README).toContain("npm ci && npm run demo");
  expect(README).toContain("npm ci && npm test");
  expect(scripts["demo"]).toBe("npm run --silent build && node bin/paylink.js demo");
  expect(README).toContain(`npm install --global ./paylink-${version}.tgz`);
  expect(README).toContain("npm run pack:webhooks");
  expect(scripts["pack:webhooks"]).toBe("npm run --silent build && npm pack ./dist/webhooks");
});

it("names no flag and no command that the help does not", async () => {
  const help = (await helpPages())
    .map(({ command, text }) => `paylink ${command.join(" ")}\n${text}`)
    .join("\n");
  const ofOtherPrograms = ["--global", "--test"];
  const flags = new Set(README.match(/(?<![\w-])--[a-z][a-z-]+/g));
  for (const flag of ofOtherPrograms) flags.delete(flag);
  expect(flags.size).toBeGreaterThan(20);
  expect([...flags].filter((flag) => !help.includes(` ${flag} `))).toEqual([]);
  const commands = [...README.matchAll(/(?<=`|\$ |\$\(|^|-- )paylink ([a-z][a-z-]*)/gm)].map(
    ([, name = ""]) => name,
  );
  expect(commands.filter((name) => !help.includes(`paylink ${name}\n`))).toEqual([]);
});

/** Begins the block that makes the shop of the README. */
const SHOP = "npm install express ./paylink-webhooks-1.0.0.tgz";

/** A folder with the shop of the README, its test and what they need. */
async function writeShop(port: string): Promise<string> {
  const home = temporaryHome();
  const [, ...lines] = readmeBlock("sh", SHOP).trim().split("\n");
  const saved = lines.flatMap((line) => /^paylink (help webhooks \w+) > (\S+)/.exec(line)?.slice(1) ?? []);
  expect(saved).toHaveLength(4);
  expect(lines.at(-1)).toMatch(/^PAYLINK_WEBHOOK_KEY=\$\(.*\) node express\.mjs$/);
  const [shopHelp = "", shopFile = "", ordersHelp = "", ordersFile = ""] = saved;
  for (const [help, file] of [
    [shopHelp, shopFile],
    [ordersHelp, ordersFile],
  ] as const)
    writeFileSync(join(home, file), (await runStep(help.split(" "), { home })).stdout);
  const test = readmeBlock("js", "// shop.test.mjs\n");
  writeFileSync(join(home, "shop.test.mjs"), test.replaceAll("3000", port));
  const library = join(home, "node_modules/paylink-webhooks");
  mkdirSync(library, { recursive: true });
  // Packing it takes seconds, and is tested in test/package.
  const entry = fileURLToPath(new URL("../../dist/webhooks/index.mjs", import.meta.url));
  writeFileSync(join(library, "index.mjs"), `export * from ${JSON.stringify(pathToFileURL(entry))};`);
  writeFileSync(join(library, "package.json"), '{"exports": "./index.mjs"}');
  const framework = fileURLToPath(new URL("../../node_modules/express", import.meta.url));
  symlinkSync(framework, join(home, "node_modules/express"));
  return home;
}

it("has a shop that does not start without a key, and says how to set it", async () => {
  const home = await writeShop("0");
  const { code, stderr } = await openShell(home).run(`cd ${home} && "${process.execPath}" express.mjs`);
  expect({ code, stderr }).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("PAYLINK_WEBHOOK_KEY=$(paylink config get webhookKey") as unknown,
  });
});

/** The address of the shop of the README, at a free port, with these orders of EUR 10.00 besides. */
async function startShop(home: string, numbers: readonly string[]): Promise<string> {
  const driver = `import { booked, orders } from "./orders.mjs";
import { createApp } from "./express.mjs";
const shop = createApp({ key: process.env.PAYLINK_WEBHOOK_KEY });
console.log = console.warn = () => undefined;
for (const number of ${JSON.stringify(numbers)}) orders.set(number, { minorUnits: 1000n, currency: "EUR" });
shop.get("/paid", (request, response) => response.json([...booked]));
shop.get("/books", (request, response) =>
  response.send(["order,amount,currency", ...[...booked.keys()].map((number) => number + ",10,EUR")].join("\\n")));
const server = shop.listen(0, "127.0.0.1", () => process.stdout.write(String(server.address().port)));`;
  writeFileSync(join(home, "driver.mjs"), driver);
  const program = spawn(process.execPath, [join(home, "driver.mjs")], {
    env: { ...process.env, PAYLINK_WEBHOOK_KEY: KEYS.publicPem },
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void program.kill());
  const [port] = (await once(program.stdout, "data")) as [Buffer];
  return `http://127.0.0.1:${String(port)}`;
}

it("has a shop that books each order once, whatever else deviates, and in parts", async () => {
  const numbers = Array.from({ length: 40 }, (_, at) => `O-${at}`);
  const shop = await startShop(await writeShop("0"), numbers);
  const url = `${shop}/webhooks/paylink`;
  const record = (changes: object): string => {
    const sample = sampleTransaction("APPROVED", { reference: numbers.pop() ?? "" });
    return JSON.stringify({ ...sample, ...changes });
  };
  const send = async (body: string): Promise<number> =>
    (await fetch(url, signWebhook(body, { key: KEYS.privateKey, url }))).status;
  const booked = async () => (await (await fetch(`${shop}/paid`)).json()) as [string, string][];
  const isPaid = async (body: string): Promise<[status: number, booked: boolean]> => {
    const status = await send(body);
    const { uti, reference } = JSON.parse(body) as { uti?: string; reference: string };
    return [status, (await booked()).some(([order, id]) => id === uti && order === reference)];
  };
  for (const changes of [
    {},
    { cardScheme: null },
    { stan: undefined },
    { emvAid: undefined, emvTsi: undefined },
    { status: "COMPLETE" },
    { merchantStoreId: "1" },
    { amountTrans: "10.00" },
    { transCurrencyCode: "eur" },
    { orderKey: "4111111111111111" },
    // A part that is the whole price pays the order.
    { transPartiallyApproved: true },
  ])
    expect([changes, await isPaid(record(changes))]).toEqual([changes, [200, true]]);
  for (const changes of [
    { transPartiallyApproved: true, amountTrans: 4 },
    { transApproved: false },
    { transApproved: false, transCancelled: true },
    { transCancelled: true },
    { transApproved: undefined },
    { status: "Pending" },
    { amountTrans: 9.99 },
    { amountTrans: -10 },
    { amountTrans: undefined },
    { transCurrencyCode: "USD" },
    { transCurrencyCode: "826" },
    { uti: undefined },
    { reference: "A-2" },
  ])
    expect([changes, await isPaid(record(changes))]).toEqual([changes, [200, false]]);
  const twice = record({ reference: "INV-1001" });
  expect([await send(twice), await send(twice)]).toEqual([200, 200]);
  expect(await isPaid(record({ reference: "INV-1001" }))).toEqual([200, false]);
  expect(await booked()).toHaveLength(10 + 1);
  for (const isRestFirst of [false, true]) {
    const reference = numbers.pop();
    const part = record({ reference, transPartiallyApproved: true, amountTrans: 4 });
    const rest = record({ reference, amountTrans: 6 });
    const [first, last] = isRestFirst ? [rest, part] : [part, rest];
    await send(first);
    expect((await booked()).filter(([order]) => order === reference)).toEqual([]);
    await send(last);
    expect((await booked()).filter(([order]) => order === reference)).toHaveLength(1);
  }
});

it("has a shop whose books pass check with orders that it knows", async () => {
  const home = await writeShop("0");
  const orders = ["O-1", "O-2", "O-3", "O-4", "O-5"];
  const shop = await startShop(home, orders);
  const lines = ["order,amount,currency", ...orders.map((number) => `${number},10,EUR`), ""];
  writeFileSync(join(home, "orders.csv"), lines.join("\n"));
  writeFileSync(join(home, "key.pem"), KEYS.privatePem);
  const books = `"${process.execPath}" -e "fetch('${shop}/books').then((r) => r.text()).then(console.log)"`;
  const flags = [
    "--orders",
    join(home, "orders.csv"),
    "--books",
    books,
    "--sign-with",
    join(home, "key.pem"),
  ];
  const { code, stderr, stdout } = await runPaylink(["check", `${shop}/webhooks/paylink`, ...flags], {
    home,
  });
  expect({ code, stderr }).toMatchObject({ code: 0 });
  // Three of them get a wrong payment alone.
  expect(stdout).toMatch(/✓ books: 2 of \d+ orders are booked, each as it was paid/);
});

it("takes the shop of the README through a real payment and every forgery", async () => {
  const port = await freePort();
  const home = await writeShop(port);
  symlinkSync(fileURLToPath(new URL("../../bin/paylink.js", import.meta.url)), join(home, "paylink"));
  expect(README).toContain("paylink test -f 3000/webhooks/paylink -- node --test`");
  const env = { PATH: `${home}${delimiter}${process.env["PATH"] ?? ""}` };
  const target = `${port}/webhooks/paylink`;
  const args = ["test", "-f", target, "--", process.execPath, "--test", join(home, "shop.test.mjs")];
  const { code, stdout, stderr } = await runPaylink(args, { home, env });
  expect({ code, stderr }).toMatchObject({ code: 0 });
  for (const passed of [
    "an order is paid when its webhook says so",
    "nothing forged, altered or stale is believed",
  ])
    expect(stdout).toContain(passed);
});

it("shows what a lost answer really prints", async () => {
  const [, , command = "", ...said] = readmeBlock("console", "$ paylink check").trim().split("\n");
  const [, , ...args] = command.replace("-- paylink", `-- ${BINARY}`).split(" ");
  const { code, stderr } = await runPaylink(args, { home: temporaryHome() });
  expect(code).toBe(6);
  const atAnyTime = (text: string): string =>
    text.replace(/127\.0\.0\.1:\d+/g, "127.0.0.1").replace(/\d{4}-\d\d-\d\dT\d\d:\d\dZ/g, "<time>");
  expect(atAnyTime(stderr)).toContain(atAnyTime(said.join("\n")));
});

/** Blocks that other tests run: those of this file, and test/package. */
const RUN_ELSEWHERE = [
  "$ npm ci && npm run demo",
  "$ paylink reconcile --since 1d",
  '$ paylink check 3137 --books "cat booked.csv"',
  SHOP,
  "// shop.test.mjs",
];

/** What a program prints when it is ready. */
const GOES_ON = /^(?:20\S+ \S+ \S+ info )?(?:Listening|Sandbox) on .*$/m;

it("runs every other block in the order given", async () => {
  const home = temporaryHome();
  const shell = openShell(home);
  const service = await startDocumentedService();
  copyFileSync(service.keyFile, join(shell.cwd, "service.pem"));
  const application = createServer((_, response) => response.end());
  const listenPort = await freePort();
  const ports: Readonly<Record<string, string>> = {
    4000: listenPort,
    3000: String(await listenOnFreePort(application)),
  };
  const staged = (text: string): string =>
    text
      .replace(/\b(?:4000|3000)\b/g, (port) => ports[port] ?? port)
      .replace(/^paylink listen(?!.*--port)/, `paylink listen --port ${listenPort}`)
      .replace(/^paylink sandbox$/m, "paylink sandbox --port 0")
      // The tests of PostgreSQL use a server of their own.
      .replace(/postgres:\S+/, join(home, "shared.db"))
      .replace("forward.pem", join(home, "forward.pem"))
      .replace(
        /--service dna-test [^]*?--client-secret-stdin/,
        service.login.join(" ").replace("Ada Lovelace", "'Ada Lovelace'"),
      );
  let listener: Running | undefined;
  const ran: string[] = [];
  for (const { language, text } of readmeBlocks()) {
    const [first = ""] = text.split("\n");
    if (RUN_ELSEWHERE.includes(first)) continue;
    if (/^paylink (?:listen|sandbox)\b/.test(first)) {
      if (first.startsWith("paylink listen")) await listener?.stop();
      const [, ...args] = staged(text.trim()).split(" ");
      const program = startPaylink(args, { home });
      await program.until(GOES_ON);
      if (first.startsWith("paylink listen")) listener = program;
      else
        for (const key of ["callbackUrl", "failureCallbackUrl"])
          await runStep(["config", "set", key, `http://127.0.0.1:${listenPort}/`], { home });
    } else {
      expect(language).toBe("sh");
      const { code, stdout, stderr } = await shell.run(`set -e\n${staged(text)}`, {
        env: { SECRET: CLIENT.secret },
      });
      expect({ text, code, said: code === 0 ? "" : stdout + stderr }).toEqual({ text, code: 0, said: "" });
    }
    ran.push(first);
  }
  expect(ran).toHaveLength(readmeBlocks().length - RUN_ELSEWHERE.length);
  expect(ran.length).toBeGreaterThan(5);
});
