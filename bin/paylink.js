#!/usr/bin/env node
"use strict";

/** The last to hear of a failure: of a program that cannot be loaded, or that fails before it can report by itself. */
const failed = (error) => {
  const reason = String((error && error.message) || error)
    .split("\n")[0]
    .replace(/\.$/, "");
  const message = `paylink cannot run: ${reason}. If its files are missing or damaged, install it again: npm install --global paylink`;
  const asJson = JSON.stringify({ error: { code: "internal", message, details: {} } });
  process.stderr.write(`${process.argv.includes("--json") ? asJson : `✗ ${message}`}\n`);
  process.exitCode = 1;
};

try {
  require("../dist/entry.js")
    .run(process)
    .then((code) => (process.exitCode = code), failed);
} catch (error) {
  failed(error);
}
