/** The packed library in Koa, NestJS, h3, Nitro, Elysia, Next.js and SvelteKit themselves, which are too large for the project's own dependencies. */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { connect } from "node:net";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { expect, it, onTestFinished, vi } from "vitest";
import { installed } from "../nodes/installed.mjs";
import { temporaryHome } from "../support/home.ts";
import { KEYS } from "../support/keys.ts";
import { pack } from "../support/packages.ts";
import { runPaylink } from "../support/paylink.ts";
import { freePort } from "../support/ports.ts";
import { openShell } from "../support/shell.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const RECEIVERS = join(ROOT, "src/texts/recipes");

/** Milliseconds: a build loads a whole framework, whose packages are installed first. */
const BUILD_TIMEOUT = 600_000;

const frameworks = (): string =>
  installed("frameworks", [
    "koa@3",
    "koa-bodyparser@4",
    "@nestjs/core@11",
    "@nestjs/common@11",
    "@nestjs/platform-express@11",
    "@nestjs/platform-fastify@11",
    "rxjs@7",
    "reflect-metadata@0.2",
    "h3@1",
    "elysia@1",
    "@elysiajs/node@1",
  ]);

it("verifies in Koa and NestJS, with and without their body parsers", async () => {
  const program = join(temporaryHome(), "shop.cjs");
  copyFileSync(resolve(import.meta.dirname, "framework-shop.cjs"), program);
  const env = {
    ...process.env,
    NODE_PATH: frameworks(),
    PAYLINK_LIBRARY: join(ROOT, "dist/webhooks/index.cjs"),
  };
  const { stdout } = await promisify(execFile)(process.execPath, [program], { env });
  expect(JSON.parse(stdout)).toEqual({
    "Koa: ctx.req": "APPROVED",
    "Koa with a body parser: ctx.req": "body_parsed",
    "NestJS with rawBody": "APPROVED",
    "NestJS without rawBody": "body_parsed",
    "NestJS on Fastify with rawBody": "APPROVED",
    "NestJS on Fastify with rawBody, and request.raw": "body_parsed",
    "NestJS on Fastify without rawBody": "body_parsed",
  });
});

/** An empty project with the frameworks and the packed library, as `npm install` makes it. */
async function openProject() {
  const shell = openShell(temporaryHome());
  const { cwd, home, run } = shell;
  const modules = join(cwd, "node_modules");
  mkdirSync(join(modules, "@types"), { recursive: true });
  for (const name of readdirSync(frameworks()).filter((one) => !/^\.|^@types$/.test(one)))
    symlinkSync(join(frameworks(), name), join(modules, name));
  for (const name of readdirSync(join(ROOT, "node_modules/@types")))
    symlinkSync(join(ROOT, "node_modules/@types", name), join(modules, "@types", name));
  const { filename } = await pack(shell, "paylink-webhooks");
  const unpacked = await run(`tar xzf ${filename} && mv package node_modules/paylink-webhooks`);
  expect(unpacked).toMatchObject({ code: 0 });
  return { cwd, home, run };
}

/** `failed` are the cases that the framework itself does not let pass. */
async function expectChecked(
  program: string,
  cwd: string,
  home: string,
  failed: readonly string[] = [],
): Promise<void> {
  const port = await freePort();
  const env = { ...process.env, PORT: port, PAYLINK_WEBHOOK_KEY: KEYS.publicPem };
  const server = spawn(process.execPath, [program], { cwd, env, stdio: ["ignore", "ignore", "inherit"] });
  onTestFinished(() => void server.kill());
  await vi.waitFor(() => once(connect(Number(port), "127.0.0.1"), "connect"), { timeout: 30_000 });
  writeFileSync(join(home, "private.pem"), KEYS.privatePem);
  const { stdout } = await runPaylink(
    [
      "check",
      `http://127.0.0.1:${port}/webhooks/paylink`,
      "--sign-with",
      join(home, "private.pem"),
      "--json",
    ],
    { home },
  );
  const { cases } = JSON.parse(stdout) as { cases: { name: string; ok: boolean }[] };
  expect(cases.filter(({ ok }) => !ok).map(({ name }) => name)).toEqual(failed);
}

