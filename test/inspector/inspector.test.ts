/** The inspector in process: its pages on both databases, its actions, and what attackers get. */
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { EventStore } from "../../src/store/event-store.ts";
import type { EventSending } from "../../src/inspector/server.ts";
import type { NewEvent } from "../../src/events/event.ts";
import { openPostgres, openSqlite } from "../support/event-stores.ts";
import { temporaryHome } from "../support/home.ts";
import {
  COOKIE,
  HOST,
  NOW,
  NOWHERE,
  openInspector,
  PAGES,
  SAME_PAGE,
  SESSION,
  wordsOf,
} from "../support/inspector.ts";
import { usePostgres } from "../support/postgres.ts";
import { AT, event, forward, idOf, KEYS, rejection, unanswered, wanted } from "../support/stored-events.ts";

async function claimOne(store: EventStore) {
  const [claimed] = await store.claim(wanted());
  if (claimed === undefined) throw new Error("nothing was claimed");
  return claimed;
}

const rowIds = (page: string): string[] =>
  [...page.matchAll(/<tr data-row="([^"]+)"/g)].map(([, id = ""]) => id);

describe("on SQLite", () => {
  pagesOn(async () => openSqlite(join(temporaryHome(), "events.db")));
});

describe("on PostgreSQL", () => {
  const server = usePostgres();
  pagesOn(async () => openPostgres(await server().createDatabase()));
});

