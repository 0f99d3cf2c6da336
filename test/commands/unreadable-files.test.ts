/** A file that cannot be read is named with its flag and a plain reason. */
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { expect, it } from "vitest";
import { runCommand } from "../support/context.ts";
import { temporaryHome } from "../support/home.ts";
import { keyFile } from "../support/keys.ts";

it.each(["listen --key k.pem --port 0", "events list", "sandbox --port 0"])(
  "%s creates no folder for --db",
  async (typed) => {
    const home = temporaryHome();
    keyFile(home);
    const args = [
      ...typed.replace("k.pem", join(home, "service.pem")).split(" "),
      "--db",
      join(home, "nope", "x.db"),
    ];
    const { exit, stderr } = await runCommand(args, { home });
    expect({ exit, stderr }).toEqual({
      exit: 2,
      stderr: expect.stringContaining(`there is no folder ${join(home, "nope")}.`),
    });
    expect(existsSync(join(home, "nope"))).toBe(false);
  },
);

it.each(["events list", "events stats", "events tail", "inspect --no-open"])(
  "%s creates no event store from a name that was probably mistyped",
  async (typed) => {
    const home = temporaryHome();
    const db = join(home, "typo.db");
    const { exit, stderr } = await runCommand([...typed.split(" "), "--db", db], { home });
    expect({ exit, stderr }).toEqual({
      exit: 2,
      stderr: expect.stringMatching(
        /There is no event store at \S+typo\.db\.[^]*paylink listen --db \S+typo\.db/,
      ),
    });
    expect(existsSync(db)).toBe(false);
  },
);

it("inspect does not start on a file that is not an event store", async () => {
  const home = temporaryHome();
  const db = join(home, "junk.db");
  writeFileSync(db, "junk ".repeat(2000));
  const { exit, stdout, stderr } = await runCommand(["inspect", "--no-open", "--port", "0", "--db", db], {
    home,
  });
  expect({ exit, stdout }).toEqual({ exit: 2, stdout: "" });
  expect(stderr).toContain(`The database ${db} is damaged, or is not paylink's`);
});

it.each([
  ["create --from {}", "--from {}"],
  ["bulk - --dry-run --from {}", "--from {}"],
  ["bulk {} --dry-run", "{}"],
  ["verify {} --key {}", "--key {}"],
  ["verify --key {}", "--key {}"],
  ["listen --key {}", "--key {}"],
  ["listen --no-verify --tls-cert {} --tls-key {}", "--tls-cert {}"],
  ["trigger approved --sign-with {}", "--sign-with {}"],
  ["check http://127.0.0.1:9/ --sign-with {}", "--sign-with {}"],
])("%s", async (typed, named) => {
  const home = temporaryHome();
  for (const [path, reason] of [
    [join(home, "nope.pem"), "no such file"],
    [home, "it is a folder"],
  ] as const) {
    if (typed.startsWith("bulk {") && path === home) continue;
    const args = typed.replaceAll("{}", path).split(" ");
    const { exit, stdout, stderr } = await runCommand(args, { home });
    expect({ exit, stdout }).toEqual({ exit: 2, stdout: "" });
    expect(stderr).toContain(`Cannot read ${named.replace("{}", path)}: ${reason}.`);
  }
});

it("stops reading a file that never ends", async () => {
  const piece = Buffer.alloc(1024 * 1024);
  const stdin = Readable.from(
    (function* () {
      for (;;) yield piece;
    })(),
  );
  const { exit, stderr } = await runCommand(["create", "--from", "-", "--dry-run"], { stdin });
  expect({ exit, stderr }).toEqual({
    exit: 2,
    stderr: "✗ Cannot read --from stdin: it is longer than 128 MiB.\n",
  });
});
