/** What a failure advises, run as it is printed, by another shell that has nothing of the first one's flags and variables. */
import { execFile } from "node:child_process";
import { existsSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { runStep } from "../support/context.ts";
import { GIVEN_ENVIRONMENT } from "../support/given-environment.ts";
import { storeProfiles, temporaryHome } from "../support/home.ts";
import { BINARY } from "../support/paylink.ts";
import { listenOnFreePort } from "../support/ports.ts";

interface Link {
  readonly id: string;
  readonly url: string;
  readonly terminalId: unknown;
  readonly invoiceId: unknown;
  readonly amount: unknown;
  readonly currency: unknown;
  readonly createdDate: string;
  status: string;
}

/** What goes wrong at the service. */
interface Fault {
  /** Its own ids. */
  readonly id?: string;
  /** The change is made, and the connection closes. */
  readonly lost?: string;
  readonly refused?: { readonly method: string; readonly status: number };
  /** The members of the answer to a creation that differ. */
  readonly created?: Readonly<Record<string, unknown>>;
}

const DAY = 86_400_000;

/** A service that knows the links of many terminals, and one link of T2 that was made long ago. */
async function startService({ id = "L1", lost, refused, created = {} }: Fault) {
  const links: Link[] = [];
  const add = (request: Partial<Link>, age = 0): Link => {
    const own = links.length === 0 ? id : `${id}${links.length}`;
    const { terminalId = "T2", invoiceId = "OLD", amount = 12, currency = "EUR" } = request;
    const createdDate = new Date(Date.now() - age).toISOString();
    const url = `https://pay.example/?r=${encodeURIComponent(own)}`;
    const link = { id: own, url, terminalId, invoiceId, amount, currency, createdDate, status: "active" };
    links.push(link);
    return link;
  };
  const answer = (method: string, url: URL, body: string): object => {
    const [, , , own, action] = url.pathname.split("/").map(decodeURIComponent);
    if (own === undefined && method === "POST") return { ...add(JSON.parse(body)), ...created };
    const query = url.searchParams;
    const records = links.filter(
      ({ terminalId, createdDate }) =>
        terminalId === query.get("terminalId") && createdDate >= (query.get("from") ?? ""),
    );
    if (own === undefined) return { records: Number(query.get("page")) > 1 ? [] : records };
    const link = links.find((one) => one.id === own);
    if (link !== undefined && action === "cancel") link.status = "cancelled";
    return { ...link };
  };
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      const { method = "" } = request;
      response.setHeader("Content-Type", "application/json");
      if (method === refused?.method) return response.writeHead(refused.status).end('{"message":"no"}');
      const reply = answer(method, new URL(request.url ?? "", "http://service.example"), parts.join(""));
      return method === lost ? response.destroy() : response.end(JSON.stringify(reply));
    });
  });
  return { links, add, url: `http://127.0.0.1:${await listenOnFreePort(server)}` };
}

const SHELLS = ["bash", "zsh", "fish"];
const run = promisify(execFile);

async function openShop(fault: Fault) {
  const service = await startService(fault);
  const home = temporaryHome();
  const account = { terminalId: "T1", currency: "EUR", customerName: "Ada", token: "token" };
  // The current profile has nothing of it.
  storeProfiles(home, {
    live: { ...account, baseUrl: "http://127.0.0.1:1" },
    two: { ...account, baseUrl: service.url, callbackUrl: "https://shop.example/" },
  });
  symlinkSync(BINARY, join(home, "paylink"));
  const paste = async (line: string, shell: string): Promise<string> => {
    const PATH = [home, dirname(process.execPath), process.env["PATH"] ?? ""].join(delimiter);
    const env = { ...GIVEN_ENVIRONMENT, PATH, HOME: home, PAYLINK_HOME: home };
    const { stdout, stderr } = await run(shell, ["-c", line], { cwd: home, env });
    return stdout + stderr;
  };
  return { service, home, paste };
}

/** The commands at the ends of lines. */
const advisedIn = (text: string): string[] =>
  Array.from(text.matchAll(/: (paylink .*)$/gm), ([, command = ""]) => command);

const CREATE = ["create", "--amount", "12", "--terminal-id", "T2"];
const IN = "{home}/request.json";

