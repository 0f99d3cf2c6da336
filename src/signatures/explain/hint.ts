/** What explains a failure: a variant of the message that the signature or the digest matches, and what to do about it. */

/** It is never accepted. */
export interface Hint {
  /** What is different, such as `scheme=http`. */
  readonly variant: string;
  readonly advice: string;
}

/** What may have been changed between the service and this machine. */
export interface Variant<Subject> extends Hint {
  /** Two variants of one kind are not combined. */
  readonly kind: string;
  /** The subject as it may have been signed. */
  readonly changed: Subject;
}
