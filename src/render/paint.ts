/** The styles of text: those of chalk, or none if the stream shows no colours. */

type Style = (text: string) => string;
type Colour = Style & { readonly bold: Style };

export interface Paint {
  /** 0 means no colours. */
  readonly level: number;
  readonly bold: Style;
  readonly dim: Style;
  readonly red: Colour;
  readonly green: Colour;
  readonly yellow: Colour;
  readonly cyan: Colour;
  readonly magenta: Colour;
  readonly bgBlack: { readonly whiteBright: Style };
}

const unstyled: Style = (text) => text;
const colour = Object.assign((text: string) => text, { bold: unstyled });

export const NO_PAINT: Paint = {
  level: 0,
  bold: unstyled,
  dim: unstyled,
  red: colour,
  green: colour,
  yellow: colour,
  cyan: colour,
  magenta: colour,
  bgBlack: { whiteBright: unstyled },
};
