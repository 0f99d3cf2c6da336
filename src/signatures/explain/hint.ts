/** What explains a failure: a variant of the message that the signature or the digest matches, and what to do about it. */

/** It is never accepted. */
export interface Hint {
  /** What is different, such as `scheme=http`. */
  readonly variant: string;
  readonly advice: string;
}
