/** What text is painted with: chalk's own styles, or none where a stream shows no colour and chalk need not load. */

type Style = (text: string) => string;
type Colour = Style & { readonly bold: Style };

export interface Paint {
  /** 0 shows no colour. */
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

const asItIs: Style = (text) => text;
const colour = Object.assign((text: string) => text, { bold: asItIs });

export const NO_PAINT: Paint = {
  level: 0,
  bold: asItIs,
  dim: asItIs,
  red: colour,
  green: colour,
  yellow: colour,
  cyan: colour,
  magenta: colour,
  bgBlack: { whiteBright: asItIs },
};
