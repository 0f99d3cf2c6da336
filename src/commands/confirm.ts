/** The confirmation before a command deletes or cancels something. */
import type { Context } from "../context.ts";
import type { Usage } from "./command.ts";

/** Where nobody can answer, only `--yes` confirms: a script must not delete by accident. */
export function checkConfirmable(_: unknown, { problems }: Usage, { ask, yes }: Context): void {
  if (yes || ask !== undefined) return;
  problems.push({ at: "--yes", message: "is required where nobody can be asked: it confirms the command" });
}

/** Asks, unless `--yes` has confirmed it before. */
export const isConfirmed = async ({ ask, yes }: Pick<Context, "ask" | "yes">, question: string) =>
  yes || (ask !== undefined && ask.confirm(question, { initial: false }));
