/** Where `create --wait` receives: an address on this machine that the service can post to. */
import { hint, paylink, PaylinkError } from "../../domain/errors.ts";
import { isLoopback, LISTENER_PORT, parseWebAddress } from "../../domain/addresses.ts";
import type { PaymentLinkRequest } from "../../domain/payment-link.ts";
import { publicAddress, type ReceiverAddress } from "../../receiver/address.ts";
import type { RequestFlags } from "../../service/request-flags.ts";
import type { ResolvedSettings } from "../../settings/resolved-settings.ts";

const HOST = "127.0.0.1";

export interface ReceiverPlan {
  readonly host: string;
  readonly port: number;
  readonly path: string;
  readonly publicAddress: ReceiverAddress | undefined;
  /** The link's callback; undefined if it is the bound address. */
  readonly callbackUrl: string | undefined;
}

/** Throws `usage` if the payment's webhook could never arrive here. */
export function receiverPlan(
  request: PaymentLinkRequest,
  flags: RequestFlags,
  settings: ResolvedSettings,
): ReceiverPlan {
  const { paymentSettings = {} } = request;
  const { callbackUrl, failureCallbackUrl } = paymentSettings;
  const tunnel = parseWebAddress(settings.get("publicUrl") ?? "");
  const onThisMachine = isLoopback(parseWebAddress(settings.get("baseUrl") ?? "")?.hostname ?? "");
  if (hasChosenCallback(request, flags, settings)) {
    const address = oneAddress(callbackUrl ?? failureCallbackUrl, failureCallbackUrl ?? callbackUrl);
    if (address.href === tunnel?.href) return throughTunnel(tunnel);
    if (address.protocol === "http:" && isLoopback(address.hostname) && onThisMachine)
      return {
        ...HERE,
        port: Number(address.port || 80),
        path: address.pathname,
        callbackUrl: address.href,
      };
    throw unreachable(`The callback ${address.href} does not lead to this receiver`);
  }
  if (tunnel !== undefined) return throughTunnel(tunnel);
  if (onThisMachine) return HERE;
  throw unreachable(`${settings.get("baseUrl") ?? "The service"} cannot post to a receiver on this machine`);
}

/** Whether the request has a callback that the user gave for this link, and not one from the profile. */
function hasChosenCallback(
  { paymentSettings = {} }: PaymentLinkRequest,
  flags: RequestFlags,
  settings: ResolvedSettings,
): boolean {
  return (["callbackUrl", "failureCallbackUrl"] as const).some(
    (name) => flags[name] !== undefined || paymentSettings[name] !== settings.get(name),
  );
}

const HERE: ReceiverPlan = {
  host: HOST,
  port: 0,
  path: "/",
  publicAddress: undefined,
  callbackUrl: undefined,
};

const throughTunnel = (tunnel: URL): ReceiverPlan => ({
  host: HOST,
  port: LISTENER_PORT,
  path: tunnel.pathname,
  publicAddress: publicAddress(tunnel),
  callbackUrl: tunnel.href,
});

function oneAddress(callback = "", failureCallback = ""): URL {
  if (callback !== failureCallback)
    throw unreachable(`${callback} and ${failureCallback} are different, and --wait receives at one address`);
  return new URL(callback);
}

const unreachable = (what: string): PaylinkError =>
  new PaylinkError(
    "usage",
    `${what}, so --wait would never receive the payment's webhook. Nothing was sent.`,
    {
      hints: [
        hint`Point a tunnel at http://${HOST}:${String(LISTENER_PORT)}, then: ${paylink("config", "set", "publicUrl", "<the tunnel's address>")}`,
        hint`Without --wait, the webhook goes to your own endpoint.`,
      ],
    },
  );
