/** `paylink pay` with the real binary: what came of the payment, and what it says where nothing, or perhaps something, did. */
import { expect, it } from "vitest";
import { temporaryHome } from "../support/home.ts";
import { freePort } from "../support/ports.ts";
import { readyUrl, runPaylink, startPaylink } from "../support/paylink.ts";
import { rawServer } from "../support/raw-server.ts";

const SANDBOX = ["sandbox", "--port", "0", "--json"];

it("prints the uti alone where a script asks for it, by which the transaction is read", async () => {
  const home = temporaryHome();
  await readyUrl(startPaylink(SANDBOX, { home }));
  const link = (await runPaylink(["create", "--reusable", "-q"], { home })).stdout.trim();
  const { code, stdout } = await runPaylink(["pay", link, "--amount", "7.50", "--quiet"], { home });
  expect(code).toBe(0);
  expect(stdout).toMatch(/^[0-9a-f-]{36}\n$/);
  const read = await runPaylink(["transaction", stdout.trim(), "--json"], { home });
  expect(JSON.parse(read.stdout)).toMatchObject({ amountTrans: 7.5, uti: stdout.trim() });
});

it("says that nothing was paid where the sandbox refuses, and where none answers", async () => {
  const home = temporaryHome();
  await readyUrl(startPaylink(SANDBOX, { home }));
  const create = ["create", "--amount", "10", "--currency", "EUR", "-q"];
  const link = (await runPaylink(create, { home })).stdout.trim();
  expect((await runPaylink(["pay", link], { home })).code).toBe(0);
  const again = await runPaylink(["pay", link], { home });
  expect(again).toMatchObject({ code: 4, stdout: "" });
  expect(again.stderr).toContain("Nothing was paid");
  const nowhere = await runPaylink(["pay", `http://127.0.0.1:${await freePort()}/pay?r=x`], { home });
  expect(nowhere.code).toBe(5);
  expect(nowhere.stderr).toContain("Nothing was paid");
});

it("says that the link may be paid where the answer is lost", async () => {
  const { url } = await rawServer((socket) => socket.destroy());
  const { code, stderr } = await runPaylink(["pay", `${url}/pay?r=x`], { home: temporaryHome() });
  expect(code).toBe(6);
  expect(stderr).toContain("may be paid");
});
