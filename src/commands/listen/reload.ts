/** What `listen` does at SIGHUP: it reads the keys and the certificate again, and reports what it reloaded. */
import type { Context } from "../../context.ts";
import type { Keyring } from "../../receiver/key-sources.ts";
import type { TlsWatch } from "./tls.ts";

/** Warns about a file that cannot be read, and keeps the old one. The returned function stops reloading. */
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
