/** From the flags of `create`, the base file and the settings to a request (or its draft) and how its link is shown. */
import type { Context } from "../../context.ts";
import type { Json } from "../../domain/json.ts";
import { readBaseRequest, type BaseRequest } from "../../requests/base-request.ts";
import { requestBuilder, type BuiltRequest, type RequestFlags } from "../../requests/build.ts";
import type { InForce } from "../../store/settings/in-force.ts";
import { createFlagReader } from "../flag-reader.ts";
import { parseTimeout } from "../flag-values.ts";
import type { CreateFlags } from "./flags.ts";

export interface CreateOptions {
  readonly settings: InForce;
  readonly draft: RequestDraft;
  /** Print the request instead of sending it. */
  readonly print: "json" | "curl" | undefined;
  /** Milliseconds. */
  readonly timeout: number | undefined;
  readonly wait: boolean;
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
  context: Pick<Context, "settings" | "readFile" | "ask" | "now">,
): Promise<CreateOptions> {
  const settings = await context.settings();
  const base = await readBase(flags.from, context);
  const build = (given: RequestFlags): BuiltRequest =>
    requestBuilder({ flags: given, base: base?.value, settings })(context.now());
  const built = build(flags);
  const needsAccount = flags.dryRun !== true && settings.get("baseUrl") === undefined;
  const mistakes = built.problems.filter((problem) => !built.missing.includes(problem));
  const mayAsk = context.ask !== undefined && mistakes.length === 0;
  const reader = createFlagReader();
  const timeout = reader.read("--timeout", flags.timeout, parseTimeout);
  const { dryRun, curl, wait, open, copy, quiet, qr } = flags;
  const shown = { "--wait": wait, "--open": open, "--copy": copy, "--quiet": quiet, "--qr": qr };
  reader.exclude("--dry-run", dryRun, { "--curl": curl, ...shown });
  reader.exclude("--curl", curl, shown);
  reader.problems(base?.problems ?? []);
  // An account can supply what is missing, and so can the user's answers.
  reader.problems(needsAccount || mayAsk ? mistakes : built.problems);
  reader.finish("Nothing was sent.");
  if (needsAccount) throw await noAccount();
  return {
    settings,
    draft: { flags, base: base?.value, build, built },
    print: flags.dryRun === true ? "json" : flags.curl === true ? "curl" : undefined,
    timeout: timeout.value,
    wait: flags.wait ?? false,
    quiet: flags.quiet ?? false,
    qr: flags.qr ?? false,
    open: flags.open ?? false,
    copy: flags.copy ?? false,
  };
}

async function readBase(
  path: string | undefined,
  { readFile }: Pick<Context, "readFile">,
): Promise<BaseRequest | undefined> {
  if (path === undefined) return undefined;
  return readBaseRequest(path, readFile);
}

/** Loaded where it is needed: a request that is only printed starts faster without the API's client. */
const noAccount = async (): Promise<Error> => (await import("../../api/client-from-settings.ts")).noAccount();
