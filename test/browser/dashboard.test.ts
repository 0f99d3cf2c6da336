/** The dashboard in a real browser: live rows, details, actions with and without JavaScript, and what axe-core finds. */
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { violationsOn } from "../support/accessibility.ts";
import { hasBrowser, useBrowser } from "../support/browser.ts";
import { temporaryHome } from "../support/home.ts";
import { startPaylink, type Running } from "../support/paylink.ts";
import { listenOnFreePort } from "../support/ports.ts";

interface Shop {
  /** Of the API, with a final slash. */
  readonly url: string;
  /** An access token of the API. */
  readonly token: string;
  readonly sandbox: Running;
  /** An address of the dashboard, with a key for the first browser that opens one. */
  readonly at: (path: string) => string;
  /** Creates a link through the dashboard's form and returns its id. */
  readonly create: (fields?: Readonly<Record<string, string>>) => Promise<string>;
  readonly post: (path: string, form?: Readonly<Record<string, string>>) => Promise<Response>;
  /** Pays the link as the customer and returns the payment's uti. */
  readonly pay: (id: string, form?: Readonly<Record<string, string>>) => Promise<string>;
  /** Answers webhooks. */
  readonly receiver: Receiver;
}

interface Receiver {
  status: number;
  /** When it answers. */
  answered: Promise<void>;
}

async function openReceiver(): Promise<{ readonly url: string; readonly receiver: Receiver }> {
  const receiver: Receiver = { status: 200, answered: Promise.resolve() };
  const server = createServer((_request, reply) => {
    void receiver.answered.then(() => {
      reply.writeHead(receiver.status, { "Content-Type": "application/json", "X-Request-Id": "req_1" });
      return reply.end('{"received":true}');
    });
  });
  const port = await listenOnFreePort(server);
  return { url: `http://127.0.0.1:${port}/paid`, receiver };
}

const startSandbox = async (home: string, port: string) => {
  const sandbox = startPaylink(["sandbox", "--port", port, "--retry", "none", "--json"], { home });
  const [, dashboard = ""] = await sandbox.until(/\{"type":"dashboard","url":"([^"]+)"\}\n/);
  return { sandbox, dashboard: new URL(dashboard) };
};

async function openShop(home = temporaryHome()): Promise<Shop> {
  const callback = await openReceiver();
  const { sandbox, dashboard } = await startSandbox(home, "0");
  const url = `http://127.0.0.1:${dashboard.port}/`;
  const at = (path: string): string => {
    const address = new URL(path, dashboard);
    address.searchParams.set("key", dashboard.searchParams.get("key") ?? "");
    return address.href;
  };
  const { token } = JSON.parse(readFileSync(join(home, "data", "sandbox", "sandbox.json"), "utf8")) as {
    readonly token: string;
  };
  const post: Shop["post"] = (path, form = {}) =>
    fetch(new URL(path, url), {
      method: "POST",
      headers: { Authorization: `Bearer ${token}` },
      body: new URLSearchParams(form),
      redirect: "manual",
    });
  const lastPart = (answer: Response): string =>
    new URL(answer.headers.get("location") ?? "", url).pathname.split("/").at(-1) ?? "";
  return {
    url,
    token,
    sandbox,
    at,
    post,
    receiver: callback.receiver,
    create: async (fields = {}) =>
      lastPart(
        await post("/sandbox/links", {
          amount: "10.50",
          currency: "EUR",
          customerName: "Ada Lovelace",
          terminalId: "1234567890",
          expirationDate: "7d",
          "paymentSettings.callbackUrl": callback.url,
          "paymentSettings.failureCallbackUrl": callback.url,
          ...fields,
        }),
      ),
    pay: async (id, form = {}) => {
      const answer = await fetch(new URL(`/pay?r=${id}`, url), {
        method: "POST",
        headers: { Accept: "application/json" },
        body: new URLSearchParams({ outcome: "approved", ...form }),
      });
      return ((await answer.json()) as { readonly uti: string }).uti;
    },
  };
}

