/** What `listen` prints once it receives, and how others that use the same event store find it. */
import type { Context } from "../../context.ts";
import type { Server } from "../../http/exchange.ts";
import { publicTarget } from "../../receiver/address.ts";
import type { Listener } from "../../receiver/event-store.ts";
import type { ListenOptions } from "./options.ts";

/** One for each path. */
export function listenersOf({ url }: Server, { paths, publicAddress }: ListenOptions): Listener[] {
  return paths.map((path) => {
    const bound = new URL(path, url).href;
    if (publicAddress?.kind !== "public") return { address: bound, bound };
    const { scheme, authority } = publicAddress;
    return { address: `${scheme}://${authority}${publicTarget(path, publicAddress.path)}`, bound };
  });
}

export function showReady(
  listeners: readonly Listener[],
  { unverified, publicAddress, forwarding }: ListenOptions,
  { out }: Context,
): void {
  const urls = listeners.map(({ bound }) => bound);
  const [url] = urls;
  const ready = { type: "ready", url, ...(urls.length > 1 ? { urls } : {}) };
  out.lines(out.json ? [JSON.stringify(ready)] : urls.map((each) => `Listening on ${out.paint.bold(each)}`));
  if (unverified) out.warn("Signatures are not required: webhooks marked UNVERIFIED may be forged.");
  for (const { outcome, url } of forwarding.routes)
    out.note(`Forwarding ${outcome === undefined ? "" : `${outcome.toLowerCase()} payments `}to ${url.href}`);
  if (publicAddress === undefined)
    out.note(
      "This address is local. To receive from outside, point a tunnel at it and give the tunnel's address as --public-url.",
    );
}
