// Stands in for undici's index in the bundle, which loads fetch, WebSocket, caches and mocks as well: what is used here
// takes a third of the time to load.
export { default as Agent } from "undici/lib/dispatcher/agent.js";
