/** One case of `check`: what is posted for an order, and what the endpoint and the application must do. */
import type { Sum } from "../domain/money.ts";
import type { HttpRequest } from "../http/message.ts";
import type { SampleOrder, SampleSource } from "../sender/samples.ts";
import type { WebhookOptions } from "../sender/signed-webhook.ts";

/** The case whose failure tells that a copy of the body is verified. */
export const EXACT_BYTES = "exact-bytes";

/** What the names of the cases end with whose signature does not say when it was made. */
export const UNDATED = ["-no-created", "-bare"] as const;

export const isUndated = ({ name }: Pick<EndpointCase, "name">): boolean =>
  UNDATED.some((suffix) => name.endsWith(suffix));

export interface EndpointCase {
  readonly name: string;
  /** `answered` is either: 2xx or 4xx. */
  readonly expects: ExpectedAnswer;
  /** Whether a 5xx refuses it too. Else it does not: the endpoint failed, and the service would send the webhook again. */
  readonly refusedBy5xx?: boolean;
  /** Whether the endpoint fails the check if it does otherwise; if not, it gets a warning. */
  readonly required: boolean;
  /** What is sent: `a webhook without a signature`. */
  readonly description: string;
  /** If the endpoint does otherwise. */
  readonly consequence: string;
  /**
   * The order that is paid: one that nothing has paid yet, one that is paid already, any one, one that gets nothing else, or one that
   * the application does not know, because it has no part in orders that are paid once.
   */
  readonly order: "fresh" | "paid" | "any" | "alone" | "unknown";
  /** What an order that the application does not know asks for; 10.5 by default. */
  readonly amount?: string;
  /** Whether what is paid is then booked; `perhaps` if both are right. */
  readonly books: "once" | "never" | "perhaps";
  /** The webhooks are posted at the same time, and one of them must be accepted; else one after the other, and each counts. */
  readonly atOnce?: boolean;
  /** How often all of them are posted, each time for another order of `check` itself; once by default. */
  readonly rounds?: number;
  readonly webhooks: (
    sender: WebhookOptions,
    source: SampleSource,
    order: SampleOrder,
  ) => readonly CaseWebhook[];
}

export type ExpectedAnswer = "accepted" | "refused" | "answered";

export interface CaseWebhook {
  readonly request: HttpRequest;
  /** What its record says that was paid. */
  readonly sum: Sum;
  /** What it pays of the order of the case, if the endpoint accepts it. A part may be booked as a part. */
  readonly pays: "all" | "a part" | "nothing";
}
