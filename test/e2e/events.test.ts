/** `paylink events` with the real binary, beside a listener that writes to the same file. */
import { expect, it } from "vitest";
import { temporaryHome } from "../support/home.ts";
import { readyUrl, runPaylink, startPaylink } from "../support/paylink.ts";

it("lists the utis alone where a script asks for them, and replays all to who keeps them in the same file", async () => {
  const home = temporaryHome();
  await readyUrl(startPaylink(["sandbox", "--port", "0", "--json"], { home }));
  const listener = startPaylink(["listen", "--port", "0", "--json"], { home });
  const url = await readyUrl(listener);
  const sent = await runPaylink(["trigger", "approved", "--to", url, "--count", "3", "--json"], { home });
  const utis = sent.stdout
    .trim()
    .split("\n")
    .map((line) => (JSON.parse(line) as { uti: string }).uti);
  expect((await runPaylink(["events", "list", "-q"], { home })).stdout).toBe(`${utis.join("\n")}\n`);
  const replayed = await runPaylink(["events", "replay", "--all", "--to", url], { home });
  expect(replayed).toMatchObject({ code: 0, stderr: `3 replayed to ${url}\n` });
  const { stdout } = await listener.stop();
  expect(stdout.match(/"repeated":true/g)).toHaveLength(3);
});
