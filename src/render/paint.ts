/** The styles of text: those of chalk, or none if the stream shows no colours. */

type TextStyle = (text: string) => string;
type Colour = TextStyle & { readonly bold: TextStyle };

export interface Paint {
  /** 0 means no colours. */
  readonly level: number;
  readonly bold: TextStyle;
  readonly dim: TextStyle;
  readonly red: Colour;
  readonly green: Colour;
  readonly yellow: Colour;
  readonly cyan: Colour;
  readonly magenta: Colour;
  readonly bgBlack: { readonly whiteBright: TextStyle };
}

const unstyled: TextStyle = (text) => text;
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
