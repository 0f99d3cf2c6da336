/** Runs `paylink create --wait` against a service of the test. */
import { type CommandEnd, type CommandOptions, runCommand } from "./context.ts";
import { temporaryHome } from "./home.ts";
import { startLinkService } from "./link-service.ts";
import { keyFile } from "./keys.ts";

const CREATE = ["create", "--amount", "10", "--currency", "EUR", "--customer-name", "Ada"];

export interface Link {
  readonly invoiceId: string;
  readonly paymentSettings: { readonly callbackUrl: string; readonly failureCallbackUrl: string };
}

interface Waiting extends CommandOptions {
  readonly flags?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** Creates a link at a service of the test, and calls `onLink` once it is printed. */
export async function waitWith(
  onLink: (link: Link) => Promise<unknown> | void,
  { flags = [], env, ...options }: Waiting = {},
): Promise<CommandEnd & { readonly lines: Record<string, unknown>[]; readonly created: number }> {
  const home = temporaryHome();
  const service = await startLinkService(() => "create");
  let posted: Promise<unknown> | undefined;
  const run = await runCommand([...CREATE, "--wait", "--json", ...flags], {
    home,
    env: { ...service.env, PAYLINK_WEBHOOK_KEY: keyFile(home), ...env },
    watch: (stdout) => {
      const [line = "", ...rest] = stdout.split("\n");
      if (rest.length > 0) posted ??= Promise.resolve(onLink(JSON.parse(line) as Link));
    },
    ...options,
  });
  await posted;
  const lines = run.stdout.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line)]));
  return { ...run, lines, created: service.arrivals.length };
}
