/** No secret in any output of any command, with everything shown that `--debug` shows. */
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { createProgram } from "../../src/program.ts";
import { CREATE } from "../support/account.ts";
import { startCommand } from "../support/background-command.ts";
import { runCommand } from "../support/context.ts";
import { CLIENT, SERVICE_TOKEN, startDocumentedService } from "../support/documented-service.ts";
import { storeProfiles, temporaryHome } from "../support/home.ts";
import { keyFile } from "../support/keys.ts";
import { post, record, webhook } from "../support/webhooks.ts";
import { listenOnFreePort } from "../support/ports.ts";
import { rawServer, type RawServer } from "../support/raw-server.ts";

const TOKEN = "tok_c2VjcmV0LW9uZQ";
const CLIENT_SECRET = 'sec"ret+two/three';
const ACCESS_TOKEN = "acc_dGhyZWU";
const SECRETS = [TOKEN, CLIENT_SECRET, ACCESS_TOKEN, encodeURIComponent(CLIENT_SECRET), 'sec\\"ret'];

const LINK = [...CREATE.slice(1), "--terminal-id", "1"];

/** How each command is run here; one that is not named runs bare. */
const ARGUMENTS: Readonly<Record<string, readonly (readonly string[])[]>> = {
  create: [LINK, [...LINK, "--json"], [...LINK, "--curl"], ["--amount", "ten"]],
  transaction: [["U-1"], ["U-1", "--json"]],
  status: [[], ["--json"]],
  config: [["list"], ["list", "--json"], ["get", "token"], ["set", "clientSecret", "x"], ["path"]],
  logout: [[]],
  listen: [["--port", "0"]],
  inspect: [["--port", "0", "--no-open"]],
  sandbox: [["--port", "0"]],
};

/** Commands that run until they are stopped; each prints its address when it is ready. */
const SERVING = ["listen", "inspect", "sandbox"];

/** Repeats what it was given in every way that a careless service might. */
function careless(): Promise<RawServer> {
  return rawServer((socket) => {
    const words = `no: ${TOKEN} ${ACCESS_TOKEN} ${CLIENT_SECRET}`;
    const body = JSON.stringify({
      access_token: ACCESS_TOKEN,
      detail: words,
      errors: [{ pointer: TOKEN, detail: TOKEN }],
    });
    socket.write(
      `HTTP/1.1 401 ${TOKEN}\r\nSet-Cookie: s=${TOKEN}\r\nX-Seen: ${TOKEN}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
  });
}

/** Both are stored, and the first is used. */
const LOGINS = [
  (url: string) => ({
    clientSecret: CLIENT_SECRET,
    clientId: "shop",
    tokenUrl: `${url}/token`,
    token: TOKEN,
  }),
  () => ({ token: TOKEN, clientSecret: CLIENT_SECRET }),
];

function homesAt(url: string): string[] {
  return LOGINS.map((login) => {
    const home = temporaryHome();
    storeProfiles(home, { shop: { baseUrl: url, ...login(url) } });
    return home;
  });
}

async function output(args: readonly string[], home: string): Promise<string> {
  const command = startCommand([...args, "--debug", "--no-input"], { home });
  if (SERVING.includes(args[0] ?? "")) await Promise.race([command.until(/http:/), command.ended]);
  else await command.ended;
  const { stdout, stderr } = await command.stop();
  return stdout + stderr;
}

const program = createProgram({
  version: "0",
  execute: () => Promise.reject(new Error("no command runs")),
  print: () => undefined,
});
await Promise.all(program.commands.map((command) => command.declared()));
const commands = program.commands.map((command) => command.name());

describe("secrets", () => {
  it("are looked for in commands that exist", () => {
    expect(Object.keys(ARGUMENTS).filter((name) => !commands.includes(name))).toEqual([]);
  });

  it("are in the output of no command", async () => {
    // This is how `complete` prints.
    const completions = vi.spyOn(console, "log").mockImplementation(() => undefined);
    onTestFinished(() => completions.mockRestore());
    const service = await careless();
    const lines = commands.flatMap((name) => (ARGUMENTS[name] ?? [[]]).map((rest) => [name, ...rest]));
    expect(lines.length).toBeGreaterThan(15);
    const outputs = await Promise.all(
      lines.flatMap((args) =>
        homesAt(service.url).map(async (home) => [args, await output(args, home)] as const),
      ),
    );
    const completed = [["complete"], completions.mock.calls.join()] as const;
    for (const [args, text] of [...outputs, completed])
      for (const secret of SECRETS)
        expect({ args, found: text.includes(secret) }).toEqual({ args, found: false });
    expect(service.requests.join()).toContain(`Bearer ${TOKEN}`);
    expect(outputs.map(([, text]) => text).join()).toContain("Authorization: Bearer [redacted]");
  });

  it("are not in the exchanges of a login", async () => {
    const service = await startDocumentedService();
    const run = await runCommand(["login", ...service.login, "--debug"], { stdin: CLIENT.secret });
    expect(run.exit).toBe(0);
    expect(run.stderr).toContain("/oauth2/token");
    for (const secret of [CLIENT.secret, encodeURIComponent(CLIENT.secret), SERVICE_TOKEN])
      expect(run.stdout + run.stderr).not.toContain(secret);
  });

  it("are not in the messages of a failed login or a damaged settings file", async () => {
    const home = temporaryHome();
    const login = await runCommand(["login", "--base-url", "x", "--token-stdin", "--debug"], {
      home,
      stdin: `${TOKEN} ${TOKEN}`,
    });
    expect(login.exit).toBe(2);
    expect(login.stdout + login.stderr).not.toContain(TOKEN);
    writeFileSync(join(home, "settings.json"), `{"profiles":{"shop":{"token":"${TOKEN}"`);
    const status = await runCommand(["status", "--debug"], { home });
    expect(status.stdout).toContain("is damaged");
    expect(status.stdout + status.stderr).not.toContain(TOKEN);
  });

  it("are on no command line: no flag accepts one as its value", () => {
    const flags = program.commands
      .flatMap((command) => command.options)
      .filter((option) => /token|secret/i.test(option.long ?? ""));
    const named = new Set(flags.filter((option) => option.required).map(({ long }) => long));
    expect(named).toEqual(new Set(["--token-auth", "--token-scope", "--token-url"]));
  });
});

describe("card numbers", () => {
  it("are masked in what listen shows and logs, also by an application that repeats them", async () => {
    const home = temporaryHome();
    const echo = createServer((request, response) => {
      response.statusCode = 500;
      request.pipe(response);
    });
    const port = await listenOnFreePort(echo);
    for (const flags of [["--debug"], ["--debug", "--json"], ["--debug", "--compact"]]) {
      const args = ["listen", "--port", "0", "--key", keyFile(home), "--forward-to", String(port), ...flags];
      const listen = startCommand(args, { home });
      const [url = ""] = await listen.until(/http:[^\s"]+/);
      expect(await post(url, webhook(url, record({ cardPan: "4111111111111111" })))).toBe(500);
      const { stdout, stderr } = await listen.stop();
      expect(stderr).toContain('"cardPan":"************1111"');
      expect(stdout).toContain("************1111");
      expect(stdout + stderr).not.toContain("4111111111111111");
    }
  });
});
