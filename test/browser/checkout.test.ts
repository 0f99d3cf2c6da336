/** The checkout in a real browser: each kind of link paid, without JavaScript, refused forms, and the way back. */
import { createServer, request as httpRequest, type ServerResponse } from "node:http";
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { violationsOn } from "../support/accessibility.ts";
import {
  startListenCommand,
  startSandboxCommand,
  type ServingCommand,
} from "../support/background-command.ts";
import { hasBrowser, useBrowser } from "../support/browser.ts";
import { temporaryHome } from "../support/home.ts";
import { createLink } from "../support/sandbox-link.ts";
import { listenOnFreePort } from "../support/ports.ts";

const DECLINED = /4000 0000 0000 0002/;
const APPROVED = /4111 1111 1111 1111/;

const IN_A_WEEK = new Date(Date.now() + 7 * 86_400_000).toISOString();
const oneTime = (changes: object = {}) => ({
  amount: 10,
  expirationDate: IN_A_WEEK,
  linkOptions: undefined,
  ...changes,
});
const SUBSCRIPTION = oneTime({
  amount: 0,
  transactionType: "VERIFICATION",
  periodic: { periodicType: "ucof", sequenceType: "initial" },
});

const LONG_WORD = "Donaudampfschifffahrtsgesellschaftskapitän".repeat(6);
const LONG = oneTime({
  amount: 12345678901234.5,
  invoiceId: LONG_WORD,
  customerName: "عمر الخيام",
  description: `رباعيات عمر الخيام ${LONG_WORD}`,
});

interface Shop {
  readonly url: string;
  readonly listen: ServingCommand;
  /** Returns the address of the new link. */
  readonly create: (changes?: Readonly<Record<string, unknown>>) => Promise<string>;
}

async function openShop(): Promise<Shop> {
  const home = temporaryHome();
  const sandbox = await startSandboxCommand(home);
  const listen = await startListenCommand(home, "-p", "sandbox");
  const paymentSettings = { callbackUrl: listen.url, failureCallbackUrl: listen.url };
  const create: Shop["create"] = async (changes = {}) =>
    (await createLink(sandbox.url, { paymentSettings, ...changes })).url;
  return { url: sandbox.url, listen, create };
}

const entries = async (page: Page, values: Readonly<Record<string, string>>): Promise<void> => {
  for (const [label, value] of Object.entries(values)) await page.getByLabel(label).fill(value);
};

const CARD = {
  "Card number": "4111 1111 1111 1111",
  Expiry: "12/49",
  "Security code": "123",
  "Name on the card": "Ada Lovelace",
};

/** The message of a receipt: the form too has a status, for what happens to it. */
const result = (page: Page): Promise<string | null> => page.getByRole("status").locator("h1").textContent();

const widthOf = (page: Page): Promise<unknown> => page.evaluate("document.documentElement.scrollWidth");

