/** The dashboard's pages and actions, in process: lists, details, paging, search, the form for a link, and live rows. */
import { describe, expect, it } from "vitest";
import { JsonNumber } from "../../src/values/json.ts";
import { createFaults } from "../../src/sandbox/faults.ts";
import { createRequestLog } from "../../src/sandbox/requests.ts";
import { type DeliveryState, UNTOUCHED } from "../../src/sandbox/store/ledger-rows.ts";
import {
  linkId,
  NOW,
  oneTime,
  openTestSandbox,
  ORIGIN,
  type TestSandbox,
  paidRecord,
} from "../support/sandbox.ts";

const get = async (service: TestSandbox, path: string): Promise<string> =>
  (await service.browse("GET", path)).text;

const post = (service: TestSandbox, path: string, form: Readonly<Record<string, string>> = {}) =>
  service.browse("POST", path, { body: new URLSearchParams(form).toString() });

const rowIds = (page: string): string[] => [...page.matchAll(/data-row="([^"]+)"/g)].map(([, id = ""]) => id);

/** Stores links, payments and deliveries without posting anything. */
async function store(service: TestSandbox, count: number, state: (index: number) => DeliveryState) {
  const { ledger } = service;
  ledger.write(() => {
    for (let index = 1; index <= count; index++) {
      const [id, uti] = [`link${index}`, `uti${index}`];
      const reference = `INV-${index}`;
      ledger.addLink({
        id,
        request: {
          amount: new JsonNumber("10"),
          currency: "EUR",
          terminalId: service.identity.terminalId,
          customerName: '"><'.repeat(1_000),
          description: `&"'<`.repeat(1_000),
          invoiceId: reference,
        },
        createdDate: NOW,
        expirationDate: "2026-02-07T12:00:00Z",
        ...UNTOUCHED,
      });
      const record = { uti, reference, transApproved: true, transCancelled: false };
      ledger.addPayment({ uti, linkId: id, record, form: null });
      const body = new TextEncoder().encode(JSON.stringify(record));
      const url = `http://127.0.0.1:4000/${'"'.repeat(1_000)}`;
      const schedule = { attempts: 0, tries: 0, due: NOW.getTime() + 60_000 };
      ledger.addDelivery({ id: `d${index}`, linkId: id, uti, url, body, state: state(index), ...schedule });
    }
  });
}

