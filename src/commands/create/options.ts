/** Turns the flags of `create`, the base file and the settings into a request (or its draft) and how its link is shown. */
import type { Context } from "../../context.ts";
import { hint, type Hint, paylink } from "../../domain/errors.ts";
import type { Json } from "../../domain/json.ts";
import type { ServiceTime } from "../../domain/time.ts";
import { type BuiltRequest, readBaseRequest, requestBuilder } from "../../service/request.ts";
import { nameOf, type RequestFlags } from "../../service/request-flags.ts";
import type { ResolvedSettings } from "../../settings/resolved-settings.ts";
import { createFlagReader } from "../flag-reader.ts";
import { parseTimeout } from "../flag-values.ts";
import { type ListenerContext, unusedListener } from "../running-listener.ts";
import type { CreateFlags } from "./flags.ts";

export interface CreateOptions {
  readonly settings: ResolvedSettings;
  /** Durations such as `--expires 7d` count from it. */
  readonly time: ServiceTime;
  readonly draft: RequestDraft;
  /** Print the request instead of sending it. */
  readonly print: "json" | "curl" | undefined;
  /** Milliseconds. */
  readonly timeout: number | undefined;
  readonly wait: boolean;
  /** Whether --wait refuses signatures without `created`; undefined leaves it to the profile. */
  readonly requireCreated: boolean | undefined;
  readonly quiet: boolean;
  readonly qr: boolean;
  readonly open: boolean;
  readonly copy: boolean;
}

/** A request that may lack values, which the user is then asked for. */
export interface RequestDraft {
  readonly flags: RequestFlags;
  /** The JSON of `--from`; undefined without it. */
  readonly base: Json | undefined;
  readonly build: (flags: RequestFlags) => BuiltRequest;
  readonly built: BuiltRequest;
}

/** Throws one `usage` error with every problem, or `no_profile`. */
export async function createOptions(
  flags: CreateFlags,
  context: Pick<Context, "settings" | "serviceTime" | "readFile" | "ask" | "now"> & ListenerContext,
): Promise<CreateOptions> {
  const settings = await context.settings();
  const base = flags.from === undefined ? undefined : await readBaseRequest(flags.from, context.readFile);
  const isPrinted = flags.dryRun === true || flags.curl === true;
  // A request that is only printed is not sent, so the service is not asked for its time either.
  const time = isPrinted ? { now: context.now(), ofSandbox: false } : await context.serviceTime();
  // With --wait the link gets a callback.
  const listener = flags.wait === true ? undefined : await unusedListener(flags, settings, context);
  const build = (given: RequestFlags): BuiltRequest =>
    requestBuilder({ flags: given, base: base?.value, settings, listener })(time.now);
  const built = build(flags);
  const needsAccount = flags.dryRun !== true && settings.get("baseUrl") === undefined;
  const mistakes = built.problems.filter((problem) => !built.missing.includes(problem));
  const mayAsk = context.ask !== undefined && mistakes.length === 0;
  const reader = createFlagReader();
  const timeout = reader.read("--timeout", flags.timeout, parseTimeout);
  if (flags.requireCreated !== undefined && flags.wait !== true)
    reader.problem(
      flags.requireCreated ? "--require-created" : "--no-require-created",
      "has no effect without --wait",
    );
  const { dryRun, curl, wait, open, copy, quiet, qr } = flags;
  const shown = { "--wait": wait, "--open": open, "--copy": copy, "--quiet": quiet, "--qr": qr };
  reader.exclude("--dry-run", dryRun, { "--curl": curl, ...shown });
  reader.exclude("--curl", curl, shown);
  reader.problems(base?.problems ?? []);
  // An account can supply what is missing, and so can the user's answers.
  reader.problems(needsAccount || mayAsk ? mistakes : built.problems);
  reader.finish("Nothing was sent.", hintsOf(built, time));
  if (needsAccount) throw await noAccount();
  return {
    settings,
    time,
    draft: { flags, base: base?.value, build, built },
    print: flags.dryRun === true ? "json" : flags.curl === true ? "curl" : undefined,
    timeout: timeout.value,
    wait: flags.wait ?? false,
    requireCreated: flags.requireCreated,
    quiet: flags.quiet ?? false,
    qr: flags.qr ?? false,
    open: flags.open ?? false,
    copy: flags.copy ?? false,
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
