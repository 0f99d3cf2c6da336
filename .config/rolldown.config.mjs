// Bundles the program into lazy CommonJS chunks: what --help and --version load is a fraction of the whole.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { defineConfig } from "rolldown";

const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));

/** Parts of conf that this program must not have; each file says why. */
const standIn = (name) => fileURLToPath(new URL(`./stand-ins/${name}.mjs`, import.meta.url));

export default defineConfig({
  input: { main: "src/main.ts" },
  platform: "node",
  external: ["@photostructure/sqlite"],
  resolve: {
    alias: {
      "ajv/dist/2020.js": standIn("ajv"),
      "ajv-formats": standIn("ajv"),
      "when-exit": standIn("when-exit"),
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
