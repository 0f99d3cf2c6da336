/** The packages as npm publishes them, packed from what was built, and npm without the network or the user's settings. */
import { join, resolve } from "node:path";
import type { Shell } from "./shell.ts";

const ROOT = resolve(import.meta.dirname, "../..");

export const npmSettings = (home: string): Record<string, string> => ({
  npm_config_cache: join(home, "cache"),
  npm_config_prefix: join(home, "prefix"),
  npm_config_offline: "true",
  npm_config_audit: "false",
  npm_config_fund: "false",
  npm_config_update_notifier: "false",
});

/** Bytes of the package `paylink`: as it is downloaded, and as it is installed. */
export const SIZE_BARS = { packed: 750_000, installed: 2_400_000 };

export interface Packed {
  readonly filename: string;
  readonly size: number;
  readonly unpackedSize: number;
  readonly files: readonly { readonly path: string }[];
}

const COMMANDS = {
  // No build runs under the other tests.
  paylink: `npm pack --ignore-scripts --json --pack-destination . "${ROOT}"`,
  "paylink-webhooks": `npm pack --ignore-scripts --json --pack-destination . "${join(ROOT, "dist/webhooks")}"`,
};

export type PackageName = keyof typeof COMMANDS;

/** Packs a package into the folder of the shell. */
export async function pack(shell: Shell, name: PackageName = "paylink"): Promise<Packed> {
  const { code, stdout, stderr } = await shell.run(COMMANDS[name], { env: npmSettings(shell.home) });
  if (code !== 0) throw new Error(`${name} cannot be packed: ${stderr}`);
  const [packed] = JSON.parse(stdout) as [Packed];
  return packed;
}
