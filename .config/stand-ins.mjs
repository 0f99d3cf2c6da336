/** Replaces what bundled packages import, and paylink never uses or must not have. */

/** In commander, which would start executables as subcommands: loading node:child_process is a twentieth of a short run (startup bench). */
export function spawn() {
  throw new Error("paylink has no subcommands that are programs");
}

/** Of ajv, which conf uses only with a schema: paylink gives it none. */
// oxlint-disable-next-line typescript/no-extraneous-class -- conf only imports its name
export class Ajv2020 {}

/**
 * ajv-formats; env-paths, which looks for a home that some users do not have; when-exit, which ends the process at the first
 * SIGINT or SIGTERM, before a command has finished its work; undici's client for HTTP/2, its encoding of forms,
 * and its agent for SOCKS; what measures a NATS server; summaries, and what collects metrics of
 * several processes or sends them.
 */
export default function nothing() {}
