/** Other orders of components and parameters that may have been signed. */

import { isInnerList, parseList, type BareItem } from "structured-headers";
import { signatureParams } from "../base.ts";
import type { Component } from "../components.ts";
import type { Signing, SigningVariant } from "./signing.ts";

/** More than this have too many orders to try: 4 have 24. */
const MAX_ORDERED = 4;

export function orderVariants({ components, params }: Signing): SigningVariant[] {
  const [list] = parseList(params);
  const parameters = list !== undefined && isInnerList(list) ? [...list[1]] : [];
  const advice = (): string =>
    "A proxy or a framework reordered Signature-Input, and the signature covers the order. Configure it to leave the header unchanged.";
  const reordered = (
    variant: string,
    listed: readonly Component[],
    given: readonly (readonly [string, BareItem])[],
  ): SigningVariant => ({
    kind: "order",
    variant,
    apply: (signing) => ({ ...signing, components: listed, params: signatureParams(listed, new Map(given)) }),
    advice,
  });
  return [
    ...orders(parameters).map((given) => reordered("signature parameters reordered", components, given)),
    ...orders(components).map((listed) => reordered("covered components reordered", listed, parameters)),
  ];
}

function orders<T>(items: readonly T[]): T[][] {
  return items.length < 2 || items.length > MAX_ORDERED ? [] : permutations(items).slice(1);
}

function permutations<T>(items: readonly T[]): T[][] {
  if (items.length < 2) return [[...items]];
  return items.flatMap((item, at) =>
    permutations([...items.slice(0, at), ...items.slice(at + 1)]).map((rest) => [item, ...rest]),
  );
}
