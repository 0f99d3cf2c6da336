/** `paylink inspect`: serves the pages of what was received until Ctrl-C. */
import { once } from "node:events";
import { openForwardingKey } from "../../sender/signing-key.ts";
import type { Context } from "../../context.ts";
import { parseForwardTarget } from "../flag-values.ts";
import { createPageAccess, ownHost } from "../../pages/access.ts";
import {
  type InspectorParts,
  READ_TIMEOUT,
  type EventSending,
  startInspector,
} from "../../inspector/server.ts";
import { openTargets } from "../../receiver/brokers/targets.ts";
import type { RunKeys } from "../../events/event.ts";
import { jsonLine } from "../../events/event-json.ts";
import { makeAttempt, type Deliver } from "../../receiver/attempt.ts";
import { safeText } from "../../render/safe-text.ts";
import { isLoopback } from "../../values/addresses.ts";
import { SANDBOX_PROFILE } from "../../domain/known-services.ts";
import { isThumbprint } from "../../signatures/thumbprint.ts";
import type { ValuesOf } from "../command.ts";
import { openJudgeAgain, openRunKeys, type JudgeAgain } from "../judge-again.ts";
import { FORWARD_SECONDS, forwardingKeyWords } from "../shared-flags.ts";
import type { inspectFlags } from "./command.ts";

type InspectFlags = ValuesOf<typeof inspectFlags>;

export async function inspect(context: Context, flags: InspectFlags): Promise<number> {
  const { out, now, newId, serve, signal, later } = context;
  out.streamWarnings();
  const store = await context.events(flags.db, { readTimeout: READ_TIMEOUT });
  // What cannot be read is said now, not on each page.
  await store.identity();
  const { profile } = await context.settings();
  // A key that was typed must be right; a profile's may be unreachable, and the pages are read all the same.
  if (flags.key.length > 0) await openRunKeys(context, flags.key, "verify");
  const keys = createKeys(context, flags.key);
  const host = flags.plainHost ? undefined : ownHost(newId().replaceAll("-", ""));
  const print = (url: string, words: string): void =>
    out.line(() => jsonLine("ready", now(), { url }), `${words} ${out.paint.bold(url)}`);
  const access = createPageAccess({
    name: "paylink-inspect",
    host,
    isShared: isLoopback,
    session: `${newId()}${newId()}`,
    newKey: () => `${newId()}${newId()}`,
    used: (origin) => print(access.newAddress(origin), "Opened in a browser. For another browser:"),
  });
  const { url, close } = await startInspector({
    store,
    profile,
    named: context.named,
    access,
    now,
    advice:
      profile === SANDBOX_PROFILE
        ? `paylink create --amount 10 --currency EUR -p ${SANDBOX_PROFILE}`
        : "paylink trigger approved",
    ...keys,
    sending: await sendingOf(context, flags, keys.keys),
    observe: (action, what) =>
      out.line(() => jsonLine("action", now(), { action, what }), `${action}  ${safeText(what)}`),
    serve,
    port: flags.port,
    faulted: (error) => out.warn(String(error)),
  });
  later(close);
  print(access.newAddress(url), "paylink inspect on");
  out.note(`The pages show ${safeText(store.place)}. ${addressNote(host)} Ctrl-C ends it.`);
  if (flags.open && context.ask() !== undefined)
    await context
      .openPrivately(access.newAddress(url))
      .catch(() => out.note("The browser could not be opened: open the address above."));
  if (!signal.aborted) await once(signal, "abort");
  return 0;
}

const addressNote = (host: string | undefined): string =>
  host === undefined
    ? "The address works once, in one browser. Other ports of this machine receive the cookie of these pages."
    : "The address works once, in one browser. If the browser does not find this host (Safari): --plain-host.";

/** Milliseconds for which keys are kept: an open page asks every two seconds. */
const KEYS_KEPT = 30_000;

/**
 * The keys of this run, and what verifies with them and the policy of the profile. Nothing does without a key. Keys that were read
 * once count until the end.
 */
function createKeys(context: Context, key: readonly string[]): Pick<InspectorParts, "keys" | "verifyNow"> {
  let opened: { readonly at: number; readonly again: Promise<JudgeAgain | undefined> } | undefined;
  let keys: RunKeys = key.filter(isThumbprint);
  const verifying = key.filter((source) => !isThumbprint(source));
  // A thumbprint judges nothing, and stands for the profile's keys all the same.
  const judges = verifying.length > 0 || key.length === 0;
  const again = async (): Promise<JudgeAgain | undefined> => {
    if (!judges) return undefined;
    const at = context.now().getTime();
    if (opened === undefined || at - opened.at > KEYS_KEPT)
      opened = { at, again: openJudgeAgain(context, { key: verifying }).catch(() => undefined) };
    const found = await opened.again;
    keys = [...new Set([...keys, ...(found?.keys ?? [])])];
    return found;
  };
  return {
    verifyNow: async (rejection) => {
      const judged = (await again())?.judge(rejection);
      return typeof judged === "string" ? undefined : judged;
    },
    keys: async () => {
      await again();
      return keys;
    },
  };
}

async function sendingOf(
  context: Context,
  { forwardTo, signWith }: InspectFlags,
  keys: InspectorParts["keys"],
): Promise<EventSending> {
  const signing = signWith === undefined ? undefined : await openForwardingKey(signWith, context);
  if (signing !== undefined) context.out.note(forwardingKeyWords(signing));
  const { now, timers } = context;
  const options = { now, timers, headers: [], insecure: false, timeout: FORWARD_SECONDS * 1000 };
  const deliverTo = async <T>(url: URL, use: (deliver: Deliver) => Promise<T>): Promise<T> => {
    const targets = await openTargets([{ url }], { ...context, insecure: false });
    try {
      return await use(targets.deliver);
    } finally {
      await targets.close();
    }
  };
  return {
    target: forwardTo?.href ?? "",
    signs: signing !== undefined,
    send: async (event, to) => {
      const url = parseForwardTarget(to);
      if (!url.ok) return url.message;
      const own = await keys();
      const parts = { ...options, signWith: signing?.key, keys: () => own };
      return deliverTo(
        url.value,
        async (deliver) => (await makeAttempt(event, url.value, { ...parts, deliver })).forward,
      );
    },
  };
}
