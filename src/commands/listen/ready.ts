/** What `listen` prints once it receives, and how others that use the same event store find it. */
import type { Context } from "../../context.ts";
import type { Server } from "../../http/exchange.ts";
import { publicTarget, type ReceiverAddress } from "../../receiver/address.ts";
import type { Listener } from "../../receiver/event-store.ts";
import type { ListenOptions } from "./options.ts";

/** One for each path. */
export function listenersOf(
  { url }: Server,
  paths: readonly string[],
  publicAddress: ReceiverAddress | undefined,
): Listener[] {
  return paths.map((path) => {
    const bound = new URL(path, url).href;
    if (publicAddress?.kind !== "public") return { address: bound, bound };
    const { scheme, authority } = publicAddress;
    return { address: `${scheme}://${authority}${publicTarget(path, publicAddress.path)}`, bound };
  });
}

interface Ready {
  readonly listeners: readonly Listener[];
  readonly adminUrl: string | undefined;
}

export function showReady({ listeners, adminUrl }: Ready, options: ListenOptions, { out }: Context): void {
  const { unverified, publicAddress, tunnel, forwarding, profile } = options;
  const urls = listeners.map(({ bound }) => bound);
  const publicUrls = tunnel ? listeners.map(({ address }) => address) : [];
  const ready = {
    type: "ready",
    url: urls[0],
    ...(urls.length > 1 ? { urls } : {}),
    ...(tunnel ? { publicUrl: publicUrls[0] } : {}),
    ...(adminUrl === undefined ? {} : { admin: adminUrl }),
  };
  const bold = (what: string, url: string): string => `${what} ${out.paint.bold(url)}`;
  const lines = [
    ...urls.map((url) => bold("Listening on", url)),
    ...publicUrls.map((url) => bold("Public address", url)),
    ...(adminUrl === undefined ? [] : [bold("Admin on", adminUrl)]),
  ];
  out.lines(out.json ? [JSON.stringify(ready)] : lines);
  if (unverified) out.warn("Signatures are not required: webhooks marked UNVERIFIED may be forged.");
  for (const { outcome, url } of forwarding.routes)
    out.note(`Forwarding ${outcome === undefined ? "" : `${outcome.toLowerCase()} payments `}to ${url.href}`);
  if (tunnel && profile !== undefined)
    out.note(
      `To create a link that reports here:\n  paylink create --amount 10 --currency EUR --callback-url ${publicUrls[0]} -p ${profile}`,
    );
  if (publicAddress === undefined && !tunnel)
    out.note(
      "This address is local. To receive from outside, use --tunnel, or give the address of your own tunnel as --public-url.",
    );
}