function pagesOn(open: () => Promise<EventStore>): void {
  it("shows events and rejections together, the newest first, with filters, repeats and older pages", async () => {
    const store = await open();
    const { get } = openInspector(store);
    expect(wordsOf(await get("/"))).toContain("Waiting for the first webhook");
    expect(await get("/")).toContain("paylink trigger approved");
    const at = (second: number): Date => new Date(AT.getTime() + second * 1000);
    for (let number = 0; number < 60; number++)
      await store.append(event(idOf(`e${number}`, at(number)), { reference: `INV-${number}` }, at(number)));
    const first = event(
      idOf("repeated", at(61)),
      { reference: "TWICE", amountTrans: 12, transCurrencyCode: "EUR" },
      at(61),
    );
    await store.append(first, 0);
    await store.append({ ...first, id: idOf("again", at(62)) }, 0);
    await store.reject({ ...rejection(idOf("r", at(63))), receivedAt: at(63) });
    const page = await get("/");
    expect(rowIds(page).slice(0, 3)).toEqual([idOf("r", at(63)), first.id, idOf("e59", at(59))]);
    expect(wordsOf(await get(`/events/${first.id}`))).toContain(
      `Webhook repeated request ${idOf("again", at(62))}`,
    );
    for (const words of [
      "signature_invalid",
      "401 by listen",
      "TWICE",
      "×2",
      "EUR 12.00",
      "approved",
      "1 pending",
    ])
      expect(wordsOf(page)).toContain(words);
    const [, older = ""] = /rel="next" href="([^"]+)"/.exec(page) ?? [];
    expect(rowIds(await get(older.replaceAll("&amp;", "&")))).toHaveLength(12);
    expect(rowIds(await get("/?state=pending"))).toEqual([first.id]);
    expect(rowIds(await get("/?state=rejected"))).toEqual([idOf("r", at(63))]);
    expect(wordsOf(await get("/?state=failed"))).toContain("No failed events.");
    expect(rowIds(await get("/?text=TWICE"))).toEqual([first.id]);
    expect(wordsOf(await get("/?text=nothing"))).toContain(
      "No event or rejected webhook matches all of these filters.",
    );
  });

  it("says on the page of an event what became of it, and who did what", async () => {
    const store = await open();
    const { get, post, observed } = openInspector(store);
    const nowhere = event(idOf("a"), { reference: "NOWHERE" });
    await store.append(nowhere);
    expect(wordsOf(await get(`/events/${nowhere.id}`))).toContain("It is not forwarded: start listen");
    const waits = event(idOf("b"), { reference: "WAITS", cardPan: "4111111111111111", surprise: 1 });
    await store.append(waits, 0);
    const path = `/events/${waits.id}`;
    expect(wordsOf(await get(path))).toContain("It waits to be forwarded.");
    const claim = await claimOne(store);
    expect(wordsOf(await get(path))).toContain("It is being forwarded now.");
    await store.ended(claim, { ...forward(500), detail: "nope" }, 3_600_000);
    const refused = wordsOf(await get(path));
    expect(refused).toMatch(/Your application refused it: 500 nope\. Attempt 2 in \d/);
    for (const words of ["✓ Signed parts", "✓ Signature", "paylink verify --event", "************1111"])
      expect(refused).toContain(words);
    expect(refused).not.toContain("4111111111111111");
    expect((await post(`${path}/skip`, `back=${path}`)).header("location")).toBe(`${path}?done=skip`);
    expect(wordsOf(await get(path))).toMatch(/It was skipped, and will not be forwarded\..*Skip by tester/);
    await post(`${path}/retry`);
    expect(wordsOf(await get(path))).toContain("Retry by tester");
    const again = await claimOne(store);
    expect((await post(`${path}/retry`)).header("location")).toBe("/?done=busy");
    await store.ended(again, unanswered("connection refused"));
    expect(wordsOf(await get(path))).toMatch(
      /Your application did not answer\. It is not sent again by itself\. .*connection refused/,
    );
    expect((await post("/retry-all")).header("location")).toBe("/?done=retry-1");
    const last = await claimOne(store);
    await store.ended(last, forward(200));
    expect(wordsOf(await get(path))).toContain("Your application accepted it: 200 in 12 ms.");
    expect(observed).toEqual(["skip WAITS", "retry WAITS", "busy WAITS", "retry 1 event"]);
    expect(await get(`/events/uti-${waits.id}`)).toContain("WAITS");
  });

  it("lists all payments of an order, and says that it was paid twice", async () => {
    const store = await open();
    const { get } = openInspector(store);
    const ofOrder = (name: string, reference: string, record = {}) =>
      event(idOf(name), { reference, amountTrans: 18, transCurrencyCode: "EUR", ...record });
    const declined = ofOrder("a", "A-17", { transApproved: false });
    const [first, second] = [ofOrder("b", "A-17"), ofOrder("c", "A-17")];
    for (const one of [declined, first, second, ofOrder("d", "A-171"), ofOrder("e", "A-17-69LXLDV9W")])
      await store.append(one);
    const page = await get(`/events/${first.id}`);
    const ofA17 = [declined.id, first.id, second.id];
    expect(rowIds(page).filter((id) => id.startsWith(idOf("")))).toEqual(ofA17);
    expect(wordsOf(page)).toContain("Paid twice, EUR 36.00: EUR 18.00 too much.");
    expect(wordsOf(page)).toContain("paylink reconcile A-17");
    expect(wordsOf(await get(`/events/${idOf("e")}`))).not.toContain("aid twice");
    const order = await get("/orders/A-17");
    expect(rowIds(order).filter((id) => id.startsWith(idOf("")))).toEqual(ofA17);
    expect(wordsOf(order)).toContain("Paid twice, EUR 36.00: EUR 18.00 too much.");
    expect(await get("/")).toContain(`class="count failed" href="/orders/A-17"`);
  });

  it("lists the payments of a reusable link where its number is asked for as an order", async () => {
    const store = await open();
    const { get, request } = openInspector(store);
    for (const name of ["a", "b"])
      await store.append(event(idOf(name), { reference: `R 1-${name.toUpperCase()}LXLDV9W1` }));
    const list = (await request("GET", "/orders/R%201")).header("location") ?? "";
    expect(list).toBe("/?text=R+1");
    expect(rowIds(await get(list))).toEqual([idOf("b"), idOf("a")]);
  });

  it("shows the whole answer of the application, and only the words of an HTML page", async () => {
    const store = await open();
    const { get } = openInspector(store);
    const one = event(idOf("a"), { reference: "PAGE" });
    await store.append(one, 0);
    const text =
      "<html><head><title>Oops</title></head><body><h1>No &lt;b&gt; order</h1><script>x()</script></body></html>";
    await store.ended(await claimOne(store), {
      ...forward(302),
      detail: "Oops No <b> order",
      reply: {
        headers: [
          ["Location", "/login"],
          ["Content-Type", "text/html"],
        ],
        text,
      },
    });
    expect(rowIds(await get("/?text=OOPS+no"))).toEqual([one.id]);
    expect(rowIds(await get("/?text=oops+yes"))).toEqual([]);
    const page = await get(`/events/${one.id}`);
    expect(wordsOf(page)).toContain("Your application refused it: 302 Oops No &lt;b&gt; order.");
    expect(wordsOf(page)).toMatch(/It redirects to \/login, which looks like a login.* Leads to \/login/);
    expect(page).toContain("Oops\nNo &lt;b&gt; order</pre");
    expect(page).toContain("&lt;script&gt;x()&lt;/script&gt;");
    expect(page).not.toContain("<script>x()");
  });

  it("keeps the filters in the address, and shows nothing if one cannot be read", async () => {
    const store = await open();
    const { get } = openInspector(store);
    const one = event(idOf("a"), { reference: "OLD", transApproved: false });
    await store.append(one);
    expect(rowIds(await get("/?outcome=declined&time=24h&from=&to="))).toEqual([one.id]);
    expect(rowIds(await get("/?outcome=approved"))).toEqual([]);
    expect(rowIds(await get("/?keys=own"))).toEqual([one.id]);
    expect(rowIds(await get("/?keys=other"))).toEqual([]);
    expect(rowIds(await get("/?to=2026-11-20"))).toEqual([]);
    expect(rowIds(await get("/?from=2026-11-21&to=2026-11-21"))).toEqual([one.id]);
    expect(await get("/?outcome=declined&text=OLD")).toContain('name="text" value="OLD"');
    await store.append(event(idOf("b"), { reference: "NEW" }), 0);
    await store.append(event(idOf("c"), { reference: "NEWER", transApproved: false }), 0);
    expect(rowIds(await get("/?state=pending"))).toEqual([idOf("c"), idOf("b")]);
    expect(rowIds(await get(`/?state=pending&older=${idOf("c")}`))).toEqual([idOf("b")]);
    expect(rowIds(await get("/?state=pending&keys=own&outcome=declined"))).toEqual([idOf("c")]);
    expect(rowIds(await get("/?state=pending&keys=other"))).toEqual([]);
    expect(rowIds(await get("/?state=pending&to=2026-11-20"))).toEqual([]);
    expect(rowIds(await get("/?state=failed&keys=own"))).toEqual([]);
    for (const query of ["outcome=paid", "time=soon", "from=31.12.", "state=lost", "keys=none"]) {
      const page = await get(`/?${query}`);
      expect([query, rowIds(page), /class="alert bad"/.test(page)]).toEqual([query, [], true]);
    }
  });

  it("answers the questions of an operator at night in the queue", async () => {
    const store = await open();
    const { get } = openInspector(store);
    expect(wordsOf(await get("/queue"))).toContain("Nothing waits, nothing has failed.");
    for (const name of ["a", "b"])
      await store.append(
        event(idOf(name), { reference: name, amountTrans: 10, transCurrencyCode: "EUR", status: "Complete" }),
        0,
      );
    expect(wordsOf(await get("/queue"))).toMatch(/Not attempted yet 2 pending, 0 failed –/);
    const [one, other] = await store.claim(wanted());
    if (one === undefined || other === undefined) throw new Error("nothing was claimed");
    const silent = unanswered("connection refused");
    await store.ended(one, silent, 3_600_000);
    await store.ended(other, silent);
    const page = await get("/queue");
    expect(wordsOf(page)).toMatch(
      /127\.0\.0\.1:3000 does not answer: 1 waits, the oldest for .*; 1 has failed\./,
    );
    expect(wordsOf(page)).toContain("1 acknowledged payment is not delivered, EUR 10.00");
    expect(wordsOf(page)).toMatch(
      /Failed: paylink does not retry these on its own .* Pending, next attempt first/,
    );
    expect(page).toContain("<title>(1 failed) Queue");
    expect(wordsOf(page)).toMatch(
      /Targets .*http:\/\/127\.0\.0\.1:3000\/\S* 1 pending, 1 failed none \(2\) next in \d+ (?:days|years)/,
    );
    for (const name of ["c", "d"]) await store.append(event(idOf(name)), 0);
    for (const claim of await store.claim(wanted())) await store.ended(claim, forward(500));
    await store.append(event(idOf("e")), 0);
    for (const claim of await store.claim(wanted())) await store.ended(claim, forward(502));
    expect(wordsOf(await get("/queue"))).toMatch(
      /127\.0\.0\.1:3000 does not answer \(2\), answers 500 \(2\), answers 502 \(1\): 1 waits/,
    );
    expect(wordsOf(await get("/queue"))).toMatch(/1 pending, 4 failed none \(2\), 500 \(2\), 502 \(1\)/);
    await store.append(event(idOf("h")), 0);
    for (const claim of await store.claim(wanted())) await store.ended(claim, forward(503));
    expect(wordsOf(await get("/queue"))).toMatch(/answers 500 \(2\), answers \d+ \(1\) and others: /);
    const large = { amountTrans: 1234567.5, transCurrencyCode: "EUR", status: "Complete" };
    await store.append(event(idOf("f"), large), 0);
    for (const claim of await store.claim(wanted())) await store.ended(claim, forward(200));
    await store.append(event(idOf("g"), large), 0);
    expect(wordsOf(await get("/queue"))).toContain("EUR 1,234,577.50");
  });

  it("leads from a part of the queue to all of it", async () => {
    const store = await open();
    const { get } = openInspector(store);
    const ids = Array.from({ length: 51 }, (_, index) => idOf(`many${index}`));
    await Promise.all(ids.map((id) => store.append(event(id), 0)));
    const [, all = ""] = /href="([^"]+)">Show all 51</.exec(await get("/queue")) ?? [];
    const page = await get(all);
    expect(page).not.toContain('class="alert bad"');
    expect(rowIds(page)).toHaveLength(50);
  });

  it("shows events of another key separately, and sends none of them", async () => {
    const store = await open();
    const send = vi.fn(async () => forward(200));
    const { get, post } = openInspector(store, {
      keys: async () => ["o".repeat(43)],
      sending: { target: "shop.example", signs: true, send },
    });
    const foreign = event(idOf("foreign"), { reference: "OTHER", amountTrans: 9, transCurrencyCode: "EUR" });
    await store.append(foreign, 0);
    const list = await get("/");
    expect(wordsOf(list.split('id="other-keys"')[0] ?? "")).not.toContain("OTHER");
    expect(wordsOf(list)).toMatch(/Verified with another key: this run does not send these.*OTHER/);
    expect(wordsOf(list)).not.toContain("1 pending");
    const queue = await get("/queue");
    expect(queue).not.toContain("Retry all");
    expect(rowIds(queue)).toEqual([]);
    const page = await get(`/events/${foreign.id}`);
    expect(wordsOf(page)).toContain("This event was verified with a key that this run does not have");
    expect(page).toContain(KEYS[0]);
    expect(page).not.toMatch(/\/(?:retry|send)"|curl -i|paylink trigger/);
    expect(page).toMatch(/\/skip"/);
    await post(`/events/${foreign.id}/retry`);
    await post(`/events/${foreign.id}/send`);
    await post("/retry-all");
    expect(send).not.toHaveBeenCalled();
    expect(await store.history(foreign.id)).toMatchObject({ attempts: [], actions: [] });
  });

  it("opens a rejection with what failed, and accepts it once it verifies", async () => {
    const store = await open();
    const rejected = rejection(idOf("r"), 20);
    const accepted: NewEvent = event(rejected.id, { reference: "LATE" });
    let verifies = false;
    const { get, post } = openInspector(store, { verifyNow: async () => (verifies ? accepted : undefined) });
    await store.reject(rejected);
    const path = `/events/${rejected.id}`;
    const page = await get(path);
    expect(wordsOf(page)).toContain("Rejected with 401:");
    expect(wordsOf(page)).toContain("✗ Signature");
    expect(page).toMatch(/<details id="fold-checks" open/);
    expect(page).not.toMatch(/<button[^>]*>\s*(?:Accept|Retry|Skip|Send)|>Record</);
    expect((await post(`${path}/accept`)).header("location")).toBe("/?done=refused");
    verifies = true;
    expect(wordsOf(await get(path))).toContain("It will become an event and be forwarded.");
    expect((await post(`${path}/accept`)).header("location")).toBe("/?done=accepted");
    expect(wordsOf(await get(path))).toContain("LATE");
  });
}

it("says after five seconds that the store does not answer", async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const store = openSqlite(join(temporaryHome(), "events.db"));
  const { request } = openInspector({ ...store, count: () => new Promise(() => undefined) });
  const asked = request("GET", "/");
  await vi.advanceTimersByTimeAsync(5_000);
  const { status, text } = await asked;
  expect([status, text]).toEqual([503, "The store did not answer in 5 s. Reload the page to try again.\n"]);
});

