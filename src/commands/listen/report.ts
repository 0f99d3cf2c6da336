/** What `listen` prints: its addresses when it is ready, each webhook when it arrives, and the counts for the summary. */
import { isSuccess } from "../../http/message.ts";
import type { ForwardingKey } from "../../sender/signing-key.ts";
import type { Context } from "../../context.ts";
import { type Named, renderHint } from "../../render/hint.ts";
import { hint, paylink } from "../../domain/hint.ts";
import { leadsTo, localAddress } from "../../values/addresses.ts";
import { withoutPassword } from "../../values/url-passwords.ts";
import { type Forward, type Rejection, type RunKeys, type WebhookEvent } from "../../events/event.ts";
import { eventLine, jsonLine, type Level, rejectionLine } from "../../events/event-json.ts";
import type { ForwardingProgress } from "../../receiver/forwarder.ts";
import { likelyCause } from "../../render/likely-cause.ts";
import { renderForward } from "../../render/received-webhook.ts";
import { fitLines, logLine } from "../../render/layout.ts";
import { outcomeName } from "../../domain/outcome.ts";
import type { HttpServer } from "../../http/exchange.ts";
import { publicTarget, type ReceiverAddress } from "../../receiver/address.ts";
import { createEventText, type EventTextParts, rejectionText, timeOn } from "../event-text.ts";
import { forwardingKeyWords, KEEPING_STORE } from "../shared-flags.ts";
import type { ListenOptions } from "./options.ts";

/**
 * The most characters that wait for the end of a turn of the event loop. A string of more than 128 KB is slow: the system
 * maps memory for it alone.
 */
const MAX_PENDING = 64 * 1024;

interface ReporterParts extends EventTextParts {
  /** The file of the public key that verifies what is forwarded; undefined if the service's signature is passed on. */
  readonly ownKey: string | undefined;
}

export interface ListenReporter {
  /** Prints what is left, and gives the counts. */
  readonly finish: () => Readonly<Record<string, number>>;
  readonly observe: (outcome: WebhookEvent | Rejection) => void;
  /** `first` is the id of the first delivery of the event; `progress` is there if it is forwarded from the queue. */
  readonly forwarded: (
    event: Readonly<Record<"id" | "first", string>>,
    forward: Forward,
    progress?: ForwardingProgress,
  ) => void;
}

export function createListenReporter(parts: ReporterParts): ListenReporter {
  const { out, compact, ownKey } = parts;
  const counts = { received: 0, verified: 0, rejected: 0, forwarded: 0 };
  const failed = new Set<string>();
  let pending: string[] = [];
  let pendingLength = 0;
  const flush = (): void => {
    out.lines(pending);
    pending = [];
    pendingLength = 0;
  };
  /** The results of one turn of the event loop are written together. */
  const print = (text: string): void => {
    if (pending.length === 0) setImmediate(flush);
    pending.push(text);
    pendingLength += text.length;
    if (pendingLength > MAX_PENDING) flush();
  };
  const eventText = createEventText(parts);
  /** People are told once for each target why it probably does not accept what it gets. */
  const told = new Set<string>();
  const isNew = (cause: string, { target }: Forward): boolean => {
    const what = `${target} ${cause}`;
    if (told.has(what) || told.size >= MAX_TOLD) return false;
    told.add(what);
    return true;
  };
  const rejections = createRateLimit((count) =>
    out.warn(`${count} more requests were rejected within a second. They are counted, but not shown.`),
  );
  return {
    finish: () => {
      rejections.close();
      flush();
      return { ...counts, failed: failed.size };
    },
    observe: (outcome) => {
      counts.received += 1;
      if (outcome.type === "rejected") counts.rejected += 1;
      else if (outcome.verdict.verdict === "valid") counts.verified += 1;
      if (outcome.type === "rejected") {
        if (rejections.isWithin()) print(out.json ? rejectionLine(outcome) : rejectionText(outcome, out));
      } else print(out.json ? (outcome.line ?? eventLine(outcome, compact)) : eventText(outcome));
    },
    forwarded: ({ id, first }, forward, progress) => {
      // An event that is accepted later has not failed, as in `events list --failed`.
      if (isSuccess(forward.status)) {
        counts.forwarded += 1;
        failed.delete(first);
      } else if (progress?.state !== "pending" && failed.size < MAX_FAILED) failed.add(first);
      // Without a queue, the service sends again.
      const comesAgain = progress === undefined || progress.next !== null;
      const cause = likelyCause({ genuine: [forward] }, { ownKey, comesAgain });
      print(
        out.json
          ? forwardLine(id, forward, progress, cause)
          : forwardText(id, forward, progress, {
              out,
              cause: cause !== undefined && isNew(cause, forward) ? cause : undefined,
            }),
      );
    },
  };
}

