/** What a command has opened is closed at its end, and a failure of that does not hide what the command says. */
import { expect, it } from "vitest";
import { runCommand } from "../support/context.ts";

const closing = (): never => {
  throw new Error("the store cannot be closed");
};

it("is a failure of a command that succeeds", async () => {
  const { exit, stdout, stderr } = await runCommand(["version"], { closing });
  expect(stdout).toBe("0.0.0\n");
  expect(stderr).toContain("the store cannot be closed");
  expect(exit).toBe(1);
});

it("is a warning beside the failure of a command", async () => {
  const { exit, stderr } = await runCommand(["help", "nonsense"], { closing });
  expect(stderr).toMatch(/^! the store cannot be closed\n✗ Unknown command 'nonsense'/);
  expect(exit).toBe(2);
});
