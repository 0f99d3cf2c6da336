/** The user's desktop: opens a web page in the browser and copies text to the clipboard. */
import { spawn } from "node:child_process";
import { parseWebAddress } from "../domain/web-address.ts";

/** Refuses other schemes: the URL comes from the network, and a scheme can start any program. */
export async function openBrowser(url: string): Promise<void> {
  const address = parseWebAddress(url);
  if (address === undefined) throw new Error("it is not an http or https URL");
  const { default: open } = await import("open");
  try {
    await open(address.href);
  } catch (error) {
    throw error instanceof Error && "code" in error && error.code === "ENOENT"
      ? new Error("the program that opens web pages is not installed", { cause: error })
      : error;
  }
}

type Program = readonly [command: string, ...args: string[]];

const PROGRAMS: Partial<Record<NodeJS.Platform, readonly Program[]>> = {
  darwin: [["pbcopy"]],
  win32: [["clip.exe"]],
};
/** Wayland, X11, and Windows from within its Linux subsystem. */
const UNIX_PROGRAMS: readonly Program[] = [
  ["wl-copy"],
  ["xclip", "-selection", "clipboard"],
  ["xsel", "--clipboard", "--input"],
  ["clip.exe"],
];

/** Tries the clipboard programs of the platform in turn; rejects if none works. */
export async function copyText(text: string): Promise<void> {
  const programs = PROGRAMS[process.platform] ?? UNIX_PROGRAMS;
  for (const program of programs) if (await copyWith(program, text)) return;
  const names = programs.map(([command]) => command).join(", ");
  throw new Error(`none of ${names} works here`);
}

/** Ignores the program's output: it may stay in the background to serve the clipboard. */
function copyWith([command, ...args]: Program, text: string): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn(command, args, { stdio: ["pipe", "ignore", "ignore"] });
    child.on("error", () => resolve(false));
    child.on("exit", (code) => resolve(code === 0));
    child.stdin.on("error", () => resolve(false));
    child.stdin.end(text);
  });
}
