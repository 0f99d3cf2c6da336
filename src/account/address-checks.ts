/** Checks the addresses of an account that the service or its customers must reach. */
import { hint } from "../domain/errors.ts";
import { serviceLabel } from "../domain/known-services.ts";
import { isExposed, isLoopback, parseWebAddress } from "../domain/addresses.ts";
import { type Account, type Check, passed, skipped, warned } from "./account-check.ts";

const CALLBACKS = "callback addresses";

export function checkCallbacks(account: Account): Check {
  const { settings, fix } = account;
  const keys = ["callbackUrl", "failureCallbackUrl"] as const;
  const problems = keys.flatMap((key) => {
    const problem = problemOf(settings.get(key), account);
    return problem === undefined ? [] : [{ key, problem }];
  });
  const [first] = problems;
  if (first !== undefined)
    return warned(
      CALLBACKS,
      problems.map(({ key, problem }) => `${key} ${settings.get(key)} ${problem}`).join("; "),
      hint`Set an https address that the service reaches: ${fix(first.key, "<url>")}`,
    );
  const set = keys.flatMap((key) => settings.get(key) ?? []);
  if (settings.get("callbackUrl") !== undefined) return passed(CALLBACKS, [...new Set(set)].join(", "));
  return warned(
    CALLBACKS,
    "no callbackUrl: the service reports payments only for links that name a callback address",
    [fix("callbackUrl", "<url>")],
  );
}

export function checkPublicUrl(account: Account): Check {
  const { settings, fix } = account;
  const publicUrl = settings.get("publicUrl");
  if (publicUrl === undefined) return skipped("public URL", "not set: needed behind a proxy or a tunnel");
  const problem = problemOf(publicUrl, account);
  return problem === undefined
    ? passed("public URL", publicUrl)
    : warned("public URL", `${publicUrl} ${problem}`, [fix("publicUrl", "<url>")]);
}

function problemOf(address: string | undefined, { settings }: Account): string | undefined {
  const url = parseWebAddress(address ?? "");
  if (url === undefined) return undefined;
  const atSandbox = serviceLabel(settings.get("baseUrl") ?? "") === "sandbox";
  if (isLoopback(url.hostname) && !atSandbox)
    return "is an address of this machine, which the service cannot reach";
  return isExposed(url) ? "is not https: others can read and change what is sent there" : undefined;
}
