/** `paylink create`, in process: every flag, every problem at once, prompts, what is printed and each exit code. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { SYSTEM_TIMERS } from "../../src/values/timers.ts";
import { ACCOUNT, answering, CREATE, never } from "../support/account.ts";
import { runCommand, type CommandOptions } from "../support/context.ts";
import { fixedAnswers } from "../support/fixed-answers.ts";
import { temporaryHome } from "../support/home.ts";
import { ANSWER } from "../support/link-request.ts";

const OFFLINE = { env: ACCOUNT, now: () => new Date("2026-01-31T12:00:00Z"), send: never };

async function dryRun(...args: string[]): Promise<unknown> {
  const run = await runCommand(["create", "--dry-run", ...args], OFFLINE);
  expect(run).toMatchObject({ exit: 0, stderr: "" });
  return JSON.parse(run.stdout);
}

/** The problems of a usage error, by place. */
async function problemsOf(
  args: readonly string[],
  options: CommandOptions = {},
): Promise<Record<string, string>> {
  const run = await runCommand([...args, "--json"], { ...OFFLINE, ...options });
  expect(run).toMatchObject({ exit: 2, stdout: "" });
  const { error } = JSON.parse(run.stderr) as {
    error: { message: string; details: { problems: { at: string; message: string }[] } };
  };
  expect(error.message).toContain("Nothing was sent.");
  return Object.fromEntries(error.details.problems.map(({ at, message }) => [at, message]));
}

