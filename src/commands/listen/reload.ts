/** What `listen` does at SIGHUP: it reads the keys and the certificate again, and says what it uses from then on. */
import type { Context } from "../../context.ts";
import type { Keyring } from "../../receiver/key-sources.ts";
import type { TlsWatch } from "./tls.ts";

/** A file that cannot be read is a warning, and the old one stays in use. The returned function ends the watching. */
export function reloadOnHangup(
  keyring: Keyring,
  tls: TlsWatch | undefined,
  { out, onReload }: Pick<Context, "out" | "onReload">,
): () => void {
  const reload = async (): Promise<void> => {
    const what: string[] = [];
    const count = keyring.keys().length;
    if (count > 0 && (await keyring.reload())) what.push("keys");
    if (tls !== undefined && (await tls.reload())) what.push("certificate");
    if (out.json) out.lines([JSON.stringify({ type: "reloaded", what })]);
    else out.note(what.length > 0 ? `Reloaded: ${what.join(", ")}.` : "Nothing was reloaded.");
  };
  return onReload(() => void reload());
}
