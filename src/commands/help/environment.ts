/** Every environment variable that paylink reads, with what it stands for. */
import { VARIABLES } from "../../store/settings/in-force.ts";

const { baseUrl, token, terminalId, webhookKey, callbackUrl, clientId, clientSecret, tokenUrl } = VARIABLES;

export const ENVIRONMENT = {
  PAYLINK_PROFILE: "the profile to use",
  [baseUrl]: "the service's address; with a token, no profile is needed",
  [token]: "the access token",
  [terminalId]: "the terminal that takes the payments",
  [webhookKey]: "the key that verifies webhooks: PEM text, a file or an https URL",
  [callbackUrl]: "the callback address of created links",
  [clientId]: "the client's id, where an access token is to be fetched",
  [clientSecret]: "the client's secret",
  [tokenUrl]: "where access tokens are fetched",
  PAYLINK_HOME: "one folder for settings and data, instead of the platform's own",
  NODE_DISABLE_COMPILE_CACHE:
    "1 keeps no compiled code between runs (Node 22 and later); each starts more slowly",
  HTTPS_PROXY: "the proxy",
  NO_PROXY: "the hosts that need no proxy",
  NO_COLOR: "no colours",
  FORCE_COLOR: "colours, even where there is no terminal",
  CI: "never prompt",
} as const;