describe("the lists", () => {
  it("are filled by a sample link from the first page, which names the commands and the newest link", async () => {
    const service = openTestSandbox();
    const first = await get(service, "/");
    expect(first).toContain("paylink create --amount 10 --currency EUR -p sandbox");
    expect(first).toContain("paylink listen --port 4000 -p sandbox");
    const answer = await post(service, "/sandbox/sample", { back: "/" });
    await service.sandbox.idle();
    const after = await get(service, answer.header("location") ?? "");
    expect(after).toContain("A sample link was created and paid.");
    expect(after).not.toContain("Open checkout");
    expect(service.ledger.paymentCount()).toBe(1);
    expect(service.posted).toHaveLength(1);
    const id = await linkId(service, oneTime());
    const open = await get(service, "/");
    expect(open).toContain(`paylink pay ${id} -p sandbox`);
  });

  it.each(["/deliveries", "/payments", "/links"])(
    "distinguishes an empty list from one without matches in %s",
    async (path) => {
      const service = openTestSandbox();
      expect(await get(service, path)).toContain("Nothing yet");
      expect(await get(service, `${path}?text=none`)).toContain("Nothing matches");
    },
  );

  it("show the newest first, 50 a page, within 60 KB, and every page once", async () => {
    const service = openTestSandbox();
    await store(service, 120, (index) => (index % 40 === 0 ? "failed" : "delivered"));
    const seen: string[] = [];
    let path: string | undefined = "/deliveries";
    while (path !== undefined) {
      const page = await get(service, path);
      expect(Buffer.byteLength(page)).toBeLessThan(60_000);
      seen.push(...rowIds(page));
      path = /rel="next" href="([^"]+)"/.exec(page)?.[1];
    }
    expect(seen.slice(0, 5)).toEqual(["d120", "d119", "d118", "d117", "d116"]);
    expect(new Set(seen).size).toBe(120);
    for (const list of ["/payments", "/links"])
      expect(Buffer.byteLength(await get(service, list))).toBeLessThan(60_000);
  });

  it("keep their filters in the addresses of the next page", async () => {
    const service = openTestSandbox();
    await store(service, 60, (index) => (index === 7 ? "failed" : "pending"));
    const page = await get(service, "/deliveries?state=pending&text=inv");
    expect(page).toMatch(/rel="next" href="\/deliveries\?text=inv&amp;state=pending&amp;older=\d+"/);
  });

  it("add up payments by currency, and show how they and their webhooks spread over time", async () => {
    const service = openTestSandbox({
      answer: ({ body }) => (Buffer.from(body).includes("EUR") ? 200 : 500),
    });
    for (const [amount, currency, outcome] of [
      [1000.5, "EUR", "approved"],
      [2.25, "EUR", "approved"],
      [80, "GBP", "partially-approved"],
      [5, "GBP", "declined"],
    ] as const) {
      // No payment is made at a full hour.
      await post(service, "/sandbox/advance", { when: "7m" });
      const id = await linkId(service, oneTime({ amount, currency }));
      await service.pay(id, { outcome });
    }
    await service.sandbox.idle();
    const payments = await get(service, "/payments");
    expect(payments).toContain(
      "4 payments. Approved EUR 1,002.75; partially approved GBP 40.00; not approved GBP 5.00.",
    );
    expect(payments).toContain("Last 24 hours: 2 approved, 1 partially approved, 1 declined");
    expect(await get(service, "/payments?range=week")).toContain("Last 7 days: 2 approved");
    expect(await get(service, "/payments?state=declined")).toContain("1 payment. Not approved GBP 5.00.");
    const deliveries = await get(service, "/deliveries");
    expect(deliveries).toContain("4 deliveries.");
    expect(deliveries).toContain("Last 24 hours: 2 delivered, 2 pending");
    expect(await get(service, "/links")).toContain("4 links.");
    expect(await get(service, "/requests")).toContain("4 requests.");
  });

  it("filter by outcome and time, in the address, and show nothing where a time cannot be read", async () => {
    const service = openTestSandbox();
    const pay = async (outcome: string): Promise<string> => {
      const id = await linkId(service, oneTime());
      await service.pay(id, { outcome });
      return service.ledger.payments({ linkId: id, limit: 1, now: NOW }).rows[0]?.uti ?? "";
    };
    const first = await pay("approved");
    await post(service, "/sandbox/advance", { when: "2d" });
    const second = await pay("declined");
    await service.sandbox.idle();
    const shown = async (path: string): Promise<string[]> => rowIds(await get(service, path));
    expect(await shown("/payments")).toEqual([second, first]);
    for (const time of ["today", "24h"]) expect(await shown(`/payments?time=${time}`)).toEqual([second]);
    // A date is that of this machine, in whatever time zone.
    const day = [NOW.getFullYear(), NOW.getMonth() + 1, NOW.getDate()]
      .map((part) => String(part).padStart(2, "0"))
      .join("-");
    expect(await shown(`/payments?from=${day}&to=${day}`)).toEqual([first]);
    const declined = await get(service, "/deliveries?outcome=declined&time=7d");
    expect(rowIds(declined)).toHaveLength(1);
    expect(declined).toMatch(/<option value="declined" selected/);
    expect(declined).toContain('href="/deliveries?state=failed&amp;outcome=declined&amp;time=7d"');
    for (const path of ["/deliveries", "/payments", "/links", "/requests"]) {
      expect(await shown(`${path}?from=2031-01-01`)).toEqual([]);
      const unreadable = await service.browse("GET", `${path}?time=soon`);
      expect(unreadable.status).toBe(200);
      expect(unreadable.text).toContain("A time must be");
      expect(rowIds(unreadable.text)).toEqual([]);
    }
    expect(await shown("/links?time=24h")).toHaveLength(1);
    // Links have no outcome, whatever an address says.
    expect(await shown("/links?outcome=declined&time=24h")).toHaveLength(1);
    expect(await shown("/requests?time=24h")).toHaveLength(1);
  });

  it("name failed deliveries at the top, with a button that resends all", async () => {
    const service = openTestSandbox();
    await store(service, 3, (index) => (index === 1 ? "failed" : "pending"));
    const page = await get(service, "/deliveries");
    expect(page).toContain("1 delivery failed");
    expect(page).toContain("Resend all failed");
  });

  it("find the payment, its link and its deliveries by a reference", async () => {
    const service = openTestSandbox();
    await store(service, 12, () => "delivered");
    expect(rowIds(await get(service, "/search?text=inv-12"))).toEqual(["uti12", "link12", "d12"]);
    const many = await get(service, "/search?text=INV");
    expect(many).toContain("Show all</a>");
    expect(Buffer.byteLength(many)).toBeLessThan(60_000);
    expect(await get(service, "/search?text=none")).toContain("Nothing matches");
  });
});

