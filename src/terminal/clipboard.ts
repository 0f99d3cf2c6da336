/** Copies text to the clipboard with whichever program of the platform does it. */
import { spawn } from "node:child_process";

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

/** Rejects where no program takes the text. */
export async function copyText(text: string): Promise<void> {
  const programs = PROGRAMS[process.platform] ?? UNIX_PROGRAMS;
  for (const program of programs) if (await hand(program, text)) return;
  const names = programs.map(([command]) => command).join(", ");
  throw new Error(`none of ${names} is here and works`);
}

/** A copying program may stay in the background to serve the clipboard, so its output is not waited for. */
function hand([command, ...args]: Program, text: string): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn(command, args, { stdio: ["pipe", "ignore", "ignore"] });
    child.on("error", () => resolve(false));
    child.on("exit", (code) => resolve(code === 0));
    child.stdin.on("error", () => resolve(false));
    child.stdin.end(text);
  });
}
