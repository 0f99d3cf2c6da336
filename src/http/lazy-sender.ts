/** The sender, loaded with the first request and not before: undici is the heaviest thing in the program. */
import type { Sender } from "./send.ts";

type World = Pick<NodeJS.Process, "env" | "versions" | "getBuiltinModule">;

export function createLazySender(world: World): Sender {
  const { env } = world;
  const parser = quickParser(world);
  let sender: Promise<Sender> | undefined;
  const open = async (): Promise<Sender> => {
    const { createSender } = await import("./send.ts");
    parser.begin();
    return createSender({
      httpsProxy: env["HTTPS_PROXY"] ?? env["https_proxy"],
      noProxy: env["NO_PROXY"] ?? env["no_proxy"],
    });
  };
  return {
    send: async (request, options) => (await (sender ??= open())).send(request, options),
    close: async () => {
      if (sender === undefined) return;
      await (await sender).close();
      parser.end();
    },
  };
}

/**
 * Node 20 optimises undici's parser, which is WebAssembly, at once, for longer than most runs last; later ones wait until
 * it is worth it, and would lose by this. What is kept compiled, by Node of its own modules and by the entry of ours, is
 * good under the same flags alone: so they change once undici is loaded, and are what they were when it is closed.
 */
function quickParser({ versions, getBuiltinModule }: World): { begin(): void; end(): void } {
  const set = (flags: readonly string[]): void => {
    if (!versions.node.startsWith("20.")) return;
    const v8 = getBuiltinModule("node:v8");
    for (const flag of flags) v8.setFlagsFromString(flag);
  };
  return {
    begin: () => set(["--liftoff-only"]),
    end: () => set(["--no-liftoff-only", "--wasm-tier-up", "--wasm-dynamic-tiering"]),
  };
}