describe("the requests to the API", () => {
  const newest = async (service: TestSandbox): Promise<string> => {
    const [number] = rowIds(await get(service, "/requests"));
    return get(service, `/requests/${number}`);
  };

  it("are listed with their answers, and those of the dashboard are not", async () => {
    const service = openTestSandbox();
    await service.create(oneTime({ description: "Ticket" }));
    await service.create({});
    await service.request("GET", "/v1/payment-links?key=hunter2");
    const list = await get(service, "/requests");
    expect(rowIds(list)).toEqual(["3", "2", "1"]);
    expect(list).toContain("GET /v1/payment-links?key=[redacted]");
    expect(rowIds(await get(service, "/requests?state=failed"))).toEqual(["3", "2"]);
    const page = await get(service, "/requests/1");
    expect(page).toContain("Response 200");
    expect(page).toContain("&quot;description&quot;: &quot;Ticket&quot;");
    expect((await service.browse("GET", "/requests/9")).status).toBe(404);
  });

  it("show no secret, in whatever form it was sent", async () => {
    const service = openTestSandbox();
    const { clientId, clientSecret, token } = service.identity;
    const grant = {
      grant_type: "client_credentials",
      scope: "pay_by_link",
      client_id: clientId,
      client_secret: clientSecret,
    };
    const form = new URLSearchParams(grant).toString();
    const issued = await service.request("POST", "/oauth2/token", {
      headers: { "Content-Type": "application/x-www-form-urlencoded" },
      body: form,
    });
    const accessToken = String(issued.json()["access_token"]);
    expect(await newest(service)).toContain(`client_id=${clientId}&amp;client_secret=[redacted]`);
    await service.request("POST", "/oauth2/token", {
      headers: { "Content-Type": "multipart/form-data; boundary=b" },
      body: `--b\r\nContent-Disposition: form-data; name="client_secret"\r\n\r\n${clientSecret}\r\n--b--\r\n`,
    });
    expect(await newest(service)).toContain("(not shown)");
    await service.request("POST", "/oauth2/token", {
      headers: { "Content-Type": `text/${token}` },
      body: form,
    });
    await service.request("GET", `/v1/${accessToken}?x=${token}`);
    await service.create({ note: [accessToken, clientSecret], password: "hunter2" });
    await service.create({
      apiKey: ["hunter2"],
      note: "4111 1111 1111 1111",
      card: { number: 4111111111111111 },
    });
    await service.create(oneTime({ paymentSettings: { callbackUrl: "http://a:hunter2@127.0.0.1/" } }));
    await service.request("POST", "/v1/payment-links", {
      headers: { "Content-Type": "application/json" },
      body: `{"paymentSettings":{"callbackUrl":"http://a:hunter2@127.0.0.1/"`,
    });
    const pages = [await get(service, "/requests")];
    for (const number of rowIds(pages[0] ?? "")) pages.push(await get(service, `/requests/${number}`));
    expect(pages.length).toBe(9);
    for (const page of pages)
      for (const secret of ["hunter2", accessToken, token, clientSecret, /4111 ?1111/])
        expect(page).not.toMatch(secret);
  });

  async function shown(body: string): Promise<string> {
    const { identity: merchant, clock } = openTestSandbox();
    const log = createRequestLog({ merchant, clock, machineNow: () => NOW });
    const empty = { status: 200, headers: [], body: new Uint8Array() };
    await log.recording(
      async () => empty,
      createFaults([]),
    )({
      method: "POST",
      scheme: "http",
      authority: "127.0.0.1",
      target: "/v1/x",
      headers: [["Content-Type", "application/json"]],
      body: new TextEncoder().encode(body),
    });
    return log.find(1)?.request.text ?? "";
  }

  it("stay JSON where the password in an address is hidden", async () => {
    const urls = { one: "http://127.0.0.1/?password=hunter2", other: "http://a:hunter2@127.0.0.1/" };
    expect(JSON.parse(await shown(JSON.stringify(urls)))).toEqual({
      one: "http://127.0.0.1/?password=[redacted]",
      other: "http://a:[redacted]@127.0.0.1/",
    });
  });

  it("survive a body that is nested deeply, or is not what its type says", async () => {
    const service = openTestSandbox();
    const headers = { Authorization: `Bearer ${service.identity.token}`, "Content-Type": "application/json" };
    for (const body of ["[".repeat(400_000) + "]".repeat(400_000), "{", '{"__proto__":{"a":1}}', "\u0000"])
      expect((await service.request("POST", "/v1/payment-links", { headers, body })).status).toBe(400);
    for (const number of rowIds(await get(service, "/requests")))
      expect(await get(service, `/requests/${number}`)).toContain("Response 400");
  });

  it("are the newest 100, each cut off where it is long", async () => {
    const service = openTestSandbox();
    for (let count = 0; count < 105; count++)
      await service.create({ description: `&"'<`.repeat(10_000), count });
    await service.request("GET", `/v1/${"&".repeat(5_000)}`);
    const list = await get(service, "/requests");
    expect(Buffer.byteLength(list)).toBeLessThan(60_000);
    expect(rowIds(list)).toHaveLength(100);
    expect([rowIds(list).at(0), rowIds(list).at(-1)]).toEqual(["106", "7"]);
    for (const number of [105, 106])
      expect(Buffer.byteLength(await get(service, `/requests/${number}`))).toBeLessThan(60_000);
  });
});

