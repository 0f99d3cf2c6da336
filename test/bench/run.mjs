// Runs the benchmarks that are named, or all of them, one after the other: npm run bench -- bulk
import { readdirSync } from "node:fs";

const named = process.argv.slice(2);
const all = readdirSync(import.meta.dirname)
  .filter((file) => file.endsWith(".mjs") && file !== "run.mjs")
  .map((file) => file.replace(/\.mjs$/, ""));
for (const name of named.length > 0 ? named : all) {
  const { bench } = await import(`./${name}.mjs`);
  await bench();
}
