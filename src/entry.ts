/** The entry: answers at once what needs no program, and loads the program for everything else. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createLoader } from "./compiled.ts";
import { folders } from "./store/folders.ts";
import { standardStreams } from "./terminal/output.ts";

/** Put in when this is built: the version, and the file that the program begins with. */
declare const PAYLINK_VERSION: string;
declare const PAYLINK_PROGRAM: string;

/** Runs one command line and resolves with the exit code. */
export async function run(world: NodeJS.Process): Promise<number> {
  const argv = world.argv.slice(2);
  const only = argv.length === 1 ? argv[0] : undefined;
  const { stdout } = standardStreams(world);
  if (only === "--version" || only === "-V") {
    stdout.write(`${PAYLINK_VERSION}\n`);
    return 0;
  }
  // The build has written the help down: the program that it describes takes ten times as long to load. A terminal
  // gets lines of its own width.
  if ((only === "--help" || only === "-h") && !stdout.isTTY) {
    stdout.write(readFileSync(join(__dirname, "help.txt"), "utf8"));
    return 0;
  }
  const { env, version, arch, pid } = world;
  const loader = createLoader({
    folder: join(__dirname, "program"),
    require,
    // The variable by which Node's own cache of this kind is turned off.
    cache: env["NODE_DISABLE_COMPILE_CACHE"] === "1" ? undefined : folders(env["PAYLINK_HOME"]).cache,
    owner: world.getuid?.(),
    engine: `${version}-${arch}`,
    writer: String(pid),
  });
  const program = loader.load(PAYLINK_PROGRAM) as typeof import("./main.ts");
  try {
    return await program.run(world);
  } finally {
    loader.keep();
  }
}