// Off linux-x64 no browser is packaged: PAYLINK_CHROMIUM names one there.
describe.skipIf(!hasBrowser)("in Chromium", () => {
  const openPage = useBrowser();

  const live = (page: Page) => page.getByText("Connected", { exact: true }).waitFor();

  it("shows new rows while nobody reads the list, counts them otherwise, and keeps focus", async () => {
    const shop = await openShop();
    const first = await shop.create({ description: "First" });
    const page = await openPage();
    await page.goto(shop.at("/links"));
    await live(page);
    await page.getByRole("link", { name: "First" }).focus();
    await fetch(`${shop.url}pay?r=${first}`);
    await page.locator(".badge.viewed").waitFor();
    expect(await page.evaluate("document.activeElement?.textContent")).toBe("First");
    await shop.create({ description: "Second" });
    const rows = page.locator("tbody tr");
    await page.getByText("Show 1 new").waitFor();
    expect(await rows.count()).toBe(1);
    expect(await page.evaluate("document.activeElement?.textContent")).toBe("First");
    await page.locator("#search").focus();
    await rows.first().getByText("Second").waitFor();
    expect(await page.evaluate("document.getAnimations().length")).toBe(1);
    expect(await page.evaluate("document.activeElement?.id")).toBe("search");
    for (let count = 0; count < 30; count++) await shop.create({ description: `More ${count}` });
    await rows.nth(31).waitFor();
    await page.evaluate("scrollTo(0, 1000)");
    for (const description of ["Third", "Fourth"]) await shop.create({ description });
    await page.getByText("Show 2 new").waitFor();
    expect(await rows.count()).toBe(32);
    await page.getByRole("button", { name: "Show 2 new" }).click();
    await rows.first().getByText("Fourth").waitFor();
    expect(await page.locator("#fresh").isVisible()).toBe(false);
  });

  it("does not animate if reduced motion is preferred", async () => {
    const shop = await openShop();
    const page = await openPage({ reducedMotion: "reduce" });
    await page.goto(shop.at("/links"));
    await live(page);
    for (const description of ["First", "Second"]) {
      await shop.create({ description });
      await page.locator("tbody tr").getByText(description).waitFor();
    }
    expect(await page.evaluate("document.getAnimations().length")).toBe(0);
  });

  it("focuses the search at a key press, except in a field, and opens a row at a click", async () => {
    const shop = await openShop();
    await shop.create({ description: "Only" });
    const page = await openPage();
    await page.goto(shop.at("/links"));
    expect(page.url()).toBe(new URL("/links", shop.at("/")).origin + "/links");
    await live(page);
    await page.keyboard.press("/");
    await page.keyboard.type("a/b");
    expect(await page.locator("#search").inputValue()).toBe("a/b");
    await page.locator("tbody tr").first().locator("td").nth(3).click();
    await page.locator("#summary").getByText("Only").waitFor();
  });

  it("shows times in the zone of the browser, with UTC as their title", async () => {
    const shop = await openShop();
    await shop.create();
    const page = await openPage({ timezoneId: "Asia/Kolkata" });
    await page.goto(shop.at("/links"));
    await live(page);
    const time = page.locator("tbody time").first();
    const utc = new Date((await time.getAttribute("datetime")) ?? "");
    const local = new Date(utc.getTime() + 5.5 * 3_600_000).toISOString().slice(11, 19);
    expect(await time.textContent()).toBe(local);
    expect(await time.getAttribute("title")).toBe(`${utc.toISOString().slice(0, 19).replace("T", " ")} UTC`);
    await shop.post("/sandbox/advance", { when: "2040-01-31T06:30:00Z" });
    await page.locator("#controls .badge.moved").waitFor();
    await expect.poll(() => page.locator("#controls time").textContent()).toMatch(/^2040-01-31 12:00:\d\d$/);
    expect(await time.textContent()).toMatch(/^20\d\d-\d\d-\d\d /);
  });

  it("shows only new rows that match the filter, and fills an empty list", async () => {
    const shop = await openShop();
    const id = await shop.create({ "linkOptions.mode": "REUSABLE_VARIABLE", amount: "0" });
    const page = await openPage();
    await page.goto(shop.at("/payments?state=declined"));
    await page.getByText("No declined payments").waitFor();
    await live(page);
    await shop.pay(id, { amount: "1" });
    await shop.pay(id, { amount: "2", outcome: "declined" });
    await page.locator(".list .badge.declined").waitFor();
    await shop.pay(id, { amount: "3" });
    await shop.pay(id, { amount: "4", outcome: "declined" });
    await page.locator("tbody tr").nth(1).waitFor();
    expect(await page.locator(".list .badge").allTextContents()).toEqual(["declined", "declined"]);
  });

  it("shows a webhook arriving on the open page of its link, and keeps what is open and selected", async () => {
    const shop = await openShop();
    const id = await shop.create({ description: "Long text to select" });
    const page = await openPage();
    await page.goto(shop.at(`/links/${id}`));
    await live(page);
    await page.getByText("The link as the API returns it").click();
    await page.locator("#summary").getByText("Long text to select").selectText();
    shop.receiver.status = 500;
    await shop.pay(id, { outcome: "declined" });
    expect(await page.evaluate("getSelection()?.toString()")).toContain("Long text to select");
    await page.evaluate("getSelection()?.removeAllRanges()");
    await page.locator("#chain .badge.failed").waitFor();
    await page.getByRole("link", { name: "Deliveries 1 failed" }).waitFor();
    expect(await page.locator("#fold-json").getAttribute("open")).not.toBeNull();
  });

  it("sees the clock, the key and a restart", async () => {
    const home = temporaryHome();
    const shop = await openShop(home);
    await shop.create({ description: "Expires soon" });
    const page = await openPage();
    await page.goto(shop.at("/links"));
    await live(page);
    await shop.post("/sandbox/advance", { when: "8d" });
    await page.locator(".list .badge.expired").waitFor();
    await page.locator("#controls .badge.moved").waitFor();
    const key = () => page.locator("#rotate b").textContent();
    const before = await key();
    await shop.post("/sandbox/rotate-key");
    await expect.poll(key).not.toBe(before);
    await shop.sandbox.stop();
    await page.getByText("Not connected").waitFor();
    await startSandbox(home, new URL(shop.url).port);
    await live(page);
    // The clock stays where it was.
    await page.locator("#controls .badge.moved").waitFor();
    await page.locator(".list .badge.expired").waitFor();
  });

  it("sends no requests from a hidden tab, and catches up when the tab is shown again", async () => {
    const shop = await openShop();
    await shop.create({ description: "First" });
    const page = await openPage();
    await page.goto(shop.at("/links"));
    await live(page);
    const setHidden = (hidden: boolean) =>
      page.evaluate(`
        Object.defineProperty(document, "hidden", { value: ${hidden}, configurable: true });
        document.dispatchEvent(new Event("visibilitychange"));
      `);
    await setHidden(true);
    await shop.create({ description: "Second" });
    expect(await page.getByText("Second").count()).toBe(0);
    await setHidden(false);
    await page.locator("tbody").getByText("Second").waitFor();
  });

  it("asks in a dialog before it cancels a link, copies, and resends", async () => {
    const shop = await openShop();
    shop.receiver.status = 500;
    const id = await shop.create({ "linkOptions.mode": "REUSABLE_VARIABLE", amount: "5" });
    const page = await openPage({ permissions: ["clipboard-read", "clipboard-write"] });
    await page.goto(shop.at(`/links/${id}`));
    await page.getByRole("button", { name: "Copy link" }).click();
    expect(await page.evaluate("navigator.clipboard.readText()")).toBe(`${shop.url}pay?r=${id}`);
    await page.goto(shop.at(`/payments/${await shop.pay(id)}`));
    await page.locator("#deliveries .badge.failed").waitFor();
    shop.receiver.status = 200;
    await page.locator("#deliveries").getByRole("link").first().click();
    await page.getByText("Your server failed: 500").waitFor();
    await page.getByRole("button", { name: "Resend" }).click();
    await page.locator("#title-state .badge.delivered").waitFor();
    await page.getByText("Your server accepted it: 200").waitFor();
    await page.getByText("What was signed").click();
    await page.getByRole("button", { name: "Copy signature base" }).click();
    expect(await page.evaluate("navigator.clipboard.readText()")).toContain('"@signature-params": ');

    await page.goto(shop.at(`/links/${id}`));
    await page.getByRole("button", { name: "Cancel link…" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("Cancel this link?").waitFor();
    expect(await page.evaluate("document.activeElement?.textContent")).toBe("Go back");
    expect(await violationsOn(page)).toEqual([]);
    await dialog.getByRole("button", { name: "Go back" }).click();
    expect(await dialog.isVisible()).toBe(false);
    await page.getByRole("button", { name: "Cancel link…" }).click();
    await dialog.getByRole("button", { name: "Cancel link", exact: true }).click();
    await page.locator("#title-state .badge.cancelled").waitFor();
  });

  it("copies on a plain http page of another host, where browsers have no clipboard, and says so", async () => {
    const shop = await openShop();
    const id = await shop.create();
    const page = await openPage();
    await page.addInitScript('Object.defineProperty(navigator, "clipboard", { value: undefined })');
    await page.goto(shop.at(`/links/${id}`));
    await page.getByRole("button", { name: "Copy link" }).click();
    await page.getByRole("status").getByText("Copied").waitFor({ state: "attached" });
    expect(await page.evaluate("document.activeElement?.ariaLabel")).toBe("Copy link");
    await page.getByRole("searchbox", { name: "Search" }).press("ControlOrMeta+v");
    expect(await page.getByRole("searchbox", { name: "Search" }).inputValue()).toBe(`${shop.url}pay?r=${id}`);
  });

  it("shows the newest attempt, under way or answered, and the one that its address names", async () => {
    const shop = await openShop();
    shop.receiver.status = 500;
    const id = await shop.create();
    const page = await openPage();
    await page.goto(shop.at(`/payments/${await shop.pay(id)}`));
    await page.locator("#deliveries .main a").click();
    await page.getByText("Your server failed: 500").waitFor();
    await live(page);
    let answer = (): void => undefined;
    shop.receiver.answered = new Promise((done) => (answer = done));
    shop.receiver.status = 200;
    await page.getByRole("button", { name: "Resend" }).click();
    await page.getByText("Waiting for an answer …").waitFor();
    // No earlier exchange is taken for it.
    expect(await page.locator("#response").count()).toBe(0);
    expect(await page.getByText(/Next attempt|not been sent/).count()).toBe(0);
    answer();
    await page.getByText("Your server accepted it: 200").waitFor();
    await page.getByText("Response to attempt 2").waitFor();
    expect(await page.locator("#attempts [aria-current]").textContent()).toContain("Attempt 2");
    await page.getByRole("link", { name: "Attempt 1" }).click();
    await page.getByText("Your server failed: 500").waitFor();
    await live(page);
    // What somebody reads stays; an action leads to what it does.
    await shop.post(`/sandbox/deliveries/${new URL(page.url()).pathname.split("/").at(-1)}/resend`);
    await page.getByRole("link", { name: "Attempt 3" }).waitFor();
    expect(await page.getByText("Response to attempt 1").isVisible()).toBe(true);
    for (const text of ["What was checked", "What was signed", "Verify it in a terminal", "Headers, 7"])
      await page.getByText(text).click();
    expect(await violationsOn(page)).toEqual([]);
  });

  it("works without JavaScript: create, pay, resend, filter, search, page, confirm", async () => {
    const shop = await openShop();
    shop.receiver.status = 500;
    const page = await openPage({ javaScriptEnabled: false });
    await page.goto(shop.at("/links"));
    await page.getByText("Nothing yet").waitFor();
    expect(await page.getByText("Reload to update").isVisible()).toBe(true);
    await page.getByRole("link", { name: "New link" }).click();
    await page.getByLabel("Amount", { exact: true }).fill("12,50");
    await page.getByLabel("Order number").fill("INV-77");
    await page.getByRole("button", { name: "Create link" }).click();
    await page.getByText("The link was not created").waitFor();
    expect(await page.getByLabel("Order number").inputValue()).toBe("INV-77");
    await page.getByRole("alert").getByRole("link", { name: "Amount" }).click();
    await page.getByLabel("Amount", { exact: true }).fill("12.50");
    await page.getByRole("button", { name: "Create link" }).click();
    await page.getByText("The link was created.").waitFor();

    const id = await shop.create({ invoiceId: "INV-78" });
    await page.goto(shop.at(`/links/${id}`));
    expect(await page.locator("button.copy").first().isVisible()).toBe(false);
    await page.getByRole("link", { name: "Open checkout" }).click();
    await page.getByRole("button", { name: "Insufficient funds" }).click();
    await page.getByText("Your card was declined").waitFor();
    await expect
      .poll(async () => {
        await page.goto(shop.at("/deliveries"));
        return page.locator("nav").getByText("1 failed").count();
      })
      .toBe(1);
    await page.getByRole("navigation", { name: "Filter" }).getByRole("link", { name: "Failed" }).click();
    shop.receiver.status = 200;
    await page.getByRole("button", { name: "Resend all failed" }).click();
    await page.getByText("A new attempt of each failed delivery has started.").waitFor();
    expect(new URL(page.url()).searchParams.get("state")).toBe("failed");
    await page.getByRole("button", { name: "+1 h" }).click();
    await page.getByText("The clock was moved forward.").waitFor();
    expect(new URL(page.url()).searchParams.get("state")).toBe("failed");

    await page.getByRole("searchbox", { name: "Search" }).fill("inv-78");
    await page.getByRole("button", { name: "Search" }).click();
    await page.getByRole("heading", { name: "Search" }).waitFor();
    expect(await page.getByRole("table").count()).toBe(3);
    await page.goto(shop.at("/links"));
    await page.getByRole("link", { name: "INV-77" }).click();
    await page.getByRole("button", { name: "Cancel link…" }).click();
    await page.getByRole("button", { name: "Cancel link", exact: true }).click();
    await page.getByText("The link was cancelled.").waitFor();
    const key = await page.locator("#rotate b").textContent();
    await page.getByRole("button", { name: "Signing key…" }).click();
    await page.getByRole("button", { name: "Rotate key" }).click();
    expect(await page.locator("#rotate b").textContent()).not.toBe(key);
  });

  it.each([true, false])(
    "sets faults of the API, shows which requests they changed, and clears them; with JavaScript: %s",
    async (javaScriptEnabled) => {
      const shop = await openShop();
      const { token } = shop;
      const ask = () =>
        fetch(`${shop.url}v1/payment-links/none`, { headers: { Authorization: `Bearer ${token}` } });
      const page = await openPage({ javaScriptEnabled });
      await page.goto(shop.at("/requests"));
      await page.getByLabel("Operation that fails").selectOption("details");
      await page.locator("select[name=kind]").selectOption("429");
      await page.getByLabel("How often").fill("2");
      await page.getByRole("button", { name: "Set fault" }).click();
      await page.getByText("The fault is set.").waitFor();
      await page.getByText("details=429, 2 × more").waitFor();
      expect((await ask()).status).toBe(429);
      await page.goto(shop.at("/requests"));
      await page.getByText("details=429, 1 × more").waitFor();
      await page.locator("tbody tr").first().getByText("fault 429").waitFor();
      await page.getByRole("button", { name: "Clear faults" }).click();
      await page.getByText("No fault is set.").waitFor();
      expect((await ask()).status).not.toBe(429);
      expect(await page.getByRole("button", { name: "Clear faults" }).count()).toBe(0);
    },
  );

  it("filters by outcome and time without JavaScript, which names the zone of its charts", async () => {
    const shop = await openShop();
    for (const outcome of ["approved", "declined"]) await shop.pay(await shop.create(), { outcome });
    const page = await openPage({ javaScriptEnabled: false });
    await page.goto(shop.at("/payments"));
    expect(await page.locator(".trend .axis").textContent()).toMatch(/^\d\d-\d\d \d\d:00 UTC/);
    await page.goto(shop.at("/deliveries"));
    await page.getByText("More filters").click();
    await page.getByLabel("Outcome").selectOption("declined");
    await page.getByLabel("Time").selectOption("24h");
    await page.getByRole("button", { name: "Filter" }).click();
    expect(await page.locator("#list tbody tr").count()).toBe(1);
    expect(await page.getByLabel("Outcome").isVisible()).toBe(true);
    await page.getByRole("link", { name: "Clear" }).click();
    expect(await page.locator("#list tbody tr").count()).toBe(2);
  });

  it("shows the charts in the zone of the browser", async () => {
    const shop = await openShop();
    await shop.pay(await shop.create());
    const page = await openPage({ timezoneId: "Asia/Kathmandu" });
    await page.goto(shop.at("/payments"));
    await live(page);
    expect(await page.locator(".trend .axis").textContent()).toMatch(/^\d\d-\d\d \d\d:45/);
  });

  it("has a skip link first, and a focus order from the search to the tabs", async () => {
    const shop = await openShop();
    const page = await openPage();
    await page.goto(shop.at("/links"));
    const order: (string | undefined)[] = [];
    for (let count = 0; count < 5; count++) {
      await page.keyboard.press("Tab");
      order.push(await page.evaluate('document.activeElement?.textContent?.trim().split(" ")[0]'));
    }
    expect(order).toEqual(["Skip", "Sandbox", "", "Search", "Deliveries"]);
    await page.goto(shop.at("/links"));
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    expect(await page.evaluate("document.activeElement?.id")).toBe("list");
  });

  it.each([
    { colorScheme: "light", width: 320 },
    { colorScheme: "dark", width: 768 },
    { colorScheme: "light", width: 1920 },
    { colorScheme: "dark", width: 1280, forcedColors: "active" },
    { colorScheme: "light", width: 1280, hasScript: false },
  ] as const)("is accessible and fits in every state: %j", async ({ width, colorScheme, ...other }) => {
    const shop = await openShop();
    const long = {
      description: "الاشتراك السنوي في الخدمة",
      customerName: "W".repeat(300),
      invoiceId: "N".repeat(300),
    };
    const id = await shop.create({ ...long, amount: "123456789012.50" });
    shop.receiver.status = 500;
    const uti = await shop.pay(id);
    const open = await shop.create({ "linkOptions.mode": "REUSABLE_VARIABLE", amount: "0" });
    const forcedColors = "forcedColors" in other ? other.forcedColors : "none";
    const page = await openPage({ colorScheme, forcedColors, viewport: { width, height: 800 } });
    // axe-core itself needs JavaScript.
    if ("hasScript" in other) await page.route("**/dashboard.js", (route) => route.abort());
    await page.goto(shop.at(`/payments/${uti}`));
    const delivery = await page.locator("#deliveries .main a").getAttribute("href");
    const lists = [
      "/",
      "/deliveries",
      "/payments",
      "/links",
      "/requests",
      "/links?text=none",
      "/search?text=N",
      "/search?text=none",
    ];
    const details = [`/links/${id}`, `/links/${open}`, `/payments/${uti}`, delivery ?? "", "/links/none"];
    const forms = ["/links/new"];
    const states = [...lists, ...details, ...forms].map(shop.at);
    for (const address of states) {
      await page.goto(address);
      const violations = await violationsOn(page);
      const fits = await page.evaluate(`document.documentElement.scrollWidth <= ${width}`);
      expect({ address, violations, fits }).toEqual({ address, violations: [], fits: true });
    }
    await page.goto(shop.at("/links/new"));
    await page.locator("#amount").fill("x");
    await page.getByRole("button", { name: "Create link" }).click();
    expect(await violationsOn(page)).toEqual([]);
  });
});
