/** The folders of paylink's files, as PAYLINK_HOME names them. */
import { expect, it } from "vitest";
import { PaylinkError } from "../../src/domain/errors.ts";
import { folders } from "../../src/store/folders.ts";

const problemOf = (home: string): Promise<string> =>
  folders(home).then(
    ({ config }) => `uses ${config}`,
    (error: unknown) => (error instanceof PaylinkError ? (error.problems[0]?.message ?? "") : String(error)),
  );

it.each([
  "~",
  "~/paylink",
  "~shop/paylink",
  "$HOME/paylink",
  "/home/$USER/paylink",
  "${HOME}/paylink",
  "$(pwd)/paylink",
  "%USERPROFILE%\\paylink",
  '"/var/lib/paylink"',
  "'/var/lib/paylink'",
  "<home>",
  "/srv/{{ name }}",
])(
  "refuse what nothing has filled in, instead of a folder of this name in the current one: %s",
  async (home) => {
    expect(await problemOf(home)).toBe(
      `must be a folder, with ~ and variables filled in and without quotes (got "${home}")`,
    );
  },
);

it.each([
  "/var/lib/paylink",
  "/home/o'brien/a ~ b",
  "C:\\Users\\Ada~1\\paylink",
  "\\\\server\\share$\\paylink",
  "paylink",
])("are those of a folder that can be meant: %s", async (home) => {
  expect(await problemOf(` ${home}\n`)).toBe(`uses ${home}`);
});