describe("a detail", () => {
  it("shows one chain from the link to the attempts, with the request, what was signed and the response", async () => {
    const service = openTestSandbox({ answer: () => 500, schedule: [] });
    const id = await linkId(service, oneTime({ invoiceId: "INV-9" }));
    await service.request("GET", `/pay?r=${id}`);
    const paid = (await service.pay(id, { outcome: "approved" })).json();
    await service.sandbox.idle();
    const uti = String(paid["uti"]);
    const [delivery] = rowIds(await get(service, "/deliveries"));
    for (const path of [`/links/${id}`, `/payments/${uti}`, `/deliveries/${delivery}`]) {
      const page = await get(service, path);
      for (const step of [
        "Link created",
        "Viewed",
        "Attempted",
        "Paid",
        "Payment approved",
        "Webhook",
        "1 attempt, last: 500",
      ])
        expect(page).toContain(step);
      for (const other of [`/links/${id}`, `/payments/${uti}`, `/deliveries/${delivery}`])
        expect(page).toContain(`href="${other}"`);
    }
    const page = await get(service, `/deliveries/${delivery}`);
    for (const part of [
      "Content-Digest",
      "&quot;@signature-params&quot;",
      "Your server failed: 500",
      "paylink verify --key",
    ])
      expect(page).toContain(part);
    const body = await service.browse("GET", `/deliveries/${delivery}/attempts/1/body`);
    expect(body.text).toBe(new TextDecoder().decode(service.posted[0]?.body));
    expect(body.header("content-type")).toBe("application/octet-stream");
    expect(body.header("content-disposition")).toContain("attachment");
    const api = (await service.call("GET", `/v1/payment-links/${id}`)).json();
    expect(await get(service, `/links/${id}`)).toContain(String(api["url"]));
  });

  it("posts to a callback address with a password, and shows the password nowhere", async () => {
    const service = openTestSandbox();
    const callbackUrl = "http://shop:hunter2@127.0.0.1:4000/paid";
    const settings = { paymentSettings: { callbackUrl, failureCallbackUrl: `${callbackUrl}/failed` } };
    const id = await linkId(service, oneTime(settings));
    await service.pay(id, { outcome: "approved" });
    await service.sandbox.idle();
    expect(service.posted).toHaveLength(1);
    const [delivery] = rowIds(await get(service, "/deliveries"));
    for (const path of ["/", "/deliveries", `/links/${id}`, `/deliveries/${delivery}`])
      expect(await get(service, path)).not.toContain("hunter2");
    for (const path of [`/links/${id}`, `/deliveries/${delivery}`])
      expect(await get(service, path)).toContain("http://shop:[redacted]@127.0.0.1:4000/paid");
  });

  it("shows the attempt that its address names, and at most the newest 20", async () => {
    const service = openTestSandbox({ answer: () => 500, schedule: [] });
    await paidRecord(service);
    const [delivery = ""] = rowIds(await get(service, "/deliveries"));
    for (let count = 0; count < 24; count++) {
      await post(service, `/sandbox/deliveries/${delivery}/resend`);
      await service.sandbox.idle();
    }
    const newest = await get(service, `/deliveries/${delivery}`);
    expect(newest).toContain("Request of attempt 25</h2>");
    expect(newest).toContain("And 5 earlier attempts.");
    expect(await get(service, `/deliveries/${delivery}?attempt=3`)).toContain("Request of attempt 3</h2>");
  });

  it.each([
    [
      { answer: '{"detail":"the body differs","code":"digest"}' },
      "refused it: 401 in 7 ms",
      "the body differs",
    ],
    [{ answer: '{"error":{"message":"no such key"}}' }, "Your server refused it: 401", "no such key"],
    [{ answer: "no signature\nat line 3" }, "Your server refused it: 401", "no signature at line 3"],
    [
      { answer: "<h1>No</h1>", answerHeaders: [["Content-Type", "text/html"]] },
      "Your server refused it: 401",
      "401",
    ],
    [
      { answerHeaders: [["Proxy-Status", "paylink; received-status=401"]] },
      "Your application, behind paylink listen, refused it: 401",
      "401",
    ],
    [
      { status: 502, answerHeaders: [["Proxy-Status", "paylink; error=destination_unavailable, cdn"]] },
      "Your application, behind paylink listen, did not answer: 502",
      "502",
    ],
    [
      {
        status: 200,
        answerHeaders: [["Proxy-Status", 'paylink; details="the application accepted it before"']],
      },
      "paylink listen accepted it: 200",
      "The application accepted it before",
    ],
    [{ status: 302 }, "Your server redirected it: 302", "Webhooks do not follow redirects"],
    [{ status: 204 }, "Your server accepted it: 204", "204"],
    [
      { status: null, detail: "no answer within 10000 ms" },
      "Your server did not answer.",
      "no answer within 10000 ms",
    ],
    [{ status: null, duration: null, detail: "no address" }, "The webhook was not sent.", "No address"],
    [
      { answerHeaders: [["Proxy-Status", '"<script>"; received-status=x, (']] },
      "Your server refused it: 401",
      "401",
    ],
  ] as const)("opens with what became of the webhook and why: %j", async (answer, words, reason) => {
    const service = openTestSandbox();
    await store(service, 1, () => "failed");
    const { ledger } = service;
    const none = {
      headers: [],
      verdict: null,
      status: 401,
      answerHeaders: [],
      answer: "",
      detail: "",
      duration: 7,
    };
    const attempt = { ...none, deliveryId: "d1", at: NOW, signedAt: NOW, ...answer };
    ledger.write(() => void ledger.addAttempt(attempt, { state: "failed", due: 0 }));
    const page = await get(service, "/deliveries/d1");
    expect(page).toContain(words);
    expect(page).toMatch(reason);
    expect(page).not.toContain("<script>");
  });

  it.each(["/links/none", "/payments/none", "/deliveries/none", "/deliveries/none/attempts/1/body"])(
    "answers 404 for %s",
    async (path) => {
      expect((await openTestSandbox().browse("GET", path)).status).toBe(404);
    },
  );
});

