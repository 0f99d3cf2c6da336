/** The life of links in the sandbox, through the built program: each status is seen, and what it forbids is refused. */
import { expect, it } from "vitest";
import { LINK_STATUSES } from "../../src/domain/payment-link-reply.ts";
import { temporaryHome } from "../support/home.ts";
import { jsonLines } from "../support/json-lines.ts";
import { runPaylink, startSandbox } from "../support/paylink.ts";

it("lists, shows, updates and cancels links in every status", async () => {
  const home = temporaryHome();
  await startSandbox(home);
  const run = async (...args: string[]) => {
    const { code, stdout, stderr } = await runPaylink(args, { home });
    return { code, stdout: stdout.trim(), stderr };
  };
  const create = async (): Promise<string> =>
    (await run("create", "--amount", "10", "--currency", "EUR", "-q")).stdout;
  const show = async (url: string): Promise<Record<string, unknown>> =>
    JSON.parse((await run("links", "show", url, "--json")).stdout) as Record<string, unknown>;
  const [first, second] = [await create(), await create()];
  expect(await show(first)).toMatchObject({ status: "active", viewedDate: null });

  await fetch(first);
  expect(await show(first)).toMatchObject({ status: "viewed", viewedDate: expect.any(String) });
  const updated = await run("links", "update", first, "--description", "Order 1042", "--expires", "14d");
  expect(updated.code).toBe(0);
  expect(updated.stdout).toMatch(/description +Order 1042\n[^]*expires +.*\(in 14 days\)/);

  await run("pay", first, "--outcome", "declined");
  expect(await show(first)).toMatchObject({ status: "attempted", attemptedDate: expect.any(String) });
  const late = await run("links", "update", first, "--description", "Order 1043");
  expect(late.code).toBe(4);
  expect(late.stderr).toContain("Nothing was changed.");

  await run("pay", first);
  expect(await show(first)).toMatchObject({ status: "paid", paidDate: expect.any(String) });
  expect((await run("links", "cancel", first, "--yes")).code).toBe(4);
  expect((await run("links", "cancel", second, "-y")).stdout).toMatch(/cancelled$/);
  expect(await show(second)).toMatchObject({ status: "cancelled", cancelledDate: expect.any(String) });

  const listed = jsonLines((await run("links", "list", "--json")).stdout);
  expect(listed).toHaveLength(2);
  expect(new Set(listed.map(({ status }) => status))).toEqual(new Set(["cancelled", "paid"]));
  expect((await run("links", "list", "--status", "paid", "-q")).stdout).toBe(first);
});

it("completes the subcommands, and every status that a link can have", async () => {
  const home = temporaryHome();
  const suggested = async (...words: string[]): Promise<string[]> => {
    const { stdout } = await runPaylink(["complete", "--", "links", ...words], { home });
    return stdout.split("\n").map((line) => line.split("\t", 1).join());
  };
  expect(await suggested("")).toEqual(expect.arrayContaining(["list", "show", "update", "cancel"]));
  expect(await suggested("list", "--status", "")).toEqual(expect.arrayContaining([...LINK_STATUSES]));
});