describe("the request of create", () => {
  const [, ...required] = CREATE;
  const address = "https://a.example/";

  it.each([
    [["--invoice-id", "INV-1"], { invoiceId: "INV-1" }],
    [["--description", "Tea"], { description: "Tea" }],
    [["--custom-data", "table 7"], { merchantCustomData: "table 7" }],
    [["--type", "SALE"], { transactionType: "SALE" }],
    [["--terminal-id", "9"], { terminalId: "9" }],
    [["--expires", "36h"], { expirationDate: expect.stringMatching(/^2026-02-02T00:00:00/) }],
    [["--return-url", address], { paymentSettings: { returnUrl: address } }],
    [["--failure-return-url", address], { paymentSettings: { failureReturnUrl: address } }],
    [["--type", "pre-auth"], { transactionType: "PRE-AUTH" }],
    [["--email", "a@b.example"], { customerDetails: { email: "a@b.example" } }],
    [
      ["--first-name", "A", "--last-name", "L", "--address1", "1", "--address2", "2", "--city", "C"],
      {
        customerDetails: {
          billingAddress: { firstName: "A", lastName: "L", address1: "1", address2: "2", city: "C" },
        },
      },
    ],
    [
      ["--postcode", "P", "--country", "DE"],
      { customerDetails: { billingAddress: { postalcode: "P", country: "DE" } } },
    ],
    [["--reusable", "--max-amount", "50"], { linkOptions: { mode: "REUSABLE_VARIABLE", maxAmount: "50" } }],
    [
      ["--reusable", "--min-amount", "5", "--max-amount", "50", "--reference-mode", "FIXED"],
      { linkOptions: { minAmount: "5", maxAmount: "50", paymentReferenceMode: "FIXED" } },
    ],
  ])("holds %j", async (flags, expected) => {
    expect(await dryRun(...required, ...flags)).toMatchObject({ amount: 10, currency: "EUR", ...expected });
  });

  it.each(["--mode", "--min-amount", "--max-amount", "--reference-mode"])(
    "has the options of a reusable link only with --reusable: %s",
    async (flag) => {
      const value = flag.endsWith("mode") ? "FIXED" : "10";
      for (const command of [CREATE, ["bulk", "-", ...required]])
        expect(await problemsOf([...command, flag, value], { stdin: "amount\n10\n" })).toEqual({
          [flag]: "has no effect without --reusable",
        });
    },
  );

  it("warns of a type that the specification does not have", async () => {
    const { exit, stdout, stderr } = await runCommand([...CREATE, "--dry-run", "--type", "SAIL"], OFFLINE);
    expect({ exit, ...JSON.parse(stdout) }).toMatchObject({ exit: 0, transactionType: "SAIL" });
    expect(stderr).toContain("--type is sent as it is");
  });

  it.each<[flags: readonly string[], env: Record<string, string>, urls: readonly (string | undefined)[]]>([
    [[], {}, ["https://shop.example/paid", "https://shop.example/failed"]],
    [["--callback-url", "https://a.example/"], {}, ["https://a.example/", "https://a.example/"]],
    [
      ["--callback-url", "https://a.example/", "--failure-callback-url", "https://b.example/"],
      {},
      ["https://a.example/", "https://b.example/"],
    ],
    [
      ["--failure-callback-url", "https://b.example/"],
      {},
      ["https://shop.example/paid", "https://b.example/"],
    ],
    [[], { PAYLINK_CALLBACK_URL: "https://e.example/" }, ["https://e.example/", "https://e.example/"]],
    [["--from", "-"], {}, ["https://base.example/", undefined]],
  ])("sends failed payments where the others go: %j %j", async (flags, env, urls) => {
    const home = temporaryHome();
    for (const [key, path] of [
      ["callbackUrl", "paid"],
      ["failureCallbackUrl", "failed"],
    ] as const)
      await runCommand(["config", "set", key, `https://shop.example/${path}`, "-p", "shop"], { home });
    const run = await runCommand([...CREATE, "--dry-run", ...flags], {
      home,
      env: { ...ACCOUNT, PAYLINK_CALLBACK_URL: "", ...env },
      stdin: '{"paymentSettings":{"callbackUrl":"https://base.example/"}}',
    });
    const { paymentSettings } = JSON.parse(run.stdout) as { paymentSettings: Record<string, string> };
    expect([paymentSettings["callbackUrl"], paymentSettings["failureCallbackUrl"]]).toEqual(urls);
  });

  it("of a subscription is a verification for 0", async () => {
    expect(await dryRun("--currency", "EUR", "--customer-name", "Ada", "--subscription")).toMatchObject({
      amount: 0,
      transactionType: "VERIFICATION",
    });
  });

  it("refuses a misspelled member of --from, and warns of any other unknown one", async () => {
    const path = join(temporaryHome(), "base.json");
    const members = {
      curency: "GBP",
      customer_name: "Ada",
      callbackUrl: "https://a.example",
      linkOptions: { minamount: "5" },
      loyalty: { curency: 1 },
    };
    writeFileSync(path, JSON.stringify(members));
    const problems = await problemsOf(["create", "--from", path, "--amount", "1", "--currency", "EUR"]);
    expect(problems).toMatchObject({
      [`${path}: curency`]: "is not a field; did you mean currency?",
      [`${path}: customer_name`]: "is not a field; did you mean customerName?",
      [`${path}: callbackUrl`]: "is not a field; did you mean paymentSettings.callbackUrl?",
      [`${path}: linkOptions.minamount`]: "is not a field; did you mean linkOptions.minAmount?",
    });
    writeFileSync(path, '{"loyalty":{"curency":1}}');
    const run = await runCommand([...CREATE, "--from", path, "--dry-run"], OFFLINE);
    expect(run.exit).toBe(0);
    expect(run.stderr).toBe(`! ${path}: loyalty is not a field of the specification; it is sent as it is\n`);
    expect(JSON.parse(run.stdout)).toMatchObject({ loyalty: { curency: 1 } });
  });

  it("starts from the file of --from with all its members and digits, and flags override it", async () => {
    const stdin = '{"amount":10.50,"currency":"EUR","customerName":"Ada","__proto__":{"x":1}}';
    const args = ["create", "--from", "-", "--dry-run", "--customer-name", "Bob"];
    const run = await runCommand(args, { ...OFFLINE, stdin });
    expect(run.exit).toBe(0);
    for (const part of ['"amount": 10.50', '"__proto__": {', '"customerName": "Bob"'])
      expect(run.stdout).toContain(part);
  });

  it.each([
    ["Latin-1", Buffer.from('{"customerName":"Jos\u00e9"}', "latin1")],
    ["UTF-16, as PowerShell writes it", Buffer.from('\ufeff{"customerName":"Ada"}', "utf16le")],
  ])("sends nothing from a file of --from in %s", async (_, bytes) => {
    const file = join(temporaryHome(), "request.json");
    writeFileSync(file, bytes);
    const run = await runCommand([...CREATE, "--from", file], OFFLINE);
    expect(run).toMatchObject({ exit: 2, stdout: "" });
    expect(run.stderr).toContain("is not UTF-8 text: save it as UTF-8");
  });

  it("sends no text that has lost letters, as another encoding or a program that cuts emoji leaves it", async () => {
    const lost = "must be UTF-8 text: letters of it were lost in another encoding";
    // Node.js gives an argument in Latin-1 so.
    expect(
      await problemsOf(["create", "--amount", "1", "--currency", "EUR", "--customer-name", "Jos\ufffd"]),
    ).toEqual({
      "--customer-name": `${lost} (got "Jos\ufffd")`,
    });
    const stdin = '{"description":"Tea \\ud83d","customerDetails":{"billingAddress":{"city":"K\ufffdln"}}}';
    expect(await problemsOf([...CREATE, "--from", "-"], { stdin })).toEqual({
      "stdin: description": lost,
      "stdin: customerDetails.billingAddress.city": lost,
    });
  });

  it("reports every problem at once, in the flags and in the file", async () => {
    const stdin = '{"currency": "EUR", "currency": "USD", "description": 7}';
    const args = ["create", "--from", "-", "--amount", "x", "--timeout", "0s", "--expires", "soon"];
    expect(await problemsOf(args, { stdin })).toEqual({
      "--timeout": 'must be more than 0 (got "0s")',
      "stdin: currency": "must not be given twice",
      "--amount": expect.stringContaining("decimal"),
      "--expires": expect.stringContaining("duration"),
      "stdin: customerName": "is required",
      "stdin: description": expect.any(String),
    });
  });

  it.each([
    ["is not JSON", "{", /^stdin .*Nothing was sent\.$/],
    ["is not an object", "[]", /^Nothing was sent\.$/],
  ])("is refused if the file %s", async (_, stdin, message) => {
    const run = await runCommand(["create", "--from", "-", "--json"], { ...OFFLINE, stdin });
    expect(run.exit).toBe(2);
    expect(JSON.parse(run.stderr)).toMatchObject({
      error: { code: "usage", message: expect.stringMatching(message) },
    });
  });

  it("names what is missing if it cannot prompt", async () => {
    expect(Object.keys(await problemsOf(["create"]))).toEqual(["--amount", "--currency", "--customer-name"]);
  });

  it("reports wrong values before the missing account, and no missing values with it", async () => {
    expect(await problemsOf(["create", "--amount", "x"], { env: {} })).toEqual({
      "--amount": expect.any(String),
    });
    for (const args of [
      ["create"],
      ["create", "--reusable"],
      CREATE,
      [...CREATE, "--terminal-id", "1", "--curl"],
    ]) {
      const run = await runCommand(args, { env: {}, send: never });
      expect(run).toMatchObject({ exit: 3, stdout: "" });
      for (const words of ["No account configured.", "paylink sandbox", "paylink login"])
        expect(run.stderr).toContain(words);
    }
  });
});

