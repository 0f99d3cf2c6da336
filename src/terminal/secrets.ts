/** Every secret that this run has met, so that none of them is ever printed, whoever repeats it. */

export interface Secrets {
  readonly know: (secret: string | undefined) => void;
  /** The text with each known secret as `[redacted]`. */
  readonly hide: (text: string) => string;
}

/** Shorter texts are no secrets, and would be found everywhere. */
const SHORTEST = 4;

export function createSecrets(): Secrets {
  const known = new Set<string>();
  return {
    know: (secret) => {
      const text = secret?.trim() ?? "";
      if (text.length < SHORTEST || known.has(text)) return;
      // As it stands, and as it stands in JSON, in a form and in a URL.
      for (const spelling of [text, JSON.stringify(text).slice(1, -1), encodeURIComponent(text)])
        known.add(spelling);
    },
    hide: (text) => {
      let hidden = text;
      for (const secret of [...known].toSorted((one, other) => other.length - one.length))
        hidden = hidden.replaceAll(secret, "[redacted]");
      return hidden;
    },
  };
}