/** Rejections that are shown per second: anybody can cause any number of them. */
const MAX_SHOWN_REJECTIONS = 100;

/** `exceeded` is called once a second with the number that was too many, and for the rest when it is closed. */
function createRateLimit(exceeded: (count: number) => void) {
  let seen = 0;
  let second: NodeJS.Timeout | undefined;
  const close = (): void => {
    clearTimeout(second);
    second = undefined;
    if (seen > MAX_SHOWN_REJECTIONS) exceeded(seen - MAX_SHOWN_REJECTIONS);
    seen = 0;
  };
  return {
    isWithin: (): boolean => {
      second ??= setTimeout(close, 1_000);
      seen += 1;
      return seen <= MAX_SHOWN_REJECTIONS;
    },
    close,
  };
}

/** The most causes to remember: an application can redirect anywhere. */
const MAX_TOLD = 1_000;
/** The most events to remember as failed. */
const MAX_FAILED = 100_000;

function forwardLine(
  id: string,
  { at, target, status, ms, detail }: Forward,
  progress: ForwardingProgress | undefined,
  cause: string | undefined,
): string {
  const members = {
    id,
    target,
    status,
    ms,
    ...(detail === "" ? {} : { detail }),
    hint: cause,
    ...progress,
  };
  return jsonLine("forward", at, members, levelOfForward(status, progress));
}

function forwardText(
  id: string,
  forward: Forward,
  progress: ForwardingProgress | undefined,
  { out, cause }: { readonly out: Context["out"]; readonly cause: string | undefined },
): string {
  const { status } = forward;
  const { paint } = out;
  // It is known, and printed, when the attempt has ended.
  const at = new Date(forward.at.getTime() + forward.ms);
  if (!out.isLog)
    return fitLines(
      renderForward(`${timeOn(out, at)} ${id}`, forward, paint, progress, cause),
      out.lineWidth,
    );
  const text = renderForward(id, forward, paint, progress, cause).trimStart();
  return logLine(at, levelOfForward(status, progress), text);
}

function levelOfForward(status: number | null, progress: ForwardingProgress | undefined): Level {
  if (isSuccess(status)) return "info";
  return progress?.state === "pending" ? "warning" : "error";
}

export interface Listener {
  /** The URL that the service posts to. */
  readonly address: string;
  /** The URL that it is bound to on its machine. */
  readonly bound: string;
}

/** One for each path. */
export function listenersOf(
  { url }: HttpServer,
  paths: readonly string[],
  publicAddress: ReceiverAddress | undefined,
): Listener[] {
  return paths.map((path) => {
    // Not as a reference: a path that begins with two slashes, as that of a public URL may, would be a host.
    const bound = `${url.slice(0, -1)}${path}`;
    if (publicAddress?.kind !== "public") return { address: bound, bound };
    const { scheme, authority } = publicAddress;
    return { address: `${scheme}://${authority}${publicTarget(path, publicAddress)}`, bound };
  });
}

interface Start {
  readonly listeners: readonly Listener[];
  readonly adminUrl: string | undefined;
  readonly forwardingKey: ForwardingKey | undefined;
  /** Where events are kept: a file, or a database without its password; undefined without a store. */
  readonly store: string | undefined;
  readonly keys: RunKeys;
}

const OLD_SIGNATURES =
  "Late retries keep the signature of the service, and most verifiers refuse one that is older than 5 minutes. --sign-with <file> signs every attempt anew.";

