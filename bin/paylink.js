#!/usr/bin/env node
"use strict";
void require("../dist/main.js")
  .run(process)
  .then((code) => (process.exitCode = code));
