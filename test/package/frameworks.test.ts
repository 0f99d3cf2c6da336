/** The packed library in Koa and NestJS themselves, which are too large for the project's own dependencies. */
import { execFile } from "node:child_process";
import { copyFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { installed } from "../nodes/installed.mjs";
import { temporaryHome } from "../support/home.ts";

const LIBRARY = resolve(import.meta.dirname, "../../dist/webhooks/index.cjs");

it("verifies in Koa and NestJS, with and without their body parsers", async () => {
  const modules = installed("frameworks", [
    "koa@3",
    "koa-bodyparser@4",
    "@nestjs/core@11",
    "@nestjs/common@11",
    "@nestjs/platform-express@11",
    "rxjs@7",
    "reflect-metadata@0.2",
  ]);
  const program = join(temporaryHome(), "shop.cjs");
  copyFileSync(resolve(import.meta.dirname, "framework-shop.cjs"), program);
  const env = { ...process.env, NODE_PATH: modules, PAYLINK_LIBRARY: LIBRARY };
  const { stdout } = await promisify(execFile)(process.execPath, [program], { env });
  expect(JSON.parse(stdout)).toEqual({
    "Koa: ctx.req": "APPROVED",
    "Koa: ctx": "APPROVED",
    "Koa with a body parser: ctx": "APPROVED",
    "Koa with a body parser: ctx.request": "APPROVED",
    "Koa with a body parser: ctx.req": "body_parsed",
    "NestJS with rawBody": "APPROVED",
    "NestJS without rawBody": "body_parsed",
  });
});
