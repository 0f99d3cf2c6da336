/** Remembers every secret of this run, so that none of them is printed. */

export interface Secrets {
  readonly know: (secret: string | undefined) => void;
  /** Replaces each known secret in the text by `[redacted]`. */
  readonly hide: (text: string) => string;
}

/** Shorter texts are not secrets, and would match everywhere. */
const SHORTEST = 4;

export function createSecrets(): Secrets {
  const known = new Set<string>();
  return {
    know: (secret) => {
      const text = secret?.trim() ?? "";
      if (text.length < SHORTEST || known.has(text)) return;
      // As it is, and as it appears in JSON, in a form and in a URL.
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