export function showReady(
  { listeners, adminUrl, forwardingKey, store, keys }: Start,
  options: ListenOptions,
  { out, now, named, forgetting }: Context,
): void {
  const { unverified, publicAddress, tunnel, forwarding, profile, database } = options;
  const notice = otherCallbacks(listeners, options, named);
  const urls = listeners.map(({ bound }) => bound);
  const publicUrls = tunnel ? listeners.map(({ address }) => address) : [];
  const ready = {
    url: urls[0],
    ...(urls.length > 1 ? { urls } : {}),
    ...(tunnel ? { publicUrl: publicUrls[0] } : {}),
    ...(adminUrl === undefined ? {} : { admin: adminUrl }),
    store: store ?? null,
    keys,
    ...(forwardingKey === undefined ? {} : { verifyWith: forwardingKey.publicPath ?? null }),
    ...(notice === undefined ? {} : { notice }),
  };
  const bold = (what: string, url: string): string => `${what} ${out.paint.bold(url)}`;
  const lines = [
    ...urls.map((url) => bold("Listening on", url)),
    ...publicUrls.map((url) => bold("Public address", url)),
    ...(adminUrl === undefined ? [] : [bold("Admin on", adminUrl)]),
  ];
  const text = out.isLog ? lines.map((line) => logLine(now(), "info", line)) : lines;
  out.line(() => jsonLine("ready", now(), ready), text.join("\n"));
  if (store !== undefined) out.note(`Events are kept in ${store}`);
  const loss = store === undefined ? undefined : forgetting(store);
  if (loss !== undefined)
    out.warn(`The event store ${store} is ${loss}. ${renderHint(KEEPING_STORE, named)}`);
  if (store === undefined && !unverified && forwarding.routes.length === 0)
    out.warn("Acknowledged webhooks are not kept: there is neither a store nor a target.");
  if (unverified) out.warn("Signatures are not required: webhooks marked UNVERIFIED may be forged.");
  for (const { outcome, url } of forwarding.routes)
    out.note(`Forwarding ${outcome === undefined ? "" : `${outcomeName(outcome)} payments `}to ${url.href}`);
  if (forwardingKey !== undefined) out.note(forwardingKeyWords(forwardingKey));
  else if (forwarding.delays !== undefined) out.warn(OLD_SIGNATURES);
  if (notice !== undefined) out.note(notice);
  if (tunnel && profile !== undefined)
    out.note(
      `To create a link that reports here:\n  paylink create --amount 10 --currency EUR --callback-url ${publicUrls[0]} -p ${profile}`,
    );
  if (database !== null && !out.isLog && !out.json)
    out.note(renderHint(hint`To see the webhooks in a browser: ${paylink`inspect`}`, named));
  if (publicAddress === undefined && !tunnel)
    out.note(
      "This address is local. To receive from outside, use --tunnel, or give the address of your own tunnel as --public-url.",
    );
}

/** Says that payments of the profile's links are reported to another address; undefined if they are reported here, or nowhere. */
function otherCallbacks(
  listeners: readonly Listener[],
  { callbacks, profile, tunnel }: ListenOptions,
  named: Named,
): string | undefined {
  const others = Object.entries(callbacks).flatMap(([key, url = ""]) => {
    const isHere = listeners.some(({ address, bound }) => leadsTo(url, address) || leadsTo(url, bound));
    return url === "" || isHere ? [] : [{ key, url }];
  });
  if (others.length === 0) return undefined;
  const links = profile === undefined ? "Links" : `Links of profile ${profile}`;
  const isOfFailed = others.every(({ key }) => key === "failureCallbackUrl");
  const [flag, payments] = isOfFailed
    ? ["--failure-callback-url", "failed payments"]
    : ["--callback-url", "payments"];
  const address = localAddress(listeners[0]?.address ?? "");
  const create = paylink`create ${{ [flag]: address }}`;
  const settings = others.map(
    ({ key }, at) => hint`${at === 0 ? "" : " and "}${paylink`config set ${key} ${address}`}`,
  );
  const fix = tunnel
    ? ""
    : renderHint(
        hint` For a link that reports here: ${create}. For all links from now on: ${settings.flat()}`,
        named,
      );
  const addresses = others.map(({ key, url }) => `${withoutPassword(url)} (${key})`);
  return `${links} report ${payments} to ${addresses.join(" and ")}, not to this listener.${fix}`;
}
