/** The entry: answers `--version`, and loads the program through Node's compile cache. */
import nodeModule from "node:module";
import { isAbsolute } from "node:path";
import { isSea } from "node:sea";
import { openChannel } from "./terminal/channel.ts";

const VERSION = ["--version", "-V", "-v", "version"];

/** Runs one command line and resolves with the exit code. */
export async function run(process: NodeJS.Process): Promise<number> {
  // With --json, stderr holds one JSON document: Node's own warnings (22 calls its SQLite experimental) would break it.
  process.removeAllListeners("warning");
  const [first = "", ...others] = process.argv.slice(2);
  if (others.length === 0 && VERSION.includes(first)) {
    const stdout = openChannel(process.stdout);
    stdout.write(`${PAYLINK_VERSION}\n`);
    // What prints it again reports why it cannot be printed.
    if ((await stdout.settled()) === undefined) return 0;
  }
  // Node has it from version 22, and obeys NODE_DISABLE_COMPILE_CACHE. Only Node reads and writes this folder. The single
  // executable contains its compiled code.
  if (!isSea() && "enableCompileCache" in nodeModule && typeof nodeModule.enableCompileCache === "function") {
    const cache = await cacheFolder();
    if (cache !== undefined) nodeModule.enableCompileCache(cache);
  }
  const program = await import("./main.ts");
  return await program.runProcess(process);
}

/** Undefined without a home: an empty HOME gives a relative folder, so code would come from wherever paylink is started. */
async function cacheFolder(): Promise<string | undefined> {
  try {
    const { default: envPaths } = await import("env-paths");
    const { cache } = envPaths("paylink", { suffix: "" });
    return isAbsolute(cache) ? cache : undefined;
  } catch {
    // The system does not know the user, and the environment has no HOME.
    return undefined;
  }
}
