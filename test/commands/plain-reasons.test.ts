/** What the system, the network or TLS refuses is said in plain words, with the address or file, and without its codes. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { selfSigned } from "../support/certificate.ts";
import { runCommand } from "../support/context.ts";
import { temporaryHome } from "../support/home.ts";
import { rawServer } from "../support/raw-server.ts";

const listen = ["listen", "--port", "0", "--no-store"];

/** A reserved port, where nothing listens. */
const CLOSED = "127.0.0.1:1";

/** `folder`, `one.crt` and `two.key` are replaced by files of the test. */
it.each<[args: string[], exit: number, reason: string]>([
  [
    [...listen, "--key", `http://${CLOSED}/key.pem`],
    5,
    `The key at http://${CLOSED}/key.pem cannot be fetched: http://${CLOSED}: connection refused.`,
  ],
  [
    [...listen, "--key", "one.crt", "--admin", "192.0.2.1:0"],
    2,
    "Cannot listen on 192.0.2.1 port 0: this machine has no such address.",
  ],
  [
    [...listen, "--no-verify", "--tls-cert", "one.crt", "--tls-key", "two.key"],
    2,
    "cannot be used for https: the key does not belong to the certificate.",
  ],
  [
    [...listen, "--no-verify", "--tls-cert", "one.crt", "--tls-key", "one.crt"],
    2,
    "cannot be used for https: one of the two files is not PEM, or the key needs a passphrase.",
  ],
  [["trigger", "approved", "--to", `http://${CLOSED}/`], 5, "connection refused"],
  [["pay", `http://${CLOSED}/pay?r=L1`], 5, `http://${CLOSED}: connection refused.`],
  [["verify", "folder", "--key", "one.crt"], 2, "folder: it is a folder."],
  [["test", "--", "folder"], 2, "folder: permission denied."],
  [["events", "list", "--db", "folder"], 2, "folder cannot be opened: it is a folder."],
  [["sandbox", "--port", "0", "--db", "folder"], 2, "folder cannot be opened: it is a folder."],
])("%j", async (args, exit, reason) => {
  const home = temporaryHome();
  const [one, two] = [selfSigned(temporaryHome(), "one"), selfSigned(temporaryHome(), "two")];
  const folder = join(home, "folder");
  mkdirSync(folder);
  const files = new Map(Object.entries({ folder, "one.crt": one.cert, "two.key": two.key }));
  const ended = await runCommand(
    args.map((arg) => files.get(arg) ?? arg),
    { home },
  );
  expect({ exit: ended.exit, stdout: ended.stdout }).toEqual({ exit, stdout: "" });
  expect(ended.stderr).toContain(reason);
  expect(ended.stderr).not.toMatch(/\bE[A-Z]{4,}\b|error:0|errno|syscall/);
});

it("names a port that speaks no TLS", async () => {
  const server = await rawServer(
    () => undefined,
    (socket) => socket.end("220 mail.example ESMTP\r\n"),
  );
  const { exit, stderr } = await runCommand([...listen, "--key", server.url.replace("http:", "https:")]);
  expect(exit).toBe(5);
  expect(stderr).toContain(": the server does not use TLS at this port.\n");
});
