/** The confirmation before a command deletes or cancels something. */
import type { Context } from "../context.ts";

/** True without asking after `--yes`, and if nobody can answer. */
export const isConfirmed = async ({ ask, yes }: Pick<Context, "ask" | "yes">, question: string) =>
  yes || ask === undefined || ask.confirm(question, { initial: false });