it("has a receiver for Koa that passes paylink check", async () => {
  const { cwd, home } = await openProject();
  for (const file of ["koa.mjs", "orders.mjs"]) copyFileSync(join(RECEIVERS, file), join(cwd, file));
  await expectChecked("koa.mjs", cwd, home);
});

it("has a receiver for h3, Nitro and Nuxt that passes paylink check", async () => {
  const { cwd, home } = await openProject();
  mkdirSync(join(cwd, "server/routes/webhooks"), { recursive: true });
  mkdirSync(join(cwd, "server/utils"));
  copyFileSync(join(RECEIVERS, "h3.mjs"), join(cwd, "server/routes/webhooks/paylink.post.mjs"));
  copyFileSync(join(RECEIVERS, "orders.mjs"), join(cwd, "server/utils/orders.mjs"));
  writeFileSync(
    join(cwd, "h3.mjs"),
    `import { createServer } from "node:http";
import { createApp, createRouter, toNodeListener } from "h3";
import paylink from "./server/routes/webhooks/paylink.post.mjs";
const app = createApp();
app.use(createRouter().post("/webhooks/paylink", paylink));
createServer(toNodeListener(app)).listen(process.env.PORT);`,
  );
  await expectChecked("h3.mjs", cwd, home);
});

it("has a receiver for Elysia that passes paylink check on Node", async () => {
  const { cwd, home } = await openProject();
  for (const file of ["elysia.mjs", "orders.mjs"]) copyFileSync(join(RECEIVERS, file), join(cwd, file));
  writeFileSync(
    join(cwd, "shop.mjs"),
    `import { node } from "@elysiajs/node";
import { createApp } from "./elysia.mjs";
createApp({ key: process.env.PAYLINK_WEBHOOK_KEY }, { adapter: node() }).listen(Number(process.env.PORT));`,
  );
  await expectChecked("shop.mjs", cwd, home);
});

it(
  "has a receiver for Next.js that next build takes without a key, and that takes what the service signs",
  async () => {
    const { cwd, home, run } = await openProject();
    addPackages(cwd, "next", ["next@16", "react@19", "react-dom@19"]);
    const folder = join(cwd, "app/webhooks/paylink");
    mkdirSync(folder, { recursive: true });
    copyFileSync(join(RECEIVERS, "next.mjs"), join(folder, "route.js"));
    copyFileSync(join(RECEIVERS, "orders.mjs"), join(folder, "orders.mjs"));
    writeFileSync(
      join(cwd, "app/layout.js"),
      "export default ({ children }) => <html><body>{children}</body></html>;",
    );
    writeFileSync(join(cwd, "package.json"), '{"name": "shop", "private": true}');
    const build = withoutKey("node_modules/next/dist/bin/next build --webpack");
    expect(await run(`NEXT_TELEMETRY_DISABLED=1 ${build}`)).toMatchObject({ code: 0 });
    writeFileSync(
      join(cwd, "start.mjs"),
      `process.argv.push("start", "-p", process.env.PORT); await import("next/dist/bin/next");`,
    );
    // Next.js has the first of two lines of a media type alone, and an address that nothing proves.
    await expectChecked("start.mjs", cwd, home, ["derived", "derived-no-created", "content-type-duplicate"]);
  },
  BUILD_TIMEOUT,
);

/** Adds packages that are too many, or of other versions, to stand beside those of the other frameworks. */
function addPackages(cwd: string, name: string, packages: readonly string[]): void {
  const folder = installed(name, packages);
  for (const one of readdirSync(folder).filter((file) => !file.startsWith(".")))
    if (!existsSync(join(cwd, "node_modules", one)))
      symlinkSync(join(folder, one), join(cwd, "node_modules", one));
}

const withoutKey = (command: string): string => `env -u PAYLINK_WEBHOOK_KEY "${process.execPath}" ${command}`;