it.each<[string, Fault, readonly string[], Readonly<Record<string, string>>, RegExp]>([
  ["an answer is lost", { lost: "POST" }, ["-p", "two", ...CREATE, "--invoice-id", "INV-1"], {}, /L1/],
  ["the terminal is of a file", { lost: "POST" }, ["-p", "two", "create", "--from", IN], {}, /L1/],
  [
    "the terminal is of a variable",
    { lost: "POST" },
    ["create", "--amount", "12"],
    { PAYLINK_PROFILE: "two", PAYLINK_TERMINAL_ID: "T2" },
    /L1/,
  ],
  ["there is no order number", { lost: "POST" }, ["-p", "two", ...CREATE], {}, /L1/],
  ["the order number is a flag", { lost: "POST" }, ["-p", "two", ...CREATE, "--invoice-id=--json"], {}, /L1/],
  [
    "the order number is for a shell",
    { lost: "POST" },
    ["-p", "two", ...CREATE, "--invoice-id", "</dev/null; touch pwned; #>"],
    {},
    /L1/,
  ],
  [
    "it is a duplicate",
    { refused: { method: "POST", status: 409 } },
    ["-p", "two", ...CREATE, "--invoice-id", "OLD"],
    {},
    /L1/,
  ],
  [
    "the answer has no id to wait for",
    { created: { id: undefined, url: "https://pay.example/x" } },
    ["-p", "two", ...CREATE, "--wait"],
    {},
    /L11/,
  ],
  [
    "an update is lost",
    { lost: "PATCH" },
    ["-p", "two", "links", "update", "L1", "--expires", "2d"],
    {},
    /L1/,
  ],
  [
    "an update is refused",
    { refused: { method: "PATCH", status: 422 } },
    ["-p", "two", "links", "update", "L1", "--expires", "2d"],
    {},
    /L1/,
  ],
  ["a link of another terminal is shown", {}, ["-p", "two", "links", "show", "L1"], {}, /L1 was created|OLD/],
  ["a list names the terminal", {}, ["-p", "two", "bulk", "{home}/list.csv", "-y"], {}, /L11/],
])("where %s, the advised command shows it", async (name, fault, args, env, shown) => {
  const { service, home, paste } = await openShop(fault);
  service.add({}, 300 * DAY);
  const request = { amount: 12, terminalId: "T2", invoiceId: "F-1" };
  writeFileSync(join(home, "request.json"), JSON.stringify(request));
  writeFileSync(join(home, "list.csv"), "invoiceId,amount,terminalId\nR-1,12,T2\n");
  const failed = await runStep(
    args.map((word) => word.replace("{home}", home)),
    { home, env },
  );
  const text = failed.stdout + failed.stderr;
  const [advised = `none in ${text}`] = advisedIn(text);
  expect(advised).toContain("-p two");
  expect(advised).not.toMatch(/--since \d+[a-z]/);
  const shell = SHELLS[name.length % SHELLS.length] ?? "bash";
  expect(await paste(advised, shell).catch((error: { stdout: string }) => error.stdout)).toMatch(shown);
  expect(existsSync(join(home, "pwned"))).toBe(false);
});

it.each(SHELLS)("cancels the link that %s is told, whatever its id looks like", async (shell) => {
  for (const id of ["--profile=live", "a b/c?d", "$(touch${IFS}pwned);*~<>(&)"]) {
    const { service, home, paste } = await openShop({ id, created: { amount: 99 } });
    const created = await runStep(["-p", "two", ...CREATE], { home });
    const [advised = ""] = advisedIn(created.stderr);
    await paste(advised.replace("links cancel", "links cancel --yes"), shell);
    expect(service.links).toMatchObject([{ id, status: "cancelled" }]);
    expect(existsSync(join(home, "pwned"))).toBe(false);
  }
});

it("prints no command for an id that shells read in different ways", async () => {
  const { home } = await openShop({ id: String.raw`a\'; touch pwned; #`, created: { amount: 99 } });
  const { stdout, stderr } = await runStep(["-p", "two", ...CREATE], { home });
  expect(stderr).toContain("no command can be pasted");
  expect(stdout + stderr).not.toMatch(/paylink -p two links (?:cancel|show)/);
});
