/** Flags that cancel each other are refused, and so are names that no profile can have. */
import { expect, it } from "vitest";
import { runCommand } from "../support/context.ts";

it.each([
  ["create --dry-run --curl", "--dry-run  cannot be used with --curl"],
  ["create --dry-run --wait", "--dry-run  cannot be used with --wait"],
  ["create --curl --open", "--curl  cannot be used with --open"],
  ["create --qr --json", "--qr  cannot be used with --json"],
  ["create --quiet --json", "--quiet  cannot be used with --json"],
  ["events list -q --json", "--quiet  cannot be used with --json"],
  ["listen --no-verify --no-store --db x.db", "--no-store  cannot be used with --db"],
  ["verify --db x.db --key k.pem", "--db  has no effect without --event"],
  ["login --token-stdin --client-secret-stdin", "--token-stdin  cannot be used with --client-secret-stdin"],
  ["login --token-stdin --client-id x", "--token-stdin  cannot be used with --client-id"],
])("%s", async (typed, refusal) => {
  const { exit, stdout, stderr } = await runCommand(typed.split(" "));
  expect({ exit, stdout }).toEqual({ exit: 2, stdout: "" });
  const text = typed.endsWith("--json") ? problemsIn(stderr) : stderr.replace(/ {2,}/g, "  ");
  expect(text).toContain(refusal);
});

const problemsIn = (stderr: string): string => {
  const { error } = JSON.parse(stderr) as {
    error: { details: { problems: { at: string; message: string }[] } };
  };
  return error.details.problems.map(({ at, message }) => `${at}  ${message}`).join("\n");
};

it.each(["bad name/../x", "a b", "ä", "a\u001b[31m"])("no profile is called %j", async (name) => {
  const login = ["login", "--base-url", "https://pay.example", "--terminal-id", "1", "--token-stdin"];
  for (const [args, env, at] of [
    [["-p", name, "status"], {}, "--profile"],
    [["-p", name, ...login], {}, "--profile"],
    [["config", "set", "currency", "EUR"], { PAYLINK_PROFILE: name }, "PAYLINK_PROFILE"],
  ] as const) {
    const { exit, stderr } = await runCommand(args, { env, stdin: "token" });
    expect(exit).toBe(2);
    expect(stderr).toContain(`${at}  must consist of letters, digits, dots, underscores and hyphens`);
  }
});
