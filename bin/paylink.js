#!/usr/bin/env node
"use strict";

const { existsSync } = require("node:fs");
const path = require("node:path");

/** The package has no sources, and a clone has no dist before it is built. */
const isUnbuilt = () =>
  existsSync(path.join(__dirname, "../src")) && !existsSync(path.join(__dirname, "../dist"));

/** The last to hear of a failure: of a program that cannot be loaded, or that fails before it can report by itself. */
const failed = (error) => {
  const reason = String((error && error.message) || error)
    .split("\n")[0]
    .replace(/\.$/, "");
  const message = isUnbuilt()
    ? "paylink is not built yet. Build it in this clone: npm run build"
    : `paylink cannot run: ${reason}. If its files are missing or damaged, install it again: npm install --global paylink`;
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