describe("an action", () => {
  it("leads back to the page with its filters, and never to another site", async () => {
    const service = openTestSandbox();
    const advance = async (back: string) =>
      (await post(service, "/sandbox/advance", { when: "1h", back })).header("location");
    expect(await advance("/payments?state=declined&text=a")).toBe(
      "/payments?state=declined&text=a&done=advanced",
    );
    expect(await advance("/links?key=old&done=paid")).toBe("/links?done=advanced");
    for (const back of [
      "https://evil.example/",
      "//evil.example/",
      "/\\evil.example",
      "/.//evil.example",
      "x",
    ])
      expect(await advance(back)).toBe("/deliveries?done=advanced");
  });

  it("resends one webhook or all that have failed", async () => {
    let status = 500;
    const service = openTestSandbox({ answer: () => status, schedule: [] });
    for (let count = 0; count < 3; count++) await paidRecord(service);
    expect(service.ledger.failedCount()).toBe(3);
    status = 200;
    const [first = ""] = rowIds(await get(service, "/deliveries"));
    await post(service, `/sandbox/deliveries/${first}/resend`);
    await service.sandbox.idle();
    expect(service.ledger.failedCount()).toBe(2);
    await post(service, "/sandbox/deliveries/resend-failed");
    await service.sandbox.idle();
    expect(service.ledger.failedCount()).toBe(0);
    expect(service.posted).toHaveLength(6);
  });

  it("creates a link, or names every problem at its field and keeps what was entered", async () => {
    const service = openTestSandbox();
    const form = {
      amount: "12,50",
      currency: "EURO",
      customerName: "",
      expirationDate: "soon",
      invoiceId: "KEPT",
      terminalId: "x",
    };
    const refused = await post(service, "/sandbox/links", form);
    expect(refused.status).toBe(400);
    expect(refused.text).toContain("<title>Error: New link");
    expect([...refused.text.matchAll(/id="(\w+)-error"/g)].map(([, field]) => field)).toEqual([
      "amount",
      "currency",
      "customerName",
      "expirationDate",
    ]);
    for (const value of ["12,50", "EURO", "soon", "KEPT"]) expect(refused.text).toContain(`value="${value}"`);
    const toProgram = await service.control("/sandbox/links", form);
    expect(toProgram.json()).toMatchObject({
      status: 400,
      errors: ["amount", "expirationDate", "currency", "customerName"].map((field) => ({
        pointer: `#/${field}`,
      })),
    });
    const right = { ...form, amount: "12.50", currency: "eur", customerName: "Ada", expirationDate: "7d" };
    const foreign = await post(service, "/sandbox/links", right);
    expect([foreign.status, foreign.text]).toEqual([403, expect.stringContaining("must be 1234567890")]);
    const { terminalId } = service.identity;
    const created = await post(service, "/sandbox/links", { ...right, terminalId });
    expect(created.status).toBe(303);
    const location = created.header("location") ?? "";
    expect(location).toMatch(/^\/links\/\w+\?done=created$/);
    expect(await get(service, location)).toContain("EUR 12.50");
  });
});

