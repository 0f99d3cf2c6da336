// Runs a benchmark by name: npm run bench -- listen
import { readdirSync } from "node:fs";

const [name = "", ...args] = process.argv.slice(2);
const names = readdirSync(import.meta.dirname)
  .filter((file) => file.endsWith(".bench.mjs"))
  .map((file) => file.replace(".bench.mjs", ""));
if (names.includes(name)) {
  const { default: bench } = await import(`./${name}.bench.mjs`);
  await bench(args);
} else {
  process.stdout.write(`npm run bench -- <${names.join("|")}>\n`);
  process.exitCode = 2;
}
