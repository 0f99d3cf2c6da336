/** Opens a web page in the user's own browser. */
import { parseWebAddress } from "../domain/web-address.ts";

/** Only what is a web address: a link comes from the network, and other schemes start other programs. */
export async function openBrowser(url: string): Promise<void> {
  const address = parseWebAddress(url);
  if (address === undefined) throw new Error("it is no http or https URL");
  const { default: open } = await import("open");
  await open(address.href);
}
