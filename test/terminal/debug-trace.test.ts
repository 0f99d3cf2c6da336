/** The messages of `--debug`: credentials are recognised by their names, wherever a service wants them. */
import { describe, expect, it } from "vitest";
import { type ProxySettings, proxiesOf } from "../../src/http/proxies.ts";
import { createSecrets, renderRequest, traceSend } from "../../src/terminal/debug-trace.ts";

const SECRET = "s3cret-value";

const rendered = (headers: readonly (readonly [string, string])[], body = "", type = "application/json") =>
  renderRequest(
    {
      method: "POST",
      scheme: "https",
      authority: "service.example",
      target: "/",
      headers: [...headers, ["Content-Type", type]],
      body: new TextEncoder().encode(body),
    },
    "→",
  );

describe("a shown request", () => {
  it.each([
    [
      '{"cardPan":"4111111111111111","note":"5555 5555 5555 4444"}',
      '{"cardPan":"************1111","note":"**** **** **** 4444"}',
    ],
    // Without the check digit of a card number.
    ['{"cardPan" : 4111111111111112}', '{"cardPan" : ************1112}'],
    ['{"cardPan":"476173******0119"}', '{"cardPan":"476173******0119"}'],
  ])("masks card numbers: %s", (body, shown) => {
    expect(rendered([], body)).toContain(shown);
  });

  it.each([
    "X-API-Key",
    "Ocp-Apim-Subscription-Key",
    "X-Auth-Token",
    "X-Shop-Auth",
    "Cookie",
    "Client_Secret",
  ])("hides the header %s", (name) => {
    const text = rendered([[name, SECRET]]);
    expect(text).toContain(`${name}: [redacted]`);
    expect(text).not.toContain(SECRET);
  });

  it.each(["Signature-Input", "X-Terminal"])("shows the header %s", (name) => {
    expect(rendered([[name, SECRET]])).toContain(`${name}: ${SECRET}`);
  });

  it.each([
    [`{"client_id":"shop","client_secret":"${SECRET}"}`, "application/json"],
    [`{"accessToken":"${SECRET}"}`, "application/json"],
    [`client_id=shop&client_secret=${SECRET}&api_key=${SECRET}`, "application/x-www-form-urlencoded"],
  ])("hides the credentials in %s", (body, type) => {
    const text = rendered([], body, type);
    expect(text).toContain("[redacted]");
    expect(text).not.toContain(SECRET);
  });
});

/** Shows a GET of this address. */
async function shownOf(url: string, times: number[], proxies: ProxySettings): Promise<string[]> {
  const shown: string[] = [];
  const trace = {
    secrets: createSecrets(),
    timers: { elapsed: () => times.shift() ?? 0 },
    proxies,
    show: (text: string) => void shown.push(text),
  };
  const { protocol, host, pathname } = new URL(url);
  const request = {
    method: "GET",
    scheme: protocol === "https:" ? "https" : "http",
    authority: host,
  } as const;
  const send = traceSend(async () => ({ status: 204, headers: [], body: new Uint8Array() }), trace);
  await send({ ...request, target: pathname, headers: [], body: new Uint8Array() });
  return shown;
}

it("shows how long an exchange took in whole milliseconds, as the monotonic clock has fractions", async () => {
  const shown = await shownOf("https://a.example/", [1_000.25, 1_064.073_180_999_999_98], proxiesOf({}));
  expect(shown[1]).toBe("← 204  (64 ms)");
});

it("shows the proxy that carries a request, without its password", async () => {
  const proxies = proxiesOf({ HTTPS_PROXY: `http://me:${SECRET}@proxy.corp:3128`, NO_PROXY: "b.example" });
  const shown = async (url: string): Promise<string> => (await shownOf(url, [], proxies)).join("\n");
  expect(await shown("https://a.example/")).toMatch(
    /\n {2}through the proxy http:\/\/.*@proxy\.corp:3128\n← 204/,
  );
  expect(await shown("https://a.example/")).not.toContain(SECRET);
  for (const url of ["https://b.example/", "http://a.example/", "https://localhost/"])
    expect(await shown(url)).not.toContain("proxy");
});