it("adds up a corrected payment once, and says which events it leaves out", async () => {
  const store = openSqlite(join(temporaryHome(), "events.db"));
  for (const [name, amountTrans] of [
    ["a", 10],
    ["b", 8],
  ] as const)
    await store.append(event(idOf(name), { uti: "U-1", amountTrans, transCurrencyCode: "EUR" }));
  const { get } = openInspector(store);
  const words = wordsOf(await get("/"));
  expect(words).toContain("2 events (1 replaced by a newer record); approved EUR 8.00.");
  expect(words).toContain("Approved EUR 8.00.");
});

it("caches sums that are slow to compute", async () => {
  const store = openSqlite(join(temporaryHome(), "events.db"));
  await store.append(event(idOf("a"), { reference: "SUM" }));
  let time = NOW.getTime();
  let read = 0;
  const totals: EventStore["totals"] = async (...asked) => {
    read += 1;
    time += 300;
    return store.totals(...asked);
  };
  const { get } = openInspector({ ...store, totals }, { now: () => new Date(time) });
  await get("/?outcome=approved&time=24h");
  await get("/?outcome=approved&time=24h");
  expect(read).toBe(1);
  await get("/?outcome=declined&time=24h");
  expect(read).toBe(2);
  time += 10_000;
  await get("/?outcome=approved&time=24h");
  expect(read).toBe(3);
});

