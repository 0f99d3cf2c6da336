/** What the documented service and the gateways before it do besides, each as a case of the strict imitation. */
import { expect, it } from "vitest";
import { runCommand, type CommandEnd } from "../support/context.ts";
import { CLIENT, startDocumentedService, type Gateway } from "../support/documented-service.ts";
import { temporaryHome } from "../support/home.ts";

const CREATE = ["create", "--amount", "10", "--json"];

/** An account that is not checked when it is stored, with a command line and a new link. */
async function account(gateway: Gateway) {
  const home = temporaryHome();
  const service = await startDocumentedService(gateway);
  const login = ["login", ...service.login, "--no-check"];
  expect((await runCommand(login, { home, stdin: CLIENT.secret })).exit).toBe(0);
  const run = (...args: string[]) => runCommand(args, { home });
  const create = async (): Promise<string> => {
    const { exit, stdout } = await run(...CREATE);
    expect(exit).toBe(0);
    const [, id = ""] = /"id":"(\w+)"/.exec(stdout) ?? [];
    return id;
  };
  return { service, run, create };
}

it.each<[string, Gateway]>([
  ["as documented", {}],
  ["by pages of two links", { largestPage: 2 }],
  ["with 204 after a change", { changed: 204 }],
  ["with nothing after a change", { changed: 200 }],
  ["with a slash at the end", { slash: "added" }],
  ["without a slash at the end", { slash: "removed" }],
  ["with 403 for a token after three uses", { tokenUses: 3 }],
  ["with each reply in an envelope", { envelope: "data" }],
])("a service that answers %s is used from creating to cancelling", async (_, gateway) => {
  const { run, create } = await account(gateway);
  const [id] = [await create(), await create(), await create(), await create(), await create()];
  const listed = await run("links", "list", "--json");
  expect({ exit: listed.exit, lines: listed.stdout.trimEnd().split("\n").length }).toEqual({
    exit: 0,
    lines: 5,
  });
  const linkIn = ({ exit, stdout }: CommandEnd): unknown => {
    expect(exit).toBe(0);
    const reply = JSON.parse(stdout);
    return gateway.envelope === undefined ? reply : reply[gateway.envelope];
  };
  const { expirationDate } = linkIn(await run("links", "show", id, "--json")) as { expirationDate: string };
  expect(linkIn(await run("links", "update", id, "--description", "Order 1", "--json"))).toMatchObject({
    id,
    description: "Order 1",
    expirationDate,
  });
  expect(linkIn(await run("links", "cancel", id, "--yes", "--json"))).toMatchObject({
    id,
    status: "cancelled",
  });
});

it("a link whose gateway gave up has an unknown outcome, is sent once, and is found by the advised command", async () => {
  const { service, run } = await account({ givesUp: true });
  const { exit, stderr } = await run("create", "--amount", "10");
  expect(exit).toBe(6);
  expect(stderr).toContain("paylink links list");
  expect(service.requests.filter((request) => request.startsWith("POST /v1/"))).toHaveLength(1);
  expect((await run("links", "list", "--json")).stdout.trimEnd().split("\n")).toHaveLength(1);
});

it("warns before it sends what the service does not offer", async () => {
  const { run, service } = await account({});
  const euro = await run("create", "--amount", "10", "--currency", "EUR");
  expect(euro.exit).toBe(0);
  expect(euro.stderr).toContain("--currency is sent as it is: the documentation of DNA Payments");
  const reusable = await run("create", "--reusable");
  expect(reusable.stderr).toContain("--invoice-id is not given: DNA Payments");
  const fine = await run("create", "--reusable", "--invoice-id", "INV-1");
  expect(fine.stderr).not.toContain("is not given");
  expect(service.requests.filter((request) => request === "POST /v1/payment-links")).toHaveLength(3);
});

it("shows what the service refuses, in its words and with its code", async () => {
  const { run } = await account({});
  const type = await run("create", "--amount", "10", "--type", "GIFT");
  expect(type.exit).toBe(4);
  expect(type.stderr).toContain("Unknown transactionType (code 24)");
  const old = await run("links", "list", "--since", "400d");
  expect(old.exit).toBe(4);
  expect(old.stderr).toContain("from is more than 365 days ago (code 25)");
  expect((await run("links", "list", "--since", "365d")).exit).toBe(0);
});
