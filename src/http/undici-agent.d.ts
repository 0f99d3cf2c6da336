/** The type of undici's agent as a module of its own: undici declares types for its index only. */
declare module "undici/lib/dispatcher/agent.js" {
  export { Agent as default } from "undici";
}
