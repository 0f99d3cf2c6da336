/** `listen` against a signer that shares no code with it: what it signs is accepted, whatever it covers. */
import { expect, it } from "vitest";
import { temporaryHome } from "../support/home.ts";
import { readyUrl, startPaylink } from "../support/paylink.ts";
import { post } from "../support/post.ts";
import { COVERS, signedWebhook } from "../support/signed-webhook.ts";
import { keyFile } from "../support/keys.ts";

it.each(COVERS.map((fields) => [fields]))("is accepted, and again as a repeat: %j", async (fields) => {
  const home = temporaryHome();
  const listen = startPaylink(["listen", "--port", "0", "--json", "--key", keyFile(home)], { home });
  const url = await readyUrl(listen);
  const { headers, body } = await signedWebhook({ url, fields });
  expect(await post(url, headers, body)).toEqual({ status: 200, body: "" });
  expect(await post(url, headers, body)).toEqual({ status: 200, body: "" });
  const [lines] = await listen.until(/(?:\{"type":"event".*\n){2}/);
  const [first, second] = lines
    .trim()
    .split("\n")
    .map((line): unknown => JSON.parse(line));
  expect(first).toMatchObject({
    repeated: false,
    verdict: { verdict: "valid", keyid: "service-key" },
    violations: [],
  });
  expect(second).toMatchObject({
    repeated: true,
    verdict: { warnings: expect.arrayContaining(["duplicate_delivery"]) },
  });
});