it(
  "has a receiver for SvelteKit that vite build takes without a key, and that takes what the service signs",
  async () => {
    const { cwd, home, run } = await openProject();
    addPackages(cwd, "sveltekit", [
      "@sveltejs/kit@2",
      "@sveltejs/adapter-node@5",
      "@sveltejs/vite-plugin-svelte@6",
      "svelte@5",
      "vite@7",
    ]);
    mkdirSync(join(cwd, "src/routes/webhooks/paylink"), { recursive: true });
    mkdirSync(join(cwd, "src/lib"));
    copyFileSync(join(RECEIVERS, "sveltekit.mjs"), join(cwd, "src/routes/webhooks/paylink/+server.js"));
    copyFileSync(join(RECEIVERS, "orders.mjs"), join(cwd, "src/lib/orders.mjs"));
    writeFileSync(join(cwd, "src/app.html"), "<body>%sveltekit.head%%sveltekit.body%</body>");
    writeFileSync(join(cwd, "package.json"), '{"name": "shop", "private": true, "type": "module"}');
    writeFileSync(
      join(cwd, "svelte.config.js"),
      'import adapter from "@sveltejs/adapter-node";\nexport default { kit: { adapter: adapter() } };',
    );
    writeFileSync(
      join(cwd, "vite.config.js"),
      'import { sveltekit } from "@sveltejs/kit/vite";\nexport default { plugins: [sveltekit()] };',
    );
    expect(await run(withoutKey("node_modules/vite/bin/vite.js build"))).toMatchObject({ code: 0 });
    // As with Next.js.
    await expectChecked("build/index.js", cwd, home, [
      "derived",
      "derived-no-created",
      "content-type-duplicate",
    ]);
  },
  BUILD_TIMEOUT,
);

it(
  "has a receiver for Nitro that nitropack build takes without a key, and that takes what the service signs",
  async () => {
    const { cwd, home, run } = await openProject();
    addPackages(cwd, "nitro", ["nitropack@2.12"]);
    mkdirSync(join(cwd, "server/routes/webhooks"), { recursive: true });
    mkdirSync(join(cwd, "server/utils"));
    copyFileSync(join(RECEIVERS, "h3.mjs"), join(cwd, "server/routes/webhooks/paylink.post.js"));
    copyFileSync(join(RECEIVERS, "orders.mjs"), join(cwd, "server/utils/orders.mjs"));
    writeFileSync(join(cwd, "package.json"), '{"name": "shop", "private": true}');
    writeFileSync(
      join(cwd, "nitro.config.mjs"),
      'export default { srcDir: "server", compatibilityDate: "2026-01-01" };',
    );
    expect(await run(withoutKey("node_modules/nitropack/dist/cli/index.mjs build"))).toMatchObject({
      code: 0,
    });
    await expectChecked(".output/server/index.mjs", cwd, home);
  },
  BUILD_TIMEOUT,
);

/** Of a new project of NestJS 11. */
const NEST_OPTIONS = {
  module: "nodenext",
  moduleResolution: "nodenext",
  esModuleInterop: true,
  isolatedModules: true,
  emitDecoratorMetadata: true,
  experimentalDecorators: true,
  target: "es2022",
  outDir: "dist",
  strictNullChecks: true,
  noImplicitAny: false,
  skipLibCheck: true,
};

it("has a receiver for NestJS that compiles in a new project, and passes paylink check", async () => {
  const { cwd, home, run } = await openProject();
  mkdirSync(join(cwd, "src"));
  copyFileSync(join(RECEIVERS, "nest.ts"), join(cwd, "src/paylink.controller.ts"));
  copyFileSync(join(RECEIVERS, "orders.mjs"), join(cwd, "src/orders.ts"));
  expect(readFileSync(join(RECEIVERS, "nest.ts"), "utf8")).toContain(
    "NestFactory.create(AppModule, { rawBody: true })",
  );
  writeFileSync(
    join(cwd, "src/main.ts"),
    `import "reflect-metadata";
import { Module } from "@nestjs/common";
import { NestFactory } from "@nestjs/core";
import { PaylinkController } from "./paylink.controller";
@Module({ controllers: [PaylinkController] })
class AppModule {}
async function bootstrap() {
  const app = await NestFactory.create(AppModule, { rawBody: true, logger: false });
  await app.listen(process.env.PORT ?? 3000);
}
void bootstrap();`,
  );
  writeFileSync(join(cwd, "package.json"), '{"name": "shop", "private": true}');
  writeFileSync(
    join(cwd, "tsconfig.json"),
    JSON.stringify({ compilerOptions: NEST_OPTIONS, include: ["src"] }),
  );
  const compiler = join(ROOT, "node_modules/typescript-5/bin/tsc");
  expect(await run(`"${process.execPath}" "${compiler}" -p .`)).toMatchObject({ code: 0, stdout: "" });
  await expectChecked("dist/main.js", cwd, home);
});
