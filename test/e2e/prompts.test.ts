/** Prompts as a person at a terminal sees them, on a real pseudo-terminal. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { temporaryHome } from "../support/home.ts";
import { runPaylink, startPaylink, startSandbox } from "../support/paylink.ts";
import { CTRL_C, DOWN, ENTER, openScreen, UP } from "../support/screen.ts";
import { keyFile } from "../support/keys.ts";

async function homeWithSandbox(): Promise<{ home: string; url: string }> {
  const home = temporaryHome();
  return { home, url: await startSandbox(home) };
}

describe("create, in a terminal", () => {
  it("asks for what is missing, checks each answer, shows the link and creates it", async () => {
    const { home } = await homeWithSandbox();
    await runPaylink(["config", "unset", "currency"], { home });
    const screen = openScreen(["create"], { home });
    await screen.until(/What kind of link\?/);
    screen.type(ENTER);
    await screen.until(/\? Amount/);
    screen.type(`10,5${ENTER}`);
    await screen.until(/plain decimal of 0 or more, such as 10\.5/);
    screen.type(`${"\u007f".repeat(4)}10.5${ENTER}`);
    await screen.until(/\? Currency/);
    screen.type(`JPY${ENTER}`);
    await screen.until(/Amount must have no decimals in JPY/);
    // What is pasted below the answer answers no other question.
    screen.type(`${"\u007f".repeat(3)}GBP${ENTER}USD${ENTER}`);
    await screen.until(/\? Order number, or Enter to skip/);
    screen.type(ENTER);
    await screen.until(/\? Description, or Enter to skip/);
    screen.type(ENTER);
    await screen.until(/Create this link\?/);
    expect(screen.text()).toMatch(/kind +one-time\n/);
    expect(screen.text()).toMatch(/profile sandbox · 127\.0\.0\.1:\d+ · sandbox/);
    expect(screen.text()).not.toMatch(/description +/);
    screen.type(`${DOWN}${ENTER}`);
    await screen.until(/❯ Amount: 10\.5/);
    screen.type(UP);
    await screen.until(/❯ Description: –/);
    screen.type(DOWN);
    await screen.until(/❯ Amount: 10\.5/);
    screen.type(DOWN);
    await screen.until(/❯ Currency: GBP/);
    screen.type(DOWN);
    await screen.until(/❯ Order number: –/);
    screen.type(ENTER);
    await screen.until(/Order number: –\n\? Order number, or Enter to skip *$/);
    screen.type(`INV-7${ENTER}`);
    await screen.until(/order number +INV-7\n[^]*Create this link\?/);
    screen.type(ENTER);
    expect(await screen.ended).toBe(0);
    expect(screen.text()).toMatch(
      /http:\/\/127\.0\.0\.1:\d+\/pay\?r=\S+\n +status +active\n +amount +GBP 10\.50/,
    );
    expect(screen.text()).toMatch(/To pay it as the customer: paylink pay .http/);
  });

  it("leaves the terminal as it was when it is interrupted, and sends nothing", async () => {
    const home = temporaryHome();
    const sandbox = startPaylink(["sandbox", "--port", "0", "--json"], { home });
    await sandbox.until(/"type":"dashboard".*\n/);
    const before = sandbox.stdout();
    const shell = 'stty -g; "$0" "$1" create; code=$?; stty -g; echo "ended $code"';
    const screen = openScreen([], { home, shell });
    await screen.until(/What kind of link\?/);
    screen.type(ENTER);
    await screen.until(/Amount/);
    screen.type(CTRL_C);
    await screen.until(/ended 130/);
    await screen.ended;
    const modes = screen.text().match(/^[0-9a-f]+(?::[0-9a-f]+){10,}$/gm) ?? [];
    expect(modes).toHaveLength(2);
    expect(modes[0]).toBe(modes[1]);
    expect(screen.raw().lastIndexOf("\u001b[?25h")).toBeGreaterThanOrEqual(
      screen.raw().lastIndexOf("\u001b[?25l"),
    );
    expect(sandbox.stdout()).toBe(before);
  });

  it("is interrupted at the end of the input, Ctrl-D, and sends nothing", async () => {
    const { home } = await homeWithSandbox();
    const screen = openScreen(["create"], { home });
    await screen.until(/What kind of link\?/);
    screen.type(ENTER);
    await screen.until(/\? Amount/);
    screen.type("\u0004");
    expect(await screen.ended).toBe(130);
  });

  it.each([
    ["--no-input", ["create", "--no-input"], {}],
    ["CI", ["create"], { CI: "true" }],
    ["a coding agent", ["create"], { CLAUDECODE: "1" }],
    ["--json", ["create", "--json"], {}],
  ])("asks nothing with %s, and names everything that is missing", async (_, args, env) => {
    const home = temporaryHome();
    const service = { PAYLINK_BASE_URL: "http://127.0.0.1:1", PAYLINK_TOKEN: "token-1", ...env };
    const screen = openScreen(args, { home, env: service });
    expect(await screen.ended).toBe(2);
    for (const flag of ["--amount", "--currency", "--terminal-id", "--customer-name"])
      expect(screen.raw().replaceAll(/\s/g, "")).toContain(flag);
  });
});

describe("login, in a terminal", () => {
  it("asks for the account, never shows the token, and the account works", async () => {
    const { home, url } = await homeWithSandbox();
    const { profiles } = JSON.parse(readFileSync(`${home}/settings.json`, "utf8")) as {
      profiles: { sandbox: { token: string } };
    };
    const { token } = profiles.sandbox;
    const screen = openScreen(["login", "-p", "shop"], { home });
    await screen.until(/Which service do you use\?/);
    screen.type(`${DOWN}${DOWN}${ENTER}`);
    await screen.until(/base URL/);
    screen.type(`http://shop.example${ENTER}`);
    await screen.until(/must be https/);
    screen.type(`\u0015${url}${ENTER}`);
    await screen.until(/Terminal/);
    screen.type(`1234567890${ENTER}`);
    await screen.until(/Currency/);
    screen.type(`EUR${ENTER}`);
    await screen.until(/Customer/);
    screen.type(`Ada${ENTER}`);
    await screen.until(/Callback URL/);
    screen.type(ENTER);
    await screen.until(/webhook key/);
    screen.type(ENTER);
    await screen.until(/How do you want to authenticate\?/);
    screen.type(ENTER);
    await screen.until(/Access token/);
    screen.type(`${token}${ENTER}`);
    await screen.until(/Make shop .* the current profile\?/s);
    screen.type(`y${ENTER}`);
    expect(await screen.ended).toBe(0);
    expect(screen.text()).toContain("Logged in: profile shop");
    expect(screen.raw()).not.toContain(token);
    const status = await runPaylink(["status", "--json"], { home });
    expect(status.code).toBe(0);
    expect(JSON.parse(status.stdout)).toMatchObject({ profile: "shop", ok: true });
    for (const args of [["--amount", "10", "--currency", "EUR"], ["--reusable"]]) {
      const created = await runPaylink(["create", ...args], { home });
      expect(created.code).toBe(0);
      expect(created.stdout).toMatch(/^ {2}profile shop · 127\.0\.0\.1:\d+ · LOCAL$/m);
    }
  });
});

describe("test, in a terminal", () => {
  it("passes Ctrl-C to the command once", async () => {
    // It runs for as long as a second signal could need to arrive.
    const program = `let count = 0; process.on("SIGINT", () => { console.log("signalled", ++count);
      setTimeout(() => process.exit(3), 500); }); setInterval(() => {}, 1000); console.log("up");`;
    const screen = openScreen(["test", "--", process.execPath, "-e", program], { home: temporaryHome() });
    await screen.until(/up/);
    screen.type(CTRL_C);
    expect(await screen.ended).toBe(130);
    expect(screen.text()).toContain("signalled 1");
    expect(screen.text()).not.toContain("signalled 2");
  });
});

it.each([
  ["login --base-url http://127.0.0.1:1 --token-stdin", "tok", /--terminal-id +is required/],
  ["create --from -", '{"amount": 10}', /--currency|No account configured/],
])("reads stdin after saying so, and does not ask afterwards: %s", async (args, typed, words) => {
  const screen = openScreen(args.split(" "), { home: temporaryHome() });
  await screen.until(/Reading from stdin; Ctrl-D to end/);
  screen.type(`${typed}\n\u0004`);
  await screen.until(words);
  expect([2, 3]).toContain(await screen.ended);
  expect(screen.text()).not.toContain("?");
});

it("says that a command reads stdin, and ends it at Ctrl-C", async () => {
  const home = temporaryHome();
  const screen = openScreen(["verify", "--key", keyFile(home)], { home });
  await screen.until(/Reading from stdin; Ctrl-D to end/);
  screen.type(CTRL_C);
  expect(await screen.ended).toBe(130);
});
