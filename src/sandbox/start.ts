/** Binds a sandbox to an address: what `sandbox` runs, and every other command that needs the whole service. */
import type { Serve } from "../http/exchange.ts";
import { createSandbox } from "./sandbox.ts";
import type { SandboxParts } from "./service.ts";

const MAX_BODY = 1024 * 1024;

export interface StartParts extends SandboxParts {
  readonly serve: Serve;
  readonly host: string;
  readonly port: number;
}

export interface RunningSandbox {
  /** With a final slash. */
  readonly url: string;
  /** Without one: what a profile holds. */
  readonly baseUrl: string;
  readonly idle: () => Promise<void>;
  /** Answers what is in flight, lets attempts under way finish, and leaves the rest on disk. */
  readonly close: () => Promise<void>;
}

export async function startSandbox(parts: StartParts): Promise<RunningSandbox> {
  const { serve, host, port, faulted } = parts;
  const sandbox = createSandbox(parts);
  const server = await serve(sandbox.handler, { host, port, maxBody: MAX_BODY, faulted }).catch(
    async (error: unknown) => {
      await sandbox.close();
      throw error;
    },
  );
  sandbox.start();
  return {
    url: server.url,
    baseUrl: server.url.replace(/\/$/, ""),
    idle: sandbox.idle,
    close: async () => {
      sandbox.endStreams();
      await server.close();
      await sandbox.close();
    },
  };
}
