/** `paylink pay`: posts what the checkout page's form would post, and shows what came of it. */
import { payAtCheckout } from "../../api/checkout.ts";
import type { Context } from "../../context.ts";
import { PaylinkError } from "../../domain/errors.ts";
import { isLoopback, parseWebAddress } from "../../domain/web-address.ts";
import { renderCompactRecord } from "../../render/record.ts";
import { settingsInForce } from "../../store/in-force.ts";
import type { PayFlags } from "./command.ts";

const OUTCOMES = ["approved", "declined", "cancelled"];

export async function pay(context: Context, link: string, flags: PayFlags): Promise<void> {
  const { out, send } = context;
  if (!OUTCOMES.includes(flags.outcome))
    throw new PaylinkError("usage", `--outcome must be one of ${OUTCOMES.join(", ")}.`);
  const url = await checkoutUrl(context, link);
  const { text, record } = await payAtCheckout(send, url, flags);
  out.data(out.json ? text : renderCompactRecord(record, out.paint));
}

/** A whole URL, or an id of the sandbox in force. Real money is never paid from here. */
async function checkoutUrl(context: Context, link: string): Promise<URL> {
  const given = parseWebAddress(link) ?? (await sandboxUrl(context, link));
  if (!isLoopback(given.hostname))
    throw new PaylinkError(
      "usage",
      `${given.host} is not on this machine: only links of the sandbox can be paid from here.`,
    );
  return given;
}

async function sandboxUrl(context: Context, id: string): Promise<URL> {
  const baseUrl = (await settingsInForce(context)).get("baseUrl");
  if (baseUrl === undefined)
    throw new PaylinkError("no_profile", "There is no sandbox to pay this link at. Two ways on:");
  const url = new URL("/pay", baseUrl);
  url.searchParams.set("r", id);
  return url;
}