describe("the warnings of create before it sends", () => {
  const subscription = ["create", "--currency", "EUR", "--customer-name", "Ada", "--subscription"];

  it.each([
    [
      ["--amount", "10"],
      "! --amount is EUR 10.00, but nothing is charged: the service only verifies the card",
    ],
    [["--reusable"], "! --subscription makes every payment through this reusable link start another"],
  ])("say what the service will do with %j, also in a dry run", async (flags, words) => {
    const dry = await runCommand([...subscription, ...flags, "--dry-run"], OFFLINE);
    expect(dry.stderr).toContain(words);
    const sent = await runCommand([...subscription, ...flags], answering(200, ANSWER));
    expect(sent.stderr).toContain(words);
  });
});

describe("the prompts of create", () => {
  const REQUIRED = { Amount: "10.50", Currency: "EUR", Customer: "Ada" };

  it("ask for what is missing, then show a summary to confirm", async () => {
    const service = answering(200, ANSWER);
    const { ask, asked } = fixedAnswers({ texts: REQUIRED });
    const run = await runCommand(["create", "--description", "Tea"], { ...service, ask });
    expect(run.exit).toBe(0);
    expect(service.requests).toMatchObject([
      { body: { amount: 10.5, customerName: "Ada", description: "Tea" } },
    ]);
    expect(asked[0]).toBe("What kind of link?");
    expect(asked.at(-1)).toBe("Create this link?");
    expect(run.stderr).toMatch(/amount +EUR 10\.50\n/);
    expect(run.stderr).toMatch(/description +Tea\n/);
  });

  it.each([
    ["One-time", ["Amount", "Currency", "Customer", "Order number", "Description"]],
    ["Reusable", ["Currency", "Customer", "Order number", "Description"]],
    ["Subscription", ["Currency", "Customer", "Order number", "Description"]],
  ])("ask what a link of this kind needs, and no more: %s", async (choice, questions) => {
    const { ask, asked } = fixedAnswers({ choice, texts: REQUIRED });
    expect((await runCommand(["create"], { ...answering(200, ANSWER), ask })).exit).toBe(0);
    expect(asked.slice(1, -1).map((message) => message.split(",")[0])).toEqual(questions);
  });

  it("do not offer a reusable link with --wait", async () => {
    const { ask, offered } = fixedAnswers({ texts: REQUIRED, interruptAt: "Amount" });
    await runCommand(["create", "--wait"], { ...OFFLINE, ask });
    expect(offered).toEqual(["One-time", "Subscription"]);
  });

  it("let every answer and every default be changed or removed, as often as the user wants", async () => {
    const service = answering(200, ANSWER);
    const { ask, offered } = fixedAnswers({
      choice: "Reusable",
      texts: {
        ...REQUIRED,
        Amount: ["99", "12"],
        Smallest: "5",
        Terminal: "9",
        Expires: "36h",
        Description: ["Tea", ""],
      },
      choices: {
        "Create this link?": [...Array<string>(6).fill("Change an answer"), "Create"],
        "Which answer?": [
          "Amount: 0",
          "Amount: 99",
          "Smallest",
          "Terminal: 1234567890",
          "Expires: –",
          "Description: Tea",
        ],
      },
    });
    expect((await runCommand(["create"], { ...service, now: OFFLINE.now, ask })).exit).toBe(0);
    expect(service.requests.map(({ body }) => body)).toEqual([
      {
        amount: 12,
        currency: "EUR",
        terminalId: "9",
        customerName: "Ada",
        expirationDate: "2026-02-02T00:00:00Z",
        linkOptions: { mode: "REUSABLE_VARIABLE", minAmount: "5" },
        paymentSettings: {
          callbackUrl: ACCOUNT.PAYLINK_CALLBACK_URL,
          failureCallbackUrl: ACCOUNT.PAYLINK_CALLBACK_URL,
        },
      },
    ]);
    expect(offered).toContain("Order number: –");
  });

  it("refuse an answer in the words of the questions", async () => {
    const { ask } = fixedAnswers({ texts: { ...REQUIRED, Currency: "JPY" } });
    const decimals = await runCommand(["create"], { ...OFFLINE, ask });
    expect(decimals.stderr).toContain("Amount must have no decimals in JPY");
    const { ask: change } = fixedAnswers({
      texts: { ...REQUIRED, Terminal: "" },
      choices: { "Create this link?": ["Change"], "Which answer?": ["Terminal"] },
    });
    const env = { ...ACCOUNT, PAYLINK_TERMINAL_ID: "" };
    const removed = await runCommand(["create", "--terminal-id", "1"], { ...OFFLINE, env, ask: change });
    expect(removed.stderr).toContain("It is required.");
  });

  it("read an answer as a flag: without the white space around it, and without control characters", async () => {
    const service = answering(200, ANSWER);
    const texts = { ...REQUIRED, Order: " INV-7 ", Description: "Tea\tand cake" };
    const { ask } = fixedAnswers({ texts });
    expect((await runCommand(["create"], { ...service, ask })).exit).toBe(0);
    expect(service.requests[0]?.body).toMatchObject({ invoiceId: "INV-7", description: "Tea\tand cake" });
    const { ask: withTab } = fixedAnswers({ texts: { ...REQUIRED, Order: "INV\t7" } });
    const refused = await runCommand(["create"], { ...OFFLINE, ask: withTab });
    expect(refused.stderr).toContain("It must not have a line end or another control character inside.");
    const { ask: blank } = fixedAnswers({ texts: { ...REQUIRED, Order: "  " } });
    const skipped = answering(200, ANSWER);
    expect((await runCommand(["create"], { ...skipped, ask: blank })).exit).toBe(0);
    expect(skipped.requests[0]?.body).not.toHaveProperty("invoiceId");
  });

  it("show the warnings with the summary, once", async () => {
    const { ask } = fixedAnswers({ texts: REQUIRED });
    const run = await runCommand(["create", "--type", "SAIL"], { ...answering(200, ANSWER), ask });
    expect(run.exit).toBe(0);
    expect(run.stderr.split("! Transaction type is sent as it is")).toHaveLength(2);
  });

  it("edit what the file of --from gives, and keep its other members as they are", async () => {
    const path = join(temporaryHome(), "base.json");
    writeFileSync(path, '{"currency":"EUR","description":"Tea","linkOptions":{"minAmount":5.00}}');
    const service = answering(200, ANSWER);
    const { ask, asked } = fixedAnswers({
      texts: { ...REQUIRED, Description: "Coffee" },
      choices: {
        "Create this link?": ["Change", "Change", "Create"],
        "Which answer?": ["Description: Tea", "Smallest amount: 5.00"],
      },
    });
    const run = await runCommand(["create", "--from", path], { ...service, ask });
    expect(run.exit).toBe(0);
    expect(service.requests[0]?.body).toMatchObject({ description: "Coffee", linkOptions: { minAmount: 5 } });
    expect(asked).not.toContain("What kind of link?");
  });

  it("send nothing if the summary is declined", async () => {
    const { ask } = fixedAnswers({ texts: REQUIRED, choices: { "Create this link?": ["Cancel"] } });
    const run = await runCommand(["create"], { ...OFFLINE, ask });
    expect(run).toMatchObject({
      exit: 0,
      stdout: "",
      stderr: expect.stringMatching(/Nothing was done\.\n$/),
    });
  });

  it("send nothing at Ctrl-C", async () => {
    for (const answers of [{ interruptAt: "Currency" }, { interruptAt: "Create this link?" }]) {
      const { ask } = fixedAnswers({ texts: REQUIRED, ...answers });
      const run = await runCommand(["create"], { ...OFFLINE, ask });
      expect(run).toMatchObject({ exit: 130, stdout: "" });
    }
  });

  it("do not ask about a request with mistakes", async () => {
    const { ask, asked } = fixedAnswers();
    const run = await runCommand(["create", "--timeout", "soon"], { ...OFFLINE, ask });
    expect(run.exit).toBe(2);
    expect(asked).toEqual([]);
  });

  it("print the request of a dry run, and send nothing", async () => {
    const { ask, asked } = fixedAnswers({ choice: "Reusable", texts: { Currency: "EUR", Customer: "Ada" } });
    const run = await runCommand(["create", "--dry-run"], { ...OFFLINE, ask });
    expect(run.exit).toBe(0);
    expect(JSON.parse(run.stdout)).toMatchObject({ amount: 0, linkOptions: { mode: "REUSABLE_VARIABLE" } });
    expect(asked.at(-1)).toBe("Print this request?");
    expect(asked).not.toContain("Create this link?");
  });
});

