/** `--duplicate-invoices`: whether a terminal takes a second link with the same `invoiceId`. */
import { join } from "node:path";
import { expect, it } from "vitest";
import { startSandboxCommand } from "../support/background-command.ts";
import { runCommand } from "../support/context.ts";
import { temporaryHome } from "../support/home.ts";
import { oneTime, openTestSandbox, reusable } from "../support/sandbox.ts";

it("accepts a second link with the same invoiceId by default", async () => {
  const service = openTestSandbox();
  const request = oneTime(service, { invoiceId: "INV-1" });
  expect((await service.create(request)).status).toBe(200);
  expect((await service.create(request)).status).toBe(200);
});

it("refuses it on request, also after the first link has ended and the sandbox was restarted", async () => {
  const path = join(temporaryHome(), "sandbox.db");
  const first = openTestSandbox({ path, duplicateInvoices: "refuse" });
  const { id } = (await first.create(oneTime(first, { invoiceId: "INV-1" }))).json();
  await first.call("POST", `/v1/payment-links/${String(id)}/cancel`);
  await first.sandbox.close();
  const service = openTestSandbox({ path, duplicateInvoices: "refuse" });
  const answer = await service.create(reusable(service, {}, { invoiceId: "INV-1" }));
  expect(answer.status).toBe(422);
  expect(answer.header("content-type")).toBe("application/problem+json");
  const message = 'another link at this terminal has the invoiceId "INV-1"';
  expect(answer.json()).toMatchObject({
    status: 422,
    code: 422,
    message,
    detail: message,
    errors: [{ pointer: "#/invoiceId", detail: "is the invoiceId of another link at this terminal" }],
  });
});

it("accepts other invoiceIds, and links without one", async () => {
  const service = openTestSandbox({ duplicateInvoices: "refuse" });
  for (const changes of [{ invoiceId: "INV-1" }, { invoiceId: "inv-1" }, { invoiceId: "1" }, {}, {}])
    expect((await service.create(oneTime(service, changes))).status).toBe(200);
});

it("accepts one of two that arrive together", async () => {
  const service = openTestSandbox({ duplicateInvoices: "refuse" });
  const request = oneTime(service, { invoiceId: "INV-1" });
  const answers = await Promise.all([service.create(request), service.create(request)]);
  expect(answers.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([200, 422]);
});

it("says so on the dashboard", async () => {
  const service = openTestSandbox({ duplicateInvoices: "refuse" });
  await service.create(oneTime(service, { invoiceId: "INV-1" }));
  const form = new URLSearchParams({
    key: service.dashboardKey,
    amount: "10",
    currency: "EUR",
    customerName: "Ada Lovelace",
    expirationDate: "7d",
    terminalId: service.identity.terminals[0] ?? "",
    invoiceId: "INV-1",
  });
  const answer = await service.request("POST", "/sandbox/links", {
    headers: { Accept: "text/html" },
    body: form.toString(),
  });
  expect(answer.status).toBe(422);
  expect(answer.text).toContain("another link at this terminal has the invoiceId");
});

it("ends create with 4 and the service's words", async () => {
  const home = temporaryHome();
  await startSandboxCommand(home, "--duplicate-invoices", "refuse");
  const create = ["create", "--amount", "10", "--currency", "EUR", "--invoice-id", "INV-1"];
  expect((await runCommand([...create, "-q"], { home })).exit).toBe(0);
  const second = await runCommand(create, { home });
  expect(second.exit).toBe(4);
  expect(second.stderr.replace(/\s+/g, " ")).toContain(
    'another link at this terminal has the invoiceId "INV-1"',
  );
});