describe("the address that the terminal shows", () => {
  const SENTENCE = "opens at the last address that paylink sandbox printed in its terminal";
  const targetOf = (address: string, path = "/"): string => `${path}${new URL(address).search}`;

  it("works once, gives the browser a cookie with another secret, and is replaced by a new one", async () => {
    const printed: string[] = [];
    const service = openTestSandbox({
      observe: (event) => {
        if (event.type === "dashboard") printed.push(event.url);
      },
    });
    const authority = new URL(service.pages).host;
    expect(authority).toMatch(/^paylink-[0-9a-f]{12}\.localhost:4010$/);
    const address = service.sandbox.dashboardAt(ORIGIN);
    // The one that was asked for to learn the host is not used yet.
    const opened = await service.request("GET", targetOf(address, "/links"), { authority });
    expect([opened.status, opened.header("location")]).toEqual([303, "/links"]);
    expect(opened.header("set-cookie")).toBe(`${service.cookie}; Path=/; HttpOnly; SameSite=Lax`);
    const again = await service.request("GET", targetOf(address), { authority });
    expect(again.header("set-cookie")).toBeUndefined();
    expect(printed).toEqual([]);
    const last = service.sandbox.dashboardAt(ORIGIN);
    // A browser that has the cookie uses up no key.
    await service.browse("GET", targetOf(last));
    for (const one of [service.addressOfPages, last])
      expect((await service.request("GET", targetOf(one), { authority })).header("set-cookie")).toBeDefined();
    expect(printed).toEqual([expect.stringMatching(`^${service.pages}/\\?key=`)]);
    const next = await service.request("GET", targetOf(printed[0] ?? ""), { authority });
    expect(next.header("set-cookie")).toBeDefined();
    const page = await get(service, "/links");
    expect(page).toContain("New link");
    expect(page).not.toContain(service.cookie.split("=")[1]);
  });

  it("gives nothing for another key, and never leads to another host", async () => {
    const service = openTestSandbox();
    const authority = new URL(service.pages).host;
    const wrong = await service.request("GET", "/?key=nonsense", { authority });
    expect([wrong.status, wrong.header("location"), wrong.header("set-cookie")]).toEqual([
      303,
      "/",
      undefined,
    ]);
    const evil = targetOf(service.sandbox.dashboardAt(ORIGIN), "//evil.example/");
    expect((await service.request("GET", evil, { authority })).header("location")).toBe("/evil.example/");
    for (const path of [
      "/",
      "/links",
      "/links/new",
      "/links/x",
      "/deliveries",
      "/payments",
      "/requests",
      "/search",
    ]) {
      const { status, text } = await service.request("GET", path, {
        authority,
        headers: { Accept: "text/html" },
      });
      expect([status, text]).toEqual([403, expect.stringContaining(SENTENCE)]);
      expect(text).not.toContain('href="/"');
    }
  });

  it("is the only one of the dashboard: the API's has none, whatever the cookie, and serves the checkout alone", async () => {
    const service = openTestSandbox();
    const id = await linkId(service, oneTime());
    const key = targetOf(service.sandbox.dashboardAt(ORIGIN));
    for (const authority of [
      "127.0.0.1:4010",
      "localhost:4010",
      "[::1]:4010",
      "paylink-000000000000.localhost:4010",
    ]) {
      const ask = (path: string) =>
        service.request("GET", path, { authority, headers: { Cookie: service.cookie } });
      for (const path of ["/", "/links", `/${key}`]) {
        const { status, text, header } = await ask(path);
        expect([status, text, header("set-cookie")]).toEqual([
          403,
          expect.stringContaining(SENTENCE),
          undefined,
        ]);
      }
      expect((await ask(`/pay?r=${id}`)).status).toBe(200);
    }
  });

  it("shows customers' links at the API's host, also those created on the dashboard", async () => {
    const service = openTestSandbox();
    await post(service, "/sandbox/sample", { back: "/" });
    const links = await get(service, "/links");
    const [id] = rowIds(links);
    const page = await get(service, `/links/${id}`);
    expect(page).toContain(`${ORIGIN}/pay?r=`);
    expect(page).not.toContain(`${service.pages}/pay`);
  });

  it("is at the API's hosts if that was asked for", async () => {
    const service = openTestSandbox({ plainHost: true, allowedHosts: ["shop"] });
    expect(service.pages).toBe(ORIGIN);
    const authority = "shop:4010";
    const opened = await service.request("GET", targetOf(service.addressOfPages), { authority });
    const Cookie = opened.header("set-cookie")?.split(";")[0] ?? "";
    const page = await service.request("GET", "/links", { authority, headers: { Cookie } });
    expect(page.text).toContain("New link");
  });
});
