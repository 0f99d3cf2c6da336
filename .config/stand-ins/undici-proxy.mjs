// Stands in for undici's index where it is loaded only once it is needed: for the proxy, which few runs go through.
export { default as EnvHttpProxyAgent } from "undici/lib/dispatcher/env-http-proxy-agent.js";
