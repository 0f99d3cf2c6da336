/** A tunnel of `cloudflared` to this machine: an address on the internet that a service can post to. */
import type { Context } from "../../context.ts";
import { PaylinkError } from "../../domain/errors.ts";
import { hint, paylink } from "../../domain/hint.ts";
import { programReason } from "../../values/system-reason.ts";
import { safeText } from "../../render/safe-text.ts";

export interface Tunnel {
  /** The address on the internet. */
  readonly url: URL;
  /** Resolves with the failure when the program ends. */
  readonly ended: Promise<PaylinkError>;
  readonly close: () => Promise<void>;
}

/** Milliseconds until the address is known; it usually takes ten seconds at most. */
const START_TIMEOUT = 45_000;
/** Characters of its output that are kept: it contains the address, or the reason of a failure. */
const KEPT_OUTPUT = 8_192;
/** `api` is where cloudflared asks for an address; it names that one when it gets none. */
const ADDRESS = /https:\/\/(?!api\.)[a-z0-9-]+\.trycloudflare\.com(?![a-z0-9.-])/i;

/** `target` is the listener's own address. Throws `tunnel_failed`, or the interruption. */
export async function openTunnel(
  target: string,
  { startProgram, signal }: Pick<Context, "startProgram" | "signal">,
  startTimeout = START_TIMEOUT,
): Promise<Tunnel> {
  signal.throwIfAborted();
  const program = await startProgram("cloudflared", ["tunnel", "--no-autoupdate", "--url", target]);
  let output = "";
  const lastLine = (): string => safeText(output.trim().split("\n").at(-1)?.trim() ?? "");
  const late = AbortSignal.any([signal, AbortSignal.timeout(startTimeout)]);
  try {
    const url = await new Promise<URL>((resolve, reject) => {
      const fail = (what: string): void => reject(notStarted(what, lastLine()));
      program.onStderr((text) => {
        output = (output + text).slice(-KEPT_OUTPUT);
        const [address] = ADDRESS.exec(output) ?? [];
        if (address !== undefined) resolve(new URL(address));
      });
      const end = (): void =>
        signal.aborted ? reject(signal.reason) : fail(`gave no address within ${startTimeout / 1000} s`);
      late.addEventListener("abort", end, { once: true });
      void program.ended.then((end) => (end instanceof Error ? reject(notRun(end)) : fail(`ended (${end})`)));
    });
    const ended = program.ended.then((reason) => tunnelLost(url, reason, lastLine()));
    return { url, ended, close: () => program.stop() };
  } catch (error) {
    await program.stop();
    throw error;
  }
}

const OWN_TUNNEL = hint`Or point your own tunnel at the listener, and give its address as --public-url.`;

const notRun = (cause: Error): PaylinkError =>
  new PaylinkError(
    "tunnel_failed",
    `Cannot run cloudflared: ${programReason(cause)}. Nothing is listening.`,
    {
      cause,
      hints: [
        hint`Install it: https://developers.cloudflare.com/cloudflare-one/connections/connect-networks/downloads/`,
        OWN_TUNNEL,
      ],
    },
  );

const notStarted = (what: string, output: string): PaylinkError =>
  new PaylinkError("tunnel_failed", `cloudflared opened no tunnel: it ${what}. Nothing is listening.`, {
    hints: [
      output === "" ? hint`It printed no reason.` : hint`Its last line: ${output}`,
      hint`Run the command again. ${OWN_TUNNEL}`,
    ],
  });

const tunnelLost = ({ host }: URL, end: Error | string, output: string): PaylinkError =>
  new PaylinkError(
    "tunnel_failed",
    `The tunnel ${host} has ended (${end instanceof Error ? programReason(end) : end}): webhooks can no longer arrive. Nothing is listening.`,
    {
      hints: [
        ...(output === "" ? [] : [hint`The last line of cloudflared: ${output}`]),
        hint`Run the command again. The new tunnel has another address: webhooks of links that name the old one do not arrive. To look up such a payment: ${paylink`transaction <uti>`}`,
      ],
    },
  );
