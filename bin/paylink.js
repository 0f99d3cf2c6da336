#!/usr/bin/env node
"use strict";
void require("../dist/entry.js")
  .run(process)
  .then((code) => (process.exitCode = code));
