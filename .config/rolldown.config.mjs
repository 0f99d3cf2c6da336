// Bundles the program into lazy CommonJS chunks: what --help and --version load is a fraction of the whole.
import { readFileSync } from "node:fs";
import { defineConfig } from "rolldown";

const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));

export default defineConfig({
  input: { main: "src/main.ts" },
  platform: "node",
  external: ["@photostructure/sqlite"],
  resolve: {
    // conf validates with ajv only where it is given a schema; here zod validates, so 140 KB stay out.
    alias: {
      "ajv/dist/2020.js": new URL("./no-ajv.mjs", import.meta.url).pathname,
      "ajv-formats": new URL("./no-ajv.mjs", import.meta.url).pathname,
    },
  },
  transform: { define: { PAYLINK_VERSION: JSON.stringify(version) } },
  output: {
    dir: "dist",
    format: "cjs",
    cleanDir: true,
    minify: true,
    entryFileNames: "[name].js",
    chunkFileNames: "[name]-[hash].js",
  },
});
