/** `paylink sandbox`: its flags and help. */
import { examples, type Register } from "../declare.ts";

export interface SandboxFlags {
  readonly port: string;
  readonly host: string;
}

export const registerSandbox: Register = (program, start) => {
  const command = program
    .command("sandbox")
    .description("run the whole payment-link service on this machine")
    .option("--port <number>", "the port to serve on; 0 takes a free one", "4010")
    .option("--host <address>", "the address to bind", "127.0.0.1")
    .action(async (flags: SandboxFlags) => {
      const { sandbox } = await import("./sandbox.ts");
      await sandbox(await start(command), flags);
    });
  examples(command, ["paylink sandbox", "paylink sandbox --port 0 --json"]);
};
