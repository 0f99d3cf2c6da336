/**
 * Puts into the bundle what paylink takes of undici: its index also loads fetch, WebSocket and mocks, with which `create` takes a
 * quarter longer (startup bench) and the package is a tenth larger (size bench).
 */
import { fileURLToPath } from "node:url";

const ID = "agent";

/** As the index makes them: a dispatcher has its methods from there. */
const MODULE = `
import Dispatcher from "undici/lib/dispatcher/dispatcher.js";
import connect from "undici/lib/api/api-connect.js";
Object.assign(Dispatcher.prototype, { connect });
export { default as Agent } from "undici/lib/dispatcher/agent.js";
export { default as Pool } from "undici/lib/dispatcher/pool.js";
export { default as ProxyAgent } from "undici/lib/dispatcher/proxy-agent.js";
export { default as buildConnector } from "undici/lib/core/connect.js";
`;

/** Its parser of HTTP, which is built twice. The one that every processor runs is enough: the other takes 3 % of the package (size bench). */
const PARSER = "undici/lib/llhttp/llhttp-wasm.js";

/** @returns {import("rolldown").Plugin} */
export const partsOfUndici = () => ({
  name: "parts-of-undici",
  resolveId: (imported, importer) => {
    if (imported === "undici") return ID;
    if (imported.endsWith("/llhttp_simd-wasm.js")) return fileURLToPath(import.meta.resolve(PARSER));
    // A file in the folder of the packages.
    return importer === ID ? fileURLToPath(import.meta.resolve(imported)) : null;
  },
  load: (id) => (id === ID ? MODULE : null),
});
