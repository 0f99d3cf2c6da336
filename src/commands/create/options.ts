/** Turns the flags of `create`, the base file and the settings into a request (or its draft) and how its link is shown. */
import type { Context } from "../../context.ts";
import { hint, type Hint, paylink } from "../../domain/errors.ts";
import type { Json } from "../../domain/json.ts";
import type { ServiceTime } from "../../domain/time.ts";
import {
  readBaseRequest,
  requestBuilder,
  nameOf,
  type BuiltRequest,
  type RequestFlags,
} from "../../service/request.ts";
import type { Usage, ValuesOf } from "../command.ts";
import { unusedListener } from "../running-listener.ts";
import type { createFlags } from "./flags.ts";

/** A request that may lack values, which the user is then asked for. */
export interface RequestDraft {
  readonly flags: RequestFlags;
  /** The JSON of `--from`; undefined without it. */
  readonly base: Json | undefined;
  readonly build: (flags: RequestFlags) => BuiltRequest;
  readonly built: BuiltRequest;
}

export type CreateOptions = Awaited<ReturnType<typeof createOptions>>;

/** Throws `no_profile` if the account is all that is missing. */
export async function createOptions(flags: ValuesOf<typeof createFlags>, usage: Usage, context: Context) {
  const settings = await context.settings();
  const base = flags.from === undefined ? undefined : await readBaseRequest(flags.from, context.readFile);
  const print = flags.dryRun ? "json" : flags.curl ? "curl" : undefined;
  // A request that is only printed is not sent, so the service is not asked for its time either.
  const time = print === undefined ? await context.serviceTime() : { now: context.now(), ofSandbox: false };
  // With --wait the link gets a callback.
  const listener = flags.wait ? undefined : await unusedListener(flags, settings, context);
  const build = (given: RequestFlags): BuiltRequest =>
    requestBuilder({ flags: given, base: base?.value, settings, listener })(time.now);
  const built = build(flags);
  const needsAccount = print !== "json" && settings.get("baseUrl") === undefined;
  const mistakes = built.problems.filter((problem) => !built.missing.includes(problem));
  const mayAsk = context.ask !== undefined && mistakes.length === 0;
  usage.problems.push(...(base?.problems ?? []));
  // An account can supply what is missing, and so can the user's answers.
  usage.problems.push(...(needsAccount || mayAsk ? mistakes : built.problems));
  usage.hints.push(...hintsOf(built, time));
  if (needsAccount && usage.problems.length === 0) throw await noAccount();
  const draft: RequestDraft = { flags, base: base?.value, build, built };
  return {
    ...flags,
    settings,
    /** Durations such as `--expires 7d` count from it. */
    time,
    draft,
    /** Print the request instead of sending it. */
    print,
  };
}

/** How to store the missing values for every link, and the time of the sandbox's clock, which an expiry depends on. */
function hintsOf({ missing }: BuiltRequest, time: ServiceTime): readonly Hint[] {
  const stored = Object.entries(EXAMPLES).filter(([key]) => missing.some(({ at }) => at === nameOf(key)));
  const lines = stored.map(([key, example]) => [paylink("config", "set", key, example)]);
  return [
    ...(lines.length === 0 ? [] : [hint`To store it for every link:`, ...lines]),
    ...(time.ofSandbox ? [hint`The sandbox's clock is at ${time.now.toISOString()}.`] : []),
  ];
}

/** Values that each link needs and a profile can hold. */
const EXAMPLES = { terminalId: "1234567890", currency: "EUR", customerName: "Ada Lovelace" } as const;

/** Loaded only if it is needed: a request that is only printed starts faster without the API's client. */
const noAccount = async (): Promise<Error> => (await import("../../service/open-client.ts")).noAccount();
