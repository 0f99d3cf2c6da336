/** Whether stdout accepts what is printed, and what it means for the run if it does not. */
import { PaylinkError } from "../domain/errors.ts";
import { hint } from "../domain/hint.ts";
import { systemReason } from "../values/system-reason.ts";
import { plural } from "../values/plural.ts";
import { type Channel, isReaderGone, ReaderStandsStill } from "./channel.ts";

/** Lines are stored elsewhere; a result may exist nowhere else, such as the URL of a new link. */
export class OutputDelivery {
  readonly #unread = new AbortController();
  #hasReaderLeft = false;
  #failure: PaylinkError | undefined;
  #unreadLines = 0;

  /** Fires when nobody sees further output; its reason is a text. */
  get unread(): AbortSignal {
    return this.#unread.signal;
  }

  /** The first failure that ends the run. */
  get failure(): PaylinkError | undefined {
    return this.#failure ?? (this.#unreadLines > 0 ? linesUnread(this.#unreadLines) : undefined);
  }

  /** The reader may end during lines (`events list | head`): the command then ends without an error. */
  loseLines(error: Error, lines: Buffer): void {
    if (error instanceof ReaderStandsStill)
      this.#unreadLines += lines.filter((byte) => byte === LINE_END).length;
    if (isReaderGone(error)) this.#hasReaderLeft = true;
    else this.#failure ??= linesUnwritable(error);
    this.#unread.abort(unwritableReason(error));
  }

  /** False if nobody misses the result, because the reader ended during lines before it. */
  loseResult(error: Error): boolean {
    if (this.#hasReaderLeft && isReaderGone(error)) return false;
    this.#failure ??= resultUnwritable(error);
    this.#unread.abort(unwritableReason(error));
    return true;
  }

  /** The reader is too far behind with lines. */
  giveUpReader(): void {
    this.#unread.abort(READER_GONE);
  }
}

const LINE_END = 0x0a;

const READER_GONE = "its reader has gone";

const unwritableReason = (error: Error): string => (isReaderGone(error) ? READER_GONE : systemReason(error));

function resultUnwritable(cause: Error): PaylinkError {
  return new PaylinkError(
    "output_unwritable",
    `stdout could not be written (${unwritableReason(cause)}), so the result is on stderr.`,
    {
      hints: [hint`If the result names a link or a payment, it exists. Do not run the command again.`],
      cause,
    },
  );
}

/** Resolves when all of a text is printed, or with `output_unwritable` if a reader misses it. */
export async function unprinted({ settled }: Pick<Channel, "settled">): Promise<PaylinkError | undefined> {
  const error = await settled();
  return error === undefined || isReaderGone(error) ? undefined : linesUnwritable(error);
}

const linesUnread = (count: number): PaylinkError =>
  new PaylinkError(
    "output_unwritable",
    `The reader of stdout stands still, so ${plural(count, "line")} could not be written.`,
  );

const linesUnwritable = (cause: Error): PaylinkError =>
  new PaylinkError(
    "output_unwritable",
    `stdout could not be written (${systemReason(cause)}), so lines are missing.`,
    {
      cause,
    },
  );
