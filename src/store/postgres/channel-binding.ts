/** `channel_binding=require` (PostgreSQL's manual, 34.1.2): a login that nobody between here and the server can pass on. */
import type pg from "pg";

/** The mechanism that binds a login to the certificate of its connection (RFC 5802, RFC 5929). */
const BOUND = "SCRAM-SHA-256-PLUS";

export class NotBound extends Error {
  readonly code = "ERR_CHANNEL_BINDING";
}

/**
 * Ends the connection before it has sent a password in another way, or a statement without such a login. The driver takes this
 * mechanism if the server offers it, and any other that the server asks for. It checks the server's final message itself.
 */
export function requireChannelBinding({ connection }: pg.Client): void {
  let isProven = false;
  const refuse = (why: string): void => void connection.stream.destroy(new NotBound(why));
  connection.on("authenticationSASL", ({ mechanisms }: { readonly mechanisms: readonly string[] }) => {
    if (!mechanisms.includes(BOUND)) refuse(`the server does not offer ${BOUND} on this connection`);
  });
  for (const asked of ["authenticationCleartextPassword", "authenticationMD5Password"])
    connection.on(asked, () => refuse(`the server asks for a login without ${BOUND}`));
  connection.on("authenticationSASLFinal", () => (isProven = true));
  connection.on("authenticationOk", () => {
    if (!isProven) refuse(`the server asks for no login with ${BOUND}`);
  });
}
