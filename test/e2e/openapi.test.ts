/** The OpenAPI document of the built program: a client generated from it works. */
import { execFile } from "node:child_process";
import { readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import openapiTS, { astToString } from "openapi-typescript";
import { expect, it } from "vitest";
import { OPERATION_NAMES, OPERATIONS } from "../../src/domain/operations.ts";
import { temporaryHome } from "../support/home.ts";
import { startSandbox } from "../support/paylink.ts";

const ROOT = resolve(import.meta.dirname, "../..");

/** Each line that expects an error is one that the generated types must refuse. */
const PROGRAM = `
import createClient from "openapi-fetch";
import type { components, paths, webhooks } from "./sandbox.ts";

const [baseUrl = "", client_id = "", client_secret = "", terminalId = ""] = process.argv.slice(2);

const anonymous = createClient<paths>({ baseUrl });
const token = await anonymous.POST("/oauth2/token", {
  headers: { "Content-Type": "application/x-www-form-urlencoded" },
  body: { grant_type: "client_credentials", scope: "pay_by_link", client_id, client_secret },
});
if (token.data === undefined) throw new Error(JSON.stringify(token.error));
const headers = { Authorization: "Bearer " + token.data.access_token };
const client = createClient<paths>({ baseUrl, headers });

type Link = components["schemas"]["PaymentLink"];
const request = { amount: 10.5, currency: "GBP", terminalId, customerName: "Ada Lovelace" };
const inHours = (hours: number): string => new Date(Date.now() + hours * 3_600_000).toISOString();
const expirationDate = inHours(1);
const created = await client.POST("/v1/payment-links", { body: { ...request, expirationDate } });
if (created.data === undefined) throw new Error(created.error?.message);
const link: Link = created.data;
const params = { path: { id: link.id } };

const period = { from: inHours(-1), to: inHours(1) };
const listed = await client.GET("/v1/payment-links", { params: { query: { terminalId, ...period, size: 5, status: "active" } } });
const shown = await client.GET("/v1/payment-links/{id}", { params });
const updated = await client.PATCH("/v1/payment-links/{id}", { params, body: { description: "Coffee", expirationDate: inHours(2) } });

const form = new URLSearchParams({ outcome: "approved" });
const paid = await fetch(link.url, { method: "POST", headers: { Accept: "application/json" }, body: form });
const { uti } = (await paid.json()) as { uti: string };
const read = await client.GET("/v1/transactions/{uti}", { params: { path: { uti } } });
const refused = await client.POST("/v1/payment-links/{id}/cancel", { params });
const keys = await client.GET("/.well-known/jwks.json");
const invalid = await client.POST("/v1/payment-links", { body: request });

const codeOf = (record: components["schemas"]["Transaction"]): string =>
  record.transApproved ? record.authorisationCode : "none";

type Failed = webhooks["paymentFailed"]["post"]["requestBody"]["content"]["application/json"];
export const responseOf = (record: Failed): string => (record.transCancelled ? "cancelled" : record.responseCode);

// @ts-expect-error A cancelled attempt has no response code.
export const codeOfFailed = (record: Failed): string => record.responseCode;
// @ts-expect-error An amount is a number.
export const textAmount = () => client.POST("/v1/payment-links", { body: { ...request, amount: "10.50" } });
// @ts-expect-error The terminal is mandatory.
export const allTerminals = () => client.GET("/v1/payment-links", { params: { query: period } });
// @ts-expect-error No link has this status.
export const isOpen = ({ status }: Link): boolean => status === "open";

console.log(
  JSON.stringify({
    amount: link.amount,
    status: link.status,
    viewedDate: link.viewedDate,
    listed: listed.data?.records.map(({ id }) => id === link.id),
    shown: shown.data?.id === link.id,
    updated: updated.data?.description,
    code: read.data && codeOf(read.data),
    refused: refused.error?.code,
    keys: keys.data?.keys.map(({ kty }) => kty),
    invalid: invalid.error?.errors?.map(({ pointer }) => pointer),
  }),
);
`;

const TSCONFIG = {
  compilerOptions: {
    target: "es2023",
    lib: ["es2023", "dom"],
    module: "preserve",
    moduleResolution: "bundler",
    types: ["node"],
    strict: true,
    noUncheckedIndexedAccess: true,
    exactOptionalPropertyTypes: true,
    allowImportingTsExtensions: true,
    rewriteRelativeImportExtensions: true,
    skipLibCheck: true,
    outDir: "out",
  },
  files: ["program.ts"],
};

it.each(OPERATION_NAMES)("is tried with the operation %s", (name) => {
  const { method, path } = OPERATIONS[name];
  expect(PROGRAM).toContain(`.${method}("${path}"`);
});

it("lets openapi-typescript make a client that type-checks and runs against the sandbox", async () => {
  const home = temporaryHome();
  const sandbox = await startSandbox(home);
  const served = await (await fetch(new URL("openapi.json", sandbox))).text();
  const folder = temporaryHome();
  const write = (name: string, text: string): void => writeFileSync(join(folder, name), text);
  write("sandbox.ts", astToString(await openapiTS(served)));
  write("program.ts", PROGRAM);
  write("tsconfig.json", JSON.stringify(TSCONFIG));
  write("package.json", '{"type": "module"}');
  symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"), "junction");

  const run = async (...args: readonly string[]) =>
    promisify(execFile)(process.execPath, args, { cwd: folder }).catch((error: unknown) => {
      throw new Error(error instanceof Error && "stdout" in error ? String(error.stdout) : "", {
        cause: error,
      });
    });
  await run(join(ROOT, "node_modules/typescript/lib/tsc.js"));
  const identity = JSON.parse(readFileSync(join(home, "data/sandbox/sandbox.json"), "utf8")) as {
    readonly clientId: string;
    readonly clientSecret: string;
    readonly terminalId: string;
  };
  const { clientId, clientSecret, terminalId } = identity;
  const { stdout } = await run(
    "out/program.js",
    sandbox.replace(/\/$/, ""),
    clientId,
    clientSecret,
    terminalId,
  );
  expect(JSON.parse(stdout)).toEqual({
    amount: 10.5,
    status: "active",
    viewedDate: null,
    listed: [true],
    shown: true,
    updated: "Coffee",
    code: "000001",
    refused: 422,
    keys: ["RSA"],
    invalid: ["#/expirationDate"],
  });
});
