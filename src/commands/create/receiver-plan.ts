/** Where `create --wait` receives: an address that the service can post to and that is this machine's, or a refusal. */
import { PaylinkError } from "../../domain/errors.ts";
import type { PaymentLinkRequest } from "../../domain/payment-link.ts";
import { isLoopback, parseWebAddress } from "../../domain/web-address.ts";
import { publicAddress, type ReceiverAddress } from "../../receiver/address.ts";
import type { InForce } from "../../store/in-force.ts";

const HOST = "127.0.0.1";
/** Where a tunnel leads: where `listen` listens when it is not told otherwise. */
const TUNNEL_PORT = 4000;

export interface ReceiverPlan {
  readonly host: string;
  readonly port: number;
  readonly path: string;
  readonly publicAddress: ReceiverAddress | undefined;
  /** What the link gets as callback; undefined where it is the address that was bound. */
  readonly callbackUrl: string | undefined;
  /** The payment settings that stay as they are. */
  readonly given: NonNullable<PaymentLinkRequest["paymentSettings"]>;
}

/** Throws `usage` at once where the payment's webhook could never arrive here. */
export function receiverPlan(
  { paymentSettings = {} }: PaymentLinkRequest,
  settings: InForce,
  chosen: boolean,
): ReceiverPlan {
  const { callbackUrl, failureCallbackUrl, ...given } = paymentSettings;
  const tunnel = parseWebAddress(settings.get("publicUrl") ?? "");
  const onThisMachine = isLoopback(parseWebAddress(settings.get("baseUrl") ?? "")?.hostname ?? "");
  if (chosen) {
    const address = oneAddress(callbackUrl ?? failureCallbackUrl, failureCallbackUrl ?? callbackUrl);
    if (address.href === tunnel?.href) return throughTunnel(tunnel, given);
    if (address.protocol === "http:" && isLoopback(address.hostname) && onThisMachine)
      return {
        ...here(given),
        port: Number(address.port || 80),
        path: address.pathname,
        callbackUrl: address.href,
      };
    throw unreachable(`The callback ${address.href} does not lead to this receiver`);
  }
  if (tunnel !== undefined) return throughTunnel(tunnel, given);
  if (onThisMachine) return here(given);
  throw unreachable(`${settings.get("baseUrl") ?? "The service"} cannot post to a receiver on this machine`);
}

type Given = ReceiverPlan["given"];

const here = (given: Given): ReceiverPlan => ({
  host: HOST,
  port: 0,
  path: "/",
  publicAddress: undefined,
  callbackUrl: undefined,
  given,
});

const throughTunnel = (tunnel: URL, given: Given): ReceiverPlan => ({
  host: HOST,
  port: TUNNEL_PORT,
  path: tunnel.pathname,
  publicAddress: publicAddress(tunnel),
  callbackUrl: tunnel.href,
  given,
});

function oneAddress(callback = "", failureCallback = ""): URL {
  if (callback !== failureCallback)
    throw unreachable(`${callback} and ${failureCallback} are two addresses, and --wait receives at one`);
  return new URL(callback);
}

const unreachable = (what: string): PaylinkError =>
  new PaylinkError("usage", `Nothing was sent. ${what}, so --wait would never receive the webhook.`, {
    hint: `Point a tunnel at http://${HOST}:${TUNNEL_PORT}, then: paylink config set publicUrl <the tunnel's address>\nWithout --wait, the webhook goes to your own endpoint.`,
  });
