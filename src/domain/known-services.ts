/** The services that are known: the built-in ones, as settings from their public documentation, and paylink's own servers. */
import { isLoopback, parseWebAddress } from "../values/addresses.ts";

interface Service {
  /** The name that people know it by. */
  readonly title: string;
  /** Whether real money moves. */
  readonly live: boolean;
  /** Those that its documentation names. */
  readonly currencies: readonly string[];
  /** Settings by key. One that is undefined has no default at this service. */
  readonly settings: Readonly<Record<string, string | undefined>> & { readonly baseUrl: string };
}

/** Where links are created, below the base URL. */
export const LINKS_PATH = "/v1/payment-links";
/** Where the sandbox has transactions: the specification names no address. */
export const TRANSACTION_PATH = "/v1/transactions/{uti}";

/** The transaction types that the specification and the services name. */
export const TRANSACTION_TYPES = ["SALE", "AUTH", "PRE-AUTH", "VERIFICATION"] as const;

/** The only scope of access tokens. */
export const SCOPE = "pay_by_link";

/** What both addresses of DNA Payments have in common. */
const DNA = {
  tokenScope: SCOPE,
  // Pay by Link has no endpoint for transactions.
  transactionUrl: undefined,
} as const;

/** To add a service, add an entry. */
export const SERVICES = {
  dna: {
    title: "DNA Payments, Pay by Link",
    live: true,
    currencies: ["GBP"],
    settings: {
      ...DNA,
      baseUrl: "https://api.dnapayments.com",
      tokenUrl: "https://oauth.dnapayments.com/oauth2/token",
    },
  },
  "dna-test": {
    title: "DNA Payments, Pay by Link (test)",
    live: false,
    currencies: ["GBP"],
    settings: {
      ...DNA,
      baseUrl: "https://test-api.dnapayments.com",
      tokenUrl: "https://test-oauth.dnapayments.com/oauth2/token",
    },
  },
} as const satisfies Readonly<Record<string, Service>>;

type ServiceName = keyof typeof SERVICES;
export const SERVICE_NAMES = Object.keys(SERVICES) as ServiceName[];

/** Undefined for a service that is not built in. */
export const serviceNamed = (name: string | undefined): Service | undefined =>
  SERVICE_NAMES.flatMap((known) => (known === name ? [SERVICES[known]] : []))[0];

export type ServiceLabel = "LIVE" | "TEST" | "CUSTOM" | "LOCAL" | "sandbox";

/** Whether payments at an address with this label are known to be tests. */
export const isForTests = (label: ServiceLabel): boolean => label === "TEST" || label === "sandbox";

/**
 * What is known of an address. It alone decides: a profile of a test service that has the address of another one must not read
 * TEST. What answers at this machine (LOCAL), or elsewhere (CUSTOM), may lead to a live account.
 */
export function serviceLabel(baseUrl: string): Exclude<ServiceLabel, "sandbox"> {
  const url = parseWebAddress(baseUrl);
  const service = Object.values(SERVICES).find(
    ({ settings }) => new URL(settings.baseUrl).host === url?.host,
  );
  if (service !== undefined) return service.live ? "LIVE" : "TEST";
  return url !== undefined && isLoopback(url.hostname) ? "LOCAL" : "CUSTOM";
}

// The addresses of paylink's own servers on this machine, unless flags say otherwise.
export const LISTENER_PORT = 4000;
export const LISTENER_URL = `http://127.0.0.1:${LISTENER_PORT}/`;

export const SANDBOX_PORT = 4010;
/** Without a final slash, as profiles store it. */
export const SANDBOX_URL = `http://127.0.0.1:${SANDBOX_PORT}`;

/** The profile that `paylink sandbox` writes. */
export const SANDBOX_PROFILE = "sandbox";
