/** Which target gets the webhooks of which outcome. */
import type { Outcome } from "../domain/outcome.ts";

/** The target of one outcome; without an outcome, that of all others. */
export interface Route {
  readonly outcome: Outcome | undefined;
  readonly url: URL;
}

export function targetOf(routes: readonly Route[], outcome: Outcome): URL | undefined {
  const own = routes.find((route) => route.outcome === outcome);
  return (own ?? routes.find((route) => route.outcome === undefined))?.url;
}