// Off linux-x64 no browser is packaged: PAYLINK_CHROMIUM names one there.
describe.skipIf(!hasBrowser)("the checkout in Chromium", () => {
  const openPage = useBrowser();

  it("pays each kind of link without JavaScript, and listen verifies each record", async () => {
    const { listen, create } = await openShop();
    const page = await openPage({ javaScriptEnabled: false });
    const elsewhere: string[] = [];
    page.on("request", (request) => {
      if (!/^(?:http:\/\/127\.0\.0\.1:|data:)/.test(request.url())) elsewhere.push(request.url());
    });

    await page.goto(await create(oneTime({ amount: 1234.5, invoiceId: "INV-1" })));
    await entries(page, CARD);
    await page.getByRole("button", { name: "Pay EUR 1,234.50" }).click();
    expect(await result(page)).toBe("Payment approved");
    expect(await page.getByText("•••• 1111").count()).toBe(1);
    await listen.until(/"transApproved":true.*"reference":"INV-1"/);

    await page.goto(await create({ invoiceId: "GIFT" }));
    await entries(page, { Amount: "25,50" });
    await page.getByRole("button", { name: DECLINED }).click();
    expect(await page.getByRole("alert").textContent()).toContain("Your card was declined");
    await listen.until(/"transApproved":false,.*"amountTrans":25\.50,.*"reference":"GIFT-/);
    expect(await page.getByLabel("Amount").inputValue()).toBe("25,50");
    await page.getByRole("button", { name: APPROVED }).click();
    expect(await result(page)).toBe("Payment approved");

    await page.goto(await create({ ...SUBSCRIPTION, invoiceId: "SUB-1" }));
    await entries(page, { ...CARD, "Card number": "4111 1111 1111 1111" });
    await page.getByRole("button", { name: "Verify card" }).click();
    expect(await result(page)).toBe("Card verified");
    await listen.until(/"transType":"VERIFICATION".*"reference":"SUB-1"/);

    await page.goto(await create(oneTime({ invoiceId: "NO-1" })));
    await entries(page, { "Card number": "1" });
    await page.getByRole("button", { name: "Cancel payment" }).click();
    expect(await result(page)).toBe("Payment cancelled");
    await listen.until(/"transCancelled":true.*"reference":"NO-1"/);
    expect(elsewhere).toEqual([]);
  });

  it("takes one payment for a double click and a reload", async () => {
    const { create, listen } = await openShop();
    const page = await openPage();
    const link = await create({ invoiceId: "ONCE" });
    await page.goto(link);
    await entries(page, { ...CARD, Amount: "7" });
    await page.getByRole("button", { name: "Pay", exact: true }).dblclick();
    await page.waitForURL(/result/);
    const receipt = page.url();
    const reference = await page.getByText(/ONCE-/).textContent();
    await page.reload();
    expect(await page.getByText(/ONCE-/).textContent()).toBe(reference);
    expect(page.url()).toBe(receipt);
    await listen.until(/ONCE-/);
    expect(listen.stdout().match(/"type":"event"/g)).toHaveLength(1);
  });

  it("returns to a merchant that redirects to another origin", async () => {
    const { create } = await openShop();
    const thanks = await serveShop(() => undefined);
    const shop = await serveShop(() => `http://localhost:${thanks}/thanks`);
    const returnUrl = `http://127.0.0.1:${shop}/return`;
    const page = await openPage();
    await page.goto(await create(oneTime({ paymentSettings: { returnUrl } })));
    await page.getByRole("button", { name: APPROVED }).click();
    await page.waitForURL(/\/pay\/result/);
    expect(await result(page)).toBe("Payment approved");
    await page.getByRole("link", { name: "Return to Sandbox Merchant" }).click();
    await page.waitForURL(/\/thanks$/);
  });

  it("has two columns from 768 pixels, and one below", async () => {
    const { create } = await openShop();
    const page = await openPage();
    await page.goto(await create(oneTime()));
    const left = async (selector: string): Promise<number> =>
      (await page.locator(selector).boundingBox())?.x ?? NaN;
    await page.setViewportSize({ width: 768, height: 900 });
    expect(await left("form")).toBeGreaterThan(300);
    await page.setViewportSize({ width: 767, height: 900 });
    expect(await left("form")).toBe(await left(".summary"));
  });

  it("groups a number as on the card, names its scheme, and checks each field that is left", async () => {
    const { create } = await openShop();
    const page = await openPage();
    await page.goto(await create({ linkOptions: { mode: "REUSABLE_VARIABLE", minAmount: "5" } }));
    const number = page.getByLabel("Card number");
    await number.pressSequentially("4111111111111112");
    expect(await number.inputValue()).toBe("4111 1111 1111 1112");
    expect(await page.locator(".suffix").textContent()).toBe("Visa");
    await number.press("Tab");
    await page.getByText("The card number is not valid: check its digits.").waitFor();
    expect(await number.getAttribute("aria-invalid")).toBe("true");
    // Digits in the middle, where the caret stays.
    await number.fill("");
    await number.pressSequentially("37822246310005");
    for (const key of ["Home", ...Array<string>(4).fill("ArrowRight"), "9", "Backspace", "8"])
      await number.press(key);
    expect(await number.inputValue()).toBe("3782 822463 10005");
    expect(await page.locator(".suffix").textContent()).toBe("Amex");
    await page.getByLabel("Expiry").pressSequentially("1220");
    expect(await page.getByLabel("Expiry").inputValue()).toBe("12/20");
    await page.getByLabel("Security code").fill("123");
    await page.getByLabel("Amount").fill("4");
    await page.getByLabel("Amount").press("Tab");
    for (const problem of [
      "The expiry date is in the past.",
      "The security code must be the 4 digits on the front of the card.",
      "The amount must be at least EUR 5.00.",
    ])
      await page.getByText(problem).waitFor();
    expect(await page.getByText("is missing").count()).toBe(0);
    expect(await number.getAttribute("aria-invalid")).toBeNull();
    expect(await violationsOn(page)).toEqual([]);
  });

  it("can be paid by keyboard alone: refused, declined, approved", async () => {
    const { create } = await openShop();
    const page = await openPage();
    await page.goto(await create(oneTime({ amount: 10, invoiceId: "KEYS" })));
    const type = async (...texts: readonly string[]): Promise<void> => {
      for (const text of texts) {
        await page.keyboard.press("Tab");
        await page.keyboard.type(text);
      }
    };
    const focused = (): Promise<unknown> => page.evaluate("document.activeElement.id");
    await page.keyboard.press("Tab");
    expect(await focused()).toBe("number");
    await page.keyboard.type("4000000000000002");
    await type("1249", "123");
    await page.keyboard.press("Enter");
    await page.getByText("Nothing was paid. Please correct this:").waitFor();
    expect([await focused(), await page.title()]).toEqual(["name", "Error: Pay – Sandbox Merchant"]);
    await page.keyboard.type("Ada Lovelace");
    await page.keyboard.press("Shift+Tab");
    await page.keyboard.type("123");
    await page.keyboard.press("Enter");
    await page.getByText("Your card was declined").waitFor();
    expect(await focused()).toBe("number");
    expect(await page.getByLabel("Name on the card").inputValue()).toBe("Ada Lovelace");
    await page.keyboard.type("4111111111111111");
    await type("1249", "123");
    await page.keyboard.press("Enter");
    // The work, and then a tick.
    await page.locator('button[data-state="done"]').waitFor();
    expect(await page.locator("#progress").textContent()).toBe("Payment approved");
    await page.waitForURL(/result/);
    expect(await result(page)).toBe("Payment approved");
  });

  it("says that the sandbox does not answer, and pays when it answers again", async () => {
    const { create } = await openShop();
    const page = await openPage();
    await page.goto(await create(oneTime()));
    await page.route(/\/pay\?/, (route) => route.abort());
    await page.getByRole("button", { name: APPROVED }).click();
    await page.getByText("The sandbox does not answer.").waitFor();
    await page.unroute(/\/pay\?/);
    await page.getByRole("button", { name: APPROVED }).click();
    await page.waitForURL(/result/);
    expect(await result(page)).toBe("Payment approved");
  });

  it("survives what a gateway before it answers, and pays once", async () => {
    const { create } = await openShop();
    const page = await openPage();
    await page.goto(await create(oneTime()));
    const pages = [
      {
        status: 502,
        contentType: "text/html",
        body: "<title>Bad</title><main class=banner>Bad gateway</main>",
      },
      { status: 200, contentType: "application/json", body: '{"error":"busy"}' },
    ];
    for (const answer of pages) {
      await page.route(/\/pay\?/, (route) => route.fulfill(answer));
      await page.getByRole("button", { name: APPROVED }).click();
      await page.getByText("something before it answered. Try again: this form pays only once.").waitFor();
      await page.unroute(/\/pay\?/);
      await page.evaluate("document.querySelector('#progress').textContent = ''");
    }
    // The payment is made, and its answer is lost in the gateway.
    await page.route(/\/pay\?/, async (route) => {
      await route.fetch({ maxRedirects: 0 });
      await route.fulfill(pages[0]);
    });
    await page.getByRole("button", { name: APPROVED }).click();
    await page.getByText("something before it answered.").waitFor();
    await page.unroute(/\/pay\?/);
    await page.getByRole("button", { name: APPROVED }).click();
    await page.waitForURL(/result/);
    expect(await result(page)).toBe("Payment approved");
  });

  it("ends in words wherever a gateway redirects to, and where it hangs, and pays once", async () => {
    const { url, create } = await openShop();
    const other = await listenOnFreePort(createServer((_, reply) => void reply.end("<h1>Log in</h1>")));
    let hijack: ((reply: ServerResponse) => void) | undefined;
    const gateway = createServer((request, reply) => {
      if (request.url === "/login") return void reply.end("<main>Log in</main>");
      if (request.method === "POST" && hijack !== undefined) return hijack(reply);
      const { method, headers } = request;
      const onward = httpRequest(new URL(request.url ?? "", url), { method, headers }, (answer) => {
        answer.pipe(reply.writeHead(answer.statusCode ?? 500, answer.headers));
      });
      request.pipe(onward);
    });
    const link = new URL(await create(oneTime()));
    link.port = String(await listenOnFreePort(gateway));
    const page = await openPage({}, new RegExp(`Connecting to 'http://127.0.0.1:${other}/login'`));
    await page.clock.install();
    await page.goto(link.href);
    const pay = page.getByRole("button", { name: APPROVED });
    const progress = page.locator("#progress");
    const to =
      (status: number, headers: Readonly<Record<string, string>> = {}) =>
      (reply: ServerResponse): void =>
        void reply.writeHead(status, headers).end();
    const inBetween = "something before it answered. Try again: this form pays only once.";
    const silent = "The sandbox does not answer. Try again: this form pays only once.";
    for (const [answer, words] of [
      [to(302, { Location: "/login" }), inBetween],
      [to(307, { Location: "/login" }), inBetween],
      [to(303), inBetween],
      [to(204), inBetween],
      [to(302, { Location: `http://127.0.0.1:${other}/login` }), silent],
      [to(307, { Location: link.pathname + link.search }), silent],
    ] as const) {
      hijack = answer;
      await pay.click();
      await progress.getByText(words).waitFor();
      await page.evaluate("document.querySelector('#progress').textContent = ''");
    }
    hijack = () => undefined;
    await pay.click();
    await progress.getByText("Please wait…").waitFor();
    await page.clock.runFor(31_000);
    await progress.getByText(silent).waitFor();
    hijack = undefined;
    await pay.click();
    await page.clock.runFor(1_000);
    await page.waitForURL(/result/);
    expect(await result(page)).toBe("Payment approved");
  });

  it("says the amount that is left, where a part was paid in another tab", async () => {
    const { create } = await openShop();
    const url = await create(oneTime());
    const [page, other] = [await openPage(), await openPage()];
    await page.goto(url);
    await other.goto(url);
    await other.getByRole("button", { name: /5105 1051 0510 5100/ }).click();
    await other.waitForURL(/result/);
    await page.getByRole("button", { name: APPROVED }).click();
    await page.getByText("is EUR 5.00 now, because a part was paid in the meantime").waitFor();
    await page.getByRole("button", { name: "Pay EUR 5.00" }).waitFor();
    await page.getByRole("button", { name: APPROVED }).click();
    await page.waitForURL(/result/);
    expect(await result(page)).toBe("Payment approved");
  });

  it("shows the webhook's progress on the receipt as it happens", async () => {
    const { create } = await openShop();
    let answer = 401;
    const shop = await serveShop(
      () => undefined,
      () => answer,
    );
    const callbackUrl = `http://127.0.0.1:${shop}/`;
    const page = await openPage();
    await page.goto(await create(oneTime({ paymentSettings: { callbackUrl } })));
    await page.getByRole("button", { name: APPROVED }).click();
    await page.getByText(/refused it: 401 in \d+ ms\..*Next attempt/).waitFor();
    answer = 200;
    // The next attempt is after five seconds.
    await page.getByText(/accepted it: 200 in \d+ ms/).waitFor();
    await page.getByRole("link", { name: "View the webhook" }).click();
    await page.waitForURL(/deliveries/);
    expect(await page.getByRole("heading", { level: 1 }).count()).toBe(1);
  });

  it("follows the size of text that the browser is set to", async () => {
    const { create } = await openShop();
    const page = await openPage();
    await page.goto(await create());
    const sizes = `["number", "amount"].map((id) => getComputedStyle(document.getElementById(id)).fontSize)
      .concat(getComputedStyle(document.querySelector(".primary")).fontSize)`;
    const before = await page.evaluate<string[]>(sizes);
    await page.evaluate("document.documentElement.style.fontSize = '32px'");
    const doubled = before.map((size) => `${2 * Number.parseFloat(size)}px`);
    expect(await page.evaluate(sizes)).toEqual(doubled);
  });

  /** Each leads to one state of the pages. */
  const STATES: Readonly<Record<string, (page: Page, shop: Shop) => Promise<unknown>>> = {
    form: async (page, { create }) => {
      const billingAddress = { firstName: "Ada", city: "London" };
      const customerDetails = { email: "ada@shop.example", billingAddress };
      const linkOptions = { mode: "REUSABLE_VARIABLE", minAmount: "5", paymentReferenceMode: "OPEN" };
      await page.goto(await create({ customerDetails, linkOptions, description: "word ".repeat(80) }));
    },
    "refused form": async (page, { create }) => {
      await page.goto(await create());
      await entries(page, { Amount: "1,000", "Card number": "1" });
      await page.getByRole("button", { name: "Pay", exact: true }).click();
      await page.getByRole("alert").waitFor();
    },
    paying: async (page, { create }) => {
      await page.goto(await create(oneTime()));
      // Its answer never arrives.
      await page.route(/\/pay\?/, () => undefined);
      await page.getByRole("button", { name: APPROVED }).click();
      await page.locator('[aria-busy="true"]').waitFor();
    },
    verification: async (page, { create }) => page.goto(await create(SUBSCRIPTION)),
    "long words and another direction": async (page, { create }) => {
      await page.goto(await create(LONG));
      const direction = "getComputedStyle(document.querySelector('.description')).direction";
      expect(await page.evaluate(direction)).toBe("rtl");
    },
    "the receipt of long words": async (page, { create }) => {
      await page.goto(await create(LONG));
      await page.getByRole("button", { name: APPROVED }).click();
      await page.waitForURL(/result/);
    },
    approved: async (page, { create }) => {
      const paymentSettings = { returnUrl: "https://shop.example/" };
      await page.goto(await create(oneTime({ paymentSettings, description: "word ".repeat(80) })));
      await page.getByRole("button", { name: APPROVED }).click();
      await page.waitForURL(/result/);
    },
    declined: async (page, { create }) => {
      await page.goto(
        await create(oneTime({ paymentSettings: { failureReturnUrl: "https://shop.example/" } })),
      );
      await page.getByRole("button", { name: DECLINED }).click();
      await page.getByRole("alert").waitFor();
    },
    cancelled: async (page, { create }) => {
      await page.goto(await create(oneTime()));
      await page.getByRole("button", { name: "Cancel payment" }).click();
      await page.waitForURL(/result/);
    },
    paid: async (page, { create }) => {
      const link = await create(oneTime());
      await page.goto(link);
      await page.getByRole("button", { name: APPROVED }).click();
      await page.waitForURL(/result/);
      await page.goto(link);
    },
    unknown: (page, { url }) => page.goto(`${url}pay?r=none`),
    problem: (page, { url }) => page.goto(`${url}nowhere`),
  };

  it("has no axe findings and cuts nothing off in any state, at three widths, light, dark and forced", async () => {
    const shop = await openShop();
    const page = await openPage();
    for (const [state, open] of Object.entries(STATES)) {
      await page.unrouteAll();
      await open(page, shop);
      for (const width of [320, 768, 1280]) {
        await page.setViewportSize({ width, height: 900 });
        expect(await widthOf(page), `${state}, ${width}`).toBeLessThanOrEqual(width);
        for (const colorScheme of ["light", "dark"] as const) {
          await page.emulateMedia({ colorScheme });
          expect(await violationsOn(page), `${state}, ${width}, ${colorScheme}`).toEqual([]);
        }
      }
      await page.emulateMedia({ forcedColors: "active" });
      expect(await violationsOn(page), `${state}, forced colours`).toEqual([]);
      await page.emulateMedia({ forcedColors: "none" });
    }
  });
});

/** A merchant's site on a port: redirects to the address, or thanks. */
async function serveShop(redirect: () => string | undefined, answer = () => 200): Promise<number> {
  const server = createServer((_request, reply) => {
    const to = redirect();
    reply.writeHead(to === undefined ? answer() : 302, {
      "Content-Type": "text/html",
      ...(to === undefined ? {} : { Location: to }),
    });
    reply.end("<p>Thank you</p>");
  });
  return listenOnFreePort(server);
}
