/** Every environment variable that paylink reads, with its meaning. */
import { VARIABLES } from "../../store/settings/in-force.ts";

const { baseUrl, token, terminalId, webhookKey, callbackUrl, clientId, clientSecret, tokenUrl } = VARIABLES;

export const ENVIRONMENT = {
  PAYLINK_PROFILE: "the profile to use",
  [baseUrl]: "the service's address; with a token, no profile is needed",
  [token]: "the access token",
  [terminalId]: "the terminal that takes the payments",
  [webhookKey]: "the key that verifies webhooks: PEM text, a file or an https URL",
  [callbackUrl]: "the callback address of created links",
  [clientId]: "the client id for fetching access tokens",
  [clientSecret]: "the client secret",
  [tokenUrl]: "the address that access tokens are fetched from",
  PAYLINK_HOME: "one folder for settings and data, instead of the platform's folders",
  NODE_DISABLE_COMPILE_CACHE:
    "1 turns off the compile cache (Node 22 and later), so that each run starts slower",
  HTTPS_PROXY: "the proxy",
  NO_PROXY: "the hosts that are reached without the proxy",
  NO_COLOR: "no colours",
  FORCE_COLOR: "colours even without a terminal",
  CI: "never prompt",
} as const;