describe("the link of create", () => {
  it("is printed as a card, with a QR code only if --qr asks for it", async () => {
    const card = await runCommand(CREATE, answering(200, ANSWER));
    expect(card.stdout).toMatch(/^https:\/\/pay\.example\/checkout\?r=L1\n +status +active\n/);
    const withCode = await runCommand([...CREATE, "--qr"], answering(200, ANSWER));
    expect(withCode.stdout.startsWith(card.stdout)).toBe(true);
    expect(withCode.stdout).toContain("█");
  });

  it("and the summary to confirm name the service", async () => {
    const { ask } = fixedAnswers({ texts: { Customer: "Ada" } });
    const env = { ...ACCOUNT, PAYLINK_BASE_URL: "https://test-api.dnapayments.com" };
    const args = ["create", "--amount", "10", "--currency", "EUR"];
    const run = await runCommand(args, { ...answering(200, ANSWER), env, ask });
    const name = "no profile · test-api.dnapayments.com · TEST";
    expect(run.stdout.trimEnd().split("\n").at(-1)).toBe(`  ${name}`);
    expect(run.stderr).toContain(`\n  ${name}\n`);
  });

  it.each([
    ['{"mode":"REUSABLE_VARIABLE"}', "any amount"],
    ['{"mode":"REUSABLE_VARIABLE","minAmount":"5.00","maxAmount":500}', "EUR 5.00 to EUR 500.00"],
    ['{"mode":"REUSABLE_VARIABLE","minAmount":5}', "at least EUR 5.00"],
    ['{"mode":"REUSABLE_VARIABLE","maxAmount":500}', "at most EUR 500.00"],
    ['{"minAmount":5}', "any amount"],
  ])("shows what a customer of a reusable link may pay: %s", async (linkOptions, words) => {
    const answer = ANSWER.replace('"amount": 10.00', `"amount":0,"linkOptions":${linkOptions}`);
    const run = await runCommand([...CREATE, "--reusable"], answering(200, answer));
    expect(run.stdout).toMatch(new RegExp(`^ +amount +${words}$`, "m"));
  });

  it("says that the customer can change the amount of a reusable link, and warns where nothing bounds it", async () => {
    const reusable = (bounds: string) =>
      ANSWER.replace('"id"', `"linkOptions":{"mode":"REUSABLE_VARIABLE"${bounds}},"id"`);
    const free = await runCommand([...CREATE, "--reusable"], answering(200, reusable("")));
    expect(free.stdout).toMatch(/^ +amount +EUR 10\.00, the customer can change it$/m);
    expect(free.stderr).toMatch(/^! --amount is only filled in: .* --min-amount and --max-amount limit it$/m);
    const bounded = await runCommand(
      [...CREATE, "--reusable", "--max-amount", "50"],
      answering(200, reusable(',"maxAmount":"50"')),
    );
    expect(bounded.stdout).toMatch(/ EUR 10\.00, the customer can change it \(at most EUR 50\.00\)$/m);
    expect(bounded.stderr).not.toContain("is only filled in");
  });

  it.each([
    ["amount", '"amount": 10.00', '"amount": 1000.00'],
    ["currency", '"currency":"EUR"', '"currency":"USD"'],
    ["terminal", '"terminalId":"1234567890"', '"terminalId":"9"'],
  ])("must not be passed on if its %s is not the one that was sent", async (_, sent, other) => {
    const advice = "do not pass it on. To cancel it: paylink links cancel L1";
    const right = await runCommand(CREATE, answering(200, ANSWER));
    expect(right.stderr).not.toContain("do not pass it on");
    for (const flag of ["--quiet", "--json"]) {
      const run = await runCommand([...CREATE, flag], answering(200, ANSWER.replace(sent, other)));
      expect(run.exit).toBe(0);
      expect(run.stderr.replace(/\s+/g, " ")).toContain(advice);
    }
  });

  it.each([
    [401, [], "Check the token and the terminal: PAYLINK_TOKEN"],
    [403, [], "Check the terminal: PAYLINK_TERMINAL_ID"],
    [403, ["--terminal-id", "9"], "Check the terminal: --terminal-id"],
    [404, [], "Check the address of the service: PAYLINK_BASE_URL"],
  ])(
    "is not made after %i %j, and the advice names what decides, not the profile",
    async (status, flags, advice) => {
      const { stderr } = await runCommand([...CREATE, ...flags], answering(status));
      expect(stderr).toContain(advice);
    },
  );

  it("is right whatever the case of its currency, in the request or in the answer", async () => {
    const lower = await runCommand(CREATE, answering(200, ANSWER.replace('"EUR"', '"eur"')));
    const stdin = '{"amount":10,"currency":"eur","customerName":"Ada Lovelace"}';
    const asSpelled = await runCommand(["create", "--from", "-"], { ...answering(200, ANSWER), stdin });
    for (const { exit, stderr } of [lower, asSpelled]) {
      expect(exit).toBe(0);
      expect(stderr).not.toContain("as sent");
      expect(stderr).not.toContain("do not pass it on");
    }
  });

  it("exists even if it cannot be opened, which is a warning", async () => {
    const run = await runCommand([...CREATE, "-q", "--open"], answering(200, ANSWER));
    expect(run.exit).toBe(0);
    expect(run.stderr).toMatch(/! The link was created, but could not be opened: /);
    const json = await runCommand([...CREATE, "--json", "--open"], answering(200, ANSWER));
    expect(json.stdout).toBe(`${ANSWER}\n`);
    expect(JSON.parse(json.stderr)).toMatchObject({
      warnings: expect.arrayContaining([expect.stringContaining("could not be opened")]),
    });
  });

  it.each([
    '{"id":"L1","callbackUrl":"https://shop.example/hook"}',
    '{"id":"L1","url":"/checkout?r=L1"}',
    '{"id":"L1","url":"file://etc/checkout?r=L1"}',
    `{"a":{"b":${ANSWER}}}`,
    `[${ANSWER}]`,
    '{"error":null,"data":{"id":"L1","checkoutUrl":"https://pay.example/checkout?r=L1"}}',
    '{"a":{"url":"https://pay.example/checkout?r=L1"},"b":{"url":"https://pay.example/checkout?r=L2"}}',
    '{"code":0,"message":"OK"}',
    "<html>",
  ])("may exist if the answer has no URL, and the whole answer is shown: %s", async (answer) => {
    for (const flags of [[], ["-q"]]) {
      const run = await runCommand([...CREATE, ...flags], answering(200, answer));
      expect(run).toMatchObject({ exit: 6, stdout: "" });
      expect(run.stderr).toContain(answer);
    }
    const json = await runCommand([...CREATE, "--json"], answering(200, answer));
    expect(json).toMatchObject({ exit: 6, stdout: "" });
    expect(JSON.parse(json.stderr)).toMatchObject({
      error: { code: "outcome_unknown", details: { body: answer } },
    });
  });

  it.each([
    [[], 30_000],
    [["--timeout", "1500ms"], 1500],
    // More than a timer can count: it would fire at once, with the link perhaps created.
    [["--timeout", "30d"], 2 ** 31 - 1],
  ])("is given %j to arrive: %i ms", async (flags, timeout) => {
    const service = answering(200, ANSWER);
    await runCommand([...CREATE, ...flags], { ...service, timers: { ...SYSTEM_TIMERS, elapsed: () => 0 } });
    expect(service.requests.map((request) => request.timeout)).toEqual([timeout]);
  });
});
