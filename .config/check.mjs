/** Runs the checks of package.json at the same time. Prints only what the failed ones say. */
import { execFile } from "node:child_process";

for (const check of ["check:format", "check:lint", "check:types", "check:unused"])
  execFile("npm", ["run", "--silent", check], { maxBuffer: Infinity }, (failure, stdout, stderr) => {
    if (failure === null) return;
    process.exitCode = 1;
    process.stdout.write(stdout);
    process.stderr.write(stderr);
  });