it("shows a rejection although the address of the keys hangs", async () => {
  const store = openSqlite(join(temporaryHome(), "events.db"));
  await store.reject(rejection(idOf("r")));
  const { get } = openInspector(store, { verifyNow: () => new Promise(() => undefined) });
  expect(wordsOf(await get(`/events/${idOf("r")}`))).toContain("Rejected with 401:");
});

it("says that an event is not in the store, in place of its page, its files and its actions", async () => {
  const { request, post } = openInspector(openSqlite(join(temporaryHome(), "events.db")));
  const path = `/events/${idOf("pruned")}`;
  for (const answer of [
    await request("GET", path),
    await request("GET", `${path}/body`),
    await post(`${path}/skip`),
  ])
    expect([answer.status, wordsOf(answer.text)]).toEqual([404, expect.stringContaining("no such event")]);
});

describe("sending again", () => {
  it("goes to the named target, warns, and is recorded with its answer", async () => {
    const store = openSqlite(join(temporaryHome(), "events.db"));
    const one = event(idOf("a"), { reference: "AGAIN" });
    await store.append(one);
    const path = `/events/${one.id}`;
    expect((await openInspector(store).post(`${path}/send`)).header("location")).toBe("/?done=target");
    expect((await store.history(one.id)).attempts).toEqual([]);
    const targets: string[] = [];
    const send: EventSending["send"] = async (_, to) => {
      targets.push(to);
      return { ...forward(500), reply: { headers: [], text: "no\nstock" } };
    };
    const sending = { ...NOWHERE, target: "http://127.0.0.1:3000/", send };
    const { get, post } = openInspector(store, { sending });
    expect(wordsOf(await get(path))).toMatch(/Its signature is .* old; most verifiers refuse it\./);
    expect((await post(`${path}/send`)).header("location")).toBe("/?done=unsent");
    await post(`${path}/send`, "back=/&to=3001%2Fhook");
    expect(targets).toEqual(["http://127.0.0.1:3000/", "3001/hook"]);
    const page = await get(path);
    expect(wordsOf(page)).toMatch(/Answer to the webhook sent by hand 500 after 12 ms .*no stock/);
    expect(page).toContain(">no\nstock</pre");
    const signing = openInspector(store, { sending: { ...sending, signs: true } });
    expect(await signing.get(path)).not.toContain("Its signature is");
  });

  it("gives the command that sends a changed copy, with an order number of its own", async () => {
    const store = openSqlite(join(temporaryHome(), "events.db"));
    const one = event(idOf("a"), { reference: "COPY", amountTrans: 18 });
    await store.append(one);
    const { get, request } = openInspector(store, {
      sending: { ...NOWHERE, target: "http://127.0.0.1:3000/" },
    });
    expect(wordsOf(await get(`/events/${one.id}`))).toContain(
      `paylink trigger --from ${one.id} --reference SAMPLE-COPY --amount 18 --to http://127.0.0.1:3000/`,
    );
    expect((await request("GET", `/events/${one.id}/edit`)).status).toBe(404);
  });

  it("gives the request as curl, and the list as CSV that a spreadsheet takes for text", async () => {
    const store = openSqlite(join(temporaryHome(), "events.db"));
    const formula = event(idOf("a"), { reference: "=HYPERLINK(1)", amountTrans: 1.5, cardPan: "****1111" });
    const hidden = event(idOf("b"), { reference: "it's", note: "4111111111111111" });
    const split = [
      event(idOf("c"), { reference: "a;=HYPERLINK(2);b" }),
      event(idOf("d"), { reference: "a;-5" }),
    ];
    for (const one of [formula, hidden, ...split]) await store.append(one);
    await store.reject(rejection(idOf("r")));
    const { get, request } = openInspector(store);
    expect(wordsOf(await get(`/events/${formula.id}`))).toMatch(/curl -i -X POST .*--data-binary &#39;\{/);
    const page = wordsOf(await get(`/events/${hidden.id}`));
    expect(page).toMatch(/--data-binary @webhook\.json .*Download webhook\.json/);
    const csv = await get("/export.csv");
    expect(csv.split("\r\n")[0]).toBe(
      "received,id,state,outcome,amount,currency,order,uti,card,answer,attempts,reason",
    );
    expect(csv).toContain(`,1.5,,'=HYPERLINK(1),uti-${formula.id},1111,`);
    expect(csv).toContain(",rejected,,,,,,,401,,signature_invalid");
    // Wherever a spreadsheet splits the file.
    expect(csv).toContain(`a;'=HYPERLINK(2);b`);
    expect(csv).toContain("a;'-5");
    expect((await request("GET", "/export.csv?time=soon")).status).toBe(400);
    const hostile = await request("GET", "/export.csv?state=%E2%80%AE%00%1b[2J");
    expect([hostile.status, hostile.header("content-type")]).toEqual([400, "text/plain; charset=utf-8"]);
    // eslint-disable-next-line no-control-regex
    expect(hostile.text).not.toMatch(/[\u202e\0\u001b]/);
    expect((await request("GET", "/export.csv", { headers: {} })).status).toBe(403);
  });
});

it.each(["//[", "//]", "//evil.example/", "/\\evil.example"])("has no page at %s", async (target) => {
  const { request } = openInspector(openSqlite(join(temporaryHome(), "events.db")));
  expect([400, 404]).toContain((await request("GET", target)).status);
});

describe("everyone else is refused", () => {
  const PATHS = ["/", "/queue", "/events/x", "/events/x/body", "/inspector.js", "/nowhere"];

  it.each([
    ["no key", {}],
    ["another cookie", { Cookie: `paylink-inspect-4020=${"x".repeat(32)}` }],
    ["the cookie of another port", { Cookie: `paylink-inspect-4021=${SESSION}` }],
    ["the key as a cookie", { Cookie: "paylink-inspect-4020=key-1" }],
    ["the key in another place", { Authorization: "Bearer key-1", Referer: `${PAGES}/?key=key-1` }],
  ])("with %s", async (_, headers) => {
    const store = openSqlite(join(temporaryHome(), "events.db"));
    const { request } = openInspector(store);
    for (const path of PATHS) {
      const { status, text } = await request("GET", path, { headers });
      expect([status, text]).toEqual([
        403,
        expect.stringContaining("Open the last address that paylink inspect printed in its terminal"),
      ]);
      expect(text).not.toContain(store.place);
    }
    const action = await request("POST", "/retry-all", { headers: { ...headers, Origin: SAME_PAGE.Origin } });
    expect(action.status).toBe(403);
  });

  it.each([
    "evil.example:4020",
    "127.0.0.1.evil.example",
    "10.0.0.1:4020",
    "127.0.0.1:4020",
    "localhost:4020",
    "paylink-000000000000.localhost:4020",
    `x.${HOST}:4020`,
  ])("at the host %s", async (authority) => {
    const { request } = openInspector(openSqlite(join(temporaryHome(), "events.db")));
    for (const path of [...PATHS, "/?key=key-1"])
      expect((await request("GET", path, { authority })).status).toBe(421);
  });

  it.each([
    {},
    { Origin: "https://evil.example" },
    { Origin: "null" },
    { Origin: "http://127.0.0.1:9999" },
    { "Sec-Fetch-Site": "cross-site" },
    { "Sec-Fetch-Site": "same-site" },
    { "Sec-Fetch-Site": "none" },
  ])("by a form of a page with %j", async (page) => {
    const store = openSqlite(join(temporaryHome(), "events.db"));
    await store.append(event(idOf("a")), 0);
    const { request, observed } = openInspector(store);
    for (const path of ["/retry-all", `/events/${idOf("a")}/skip`, `/events/${idOf("a")}/retry`])
      expect((await request("POST", path, { headers: { ...COOKIE, ...page } })).status).toBe(403);
    expect(observed).toEqual([]);
    expect((await store.history(idOf("a"))).actions).toEqual([]);
  });

  it("by a GET, which changes nothing, whatever it asks for", async () => {
    const store = openSqlite(join(temporaryHome(), "events.db"));
    await store.append(event(idOf("a")), 0);
    const { request } = openInspector(store);
    for (const path of ["/retry-all", `/events/${idOf("a")}/skip`])
      expect((await request("GET", path)).status).toBe(404);
    expect((await store.history(idOf("a"))).actions).toEqual([]);
  });

  it("exchanges the printed key once for a cookie, prints a new one, and leads to a clean address of this host", async () => {
    const { request, printed } = openInspector(openSqlite(join(temporaryHome(), "events.db")));
    const answer = await request("GET", "/queue?key=key-1", { headers: {} });
    expect([answer.status, answer.header("location")]).toEqual([303, "/queue"]);
    expect(answer.header("set-cookie")).toBe(`${COOKIE.Cookie}; Path=/; HttpOnly; SameSite=Lax`);
    for (const key of ["key-1", "wrong", ""]) {
      const wrong = await request("GET", `/?key=${key}`, { headers: {} });
      expect([wrong.header("location"), wrong.header("set-cookie")]).toEqual(["/", undefined]);
    }
    expect(printed).toEqual([`${PAGES}/?key=key-1`, `${PAGES}/?key=key-2`]);
    // The browser that has the cookie uses up no key.
    await request("GET", "/?key=key-2");
    const evil = await request("GET", "//evil.example/?key=key-2", { headers: {} });
    expect([evil.header("location"), evil.header("set-cookie")]).toEqual([
      "/evil.example/",
      expect.anything(),
    ]);
    const page = await request("GET", "/");
    expect(page.text).not.toContain(SESSION);
    expect(page.header("cache-control")).toBe("no-store");
    expect(page.header("content-security-policy")).toContain("default-src 'none'");
    for (const back of ["https://evil.example/", "//evil.example/", "/.//evil.example", "/\\evil.example"]) {
      const led = await request("POST", "/retry-all", {
        headers: SAME_PAGE,
        body: `back=${encodeURIComponent(back)}`,
      });
      expect(led.header("location")).toBe("/?done=retry-0");
    }
  });

  it("by hostile fields of a record, a header or a reference, which are shown as short, visible text", async () => {
    const store = openSqlite(join(temporaryHome(), "events.db"));
    const evil = `"><script>alert(1)</script>\u202e\u001b[31m`;
    const one = event(idOf("a"), {
      reference: evil + "x".repeat(20_000),
      merchantName: evil,
      cardScheme: evil,
      [evil]: evil,
      responseCode: evil.repeat(100),
    });
    await store.append(
      {
        ...one,
        request: {
          ...one.request,
          target: `/${"y".repeat(20_000)}`,
          headers: [
            ["X-Evil", evil],
            ["X-Long", "z".repeat(50_000)],
          ],
        },
      },
      0,
    );
    const claim = await claimOne(store);
    await store.ended(claim, {
      ...forward(500),
      detail: evil.repeat(20),
      target: `http://127.0.0.1/${evil}`,
    });
    const { get } = openInspector(store);
    for (const path of ["/", "/queue", `/events/${one.id}`, `/?text=${encodeURIComponent(evil)}`]) {
      const page = await get(path);
      expect(page).not.toContain("<script>alert");
      // oxlint-disable-next-line no-control-regex
      expect(page).not.toMatch(/[\u202e\u001b]/);
      expect(Buffer.byteLength(page)).toBeLessThan(60_000);
    }
  });
});
