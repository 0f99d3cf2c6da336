/** Who gets into the pages, in a real browser: a key that works once, a cookie that no other port receives, and the file that leads there. */
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { hasBrowser, useBrowser } from "../support/browser.ts";
import { temporaryHome } from "../support/home.ts";
import { startPaylink } from "../support/paylink.ts";
import { listenOnFreePort } from "../support/ports.ts";
import { CTRL_C, openScreen } from "../support/screen.ts";

/** The addresses that it prints, one after the other. */
const PAGES = {
  inspect: {
    type: "ready",
    first: "Waiting for the first webhook",
    refusal: "Open the last address that paylink inspect printed",
  },
  sandbox: {
    type: "dashboard",
    first: "Take a payment in three steps",
    refusal: "opens at the last address that paylink sandbox printed",
  },
} as const;

async function start(command: keyof typeof PAGES, ...flags: readonly string[]) {
  const running = startPaylink([command, "--port", "0", "--json", ...flags], { home: temporaryHome() });
  const line = `[^]*?"type":"${PAGES[command].type}",[^\\n]*"url":"([^"]+)"`;
  /** The address in this place, counted from 1. */
  return async (place: number): Promise<string> => {
    const found = await running.until(new RegExp(line.repeat(place)));
    return found[place] ?? "";
  };
}

describe.skipIf(!hasBrowser).each(["inspect", "sandbox"] as const)("the pages of paylink %s", (command) => {
  const openPage = useBrowser();
  const { first, refusal } = PAGES[command];

  it("open once with each printed address, in every tab of that browser and in no other browser", async () => {
    const printed = await start(command);
    const one = await openPage();
    const address = await printed(1);
    expect(new URL(address).hostname).toMatch(/^paylink-[0-9a-f]{12}\.localhost$/);
    await one.goto(address);
    await one.getByText(first).waitFor();
    expect(new URL(one.url()).searchParams.has("key")).toBe(false);
    const tab = await one.context().newPage();
    await tab.goto(new URL("/", address).href);
    await tab.getByText(first).waitFor();
    // A reload of the printed address in the same browser uses up nothing.
    await tab.goto(await printed(2));
    await tab.getByText(first).waitFor();

    const other = await openPage();
    const bookmark = new URL("/", address).href;
    for (const dead of [address, bookmark]) {
      await other.goto(dead);
      expect(await other.textContent("body")).toContain(refusal);
    }
    await other.goto(await printed(2));
    await other.getByText(first).waitFor();
  });

  /** The Cookie headers that a server on another port of this machine gets from the browser that has the pages open. */
  async function cookiesElsewhere(...flags: readonly string[]): Promise<string> {
    const received: string[] = [];
    const spy = createServer((request, reply) => {
      received.push(request.headers.cookie ?? "");
      // A redirect is all that it takes to make a browser ask another port.
      if (request.url === "/leads") reply.writeHead(302, { Location: "/here" });
      reply.end("spy");
    });
    const port = await listenOnFreePort(spy);
    const printed = await start(command, ...flags);
    const page = await openPage();
    await page.goto(await printed(1));
    await page.getByText(first).waitFor();
    for (const host of ["127.0.0.1", "localhost", "other.localhost"])
      await page.goto(`http://${host}:${port}/leads`);
    expect(received).toHaveLength(6);
    return received.join("");
  }

  it("have a cookie that is sent to no other port of this machine", async () => {
    expect(await cookiesElsewhere()).toBe("");
  });

  it("have a cookie that is sent to other ports with --plain-host, as its help says", async () => {
    expect(await cookiesElsewhere("--plain-host")).toContain(`paylink-${command}-`);
  });
});

describe.skipIf(!hasBrowser || process.platform !== "linux")("the program that opens web pages", () => {
  const openPage = useBrowser();

  it("gets no key in its arguments, but a file that only its user can read and that leads to the page", async () => {
    const home = temporaryHome();
    const bin = join(home, "bin");
    mkdirSync(bin);
    const opener = `#!/bin/sh\nprintf '%s\\n' "$@" > "${home}/part" && mv "${home}/part" "${home}/opened"\n`;
    writeFileSync(join(bin, "xdg-open"), opener, { mode: 0o755 });
    const screen = openScreen(["inspect", "--port", "0"], {
      home,
      env: { PATH: `${bin}:/usr/bin:/bin` },
      columns: 200,
    });
    const [, printed = ""] = await screen.until(/paylink inspect on (\S+\?key=\S+)/);
    await expect.poll(() => existsSync(join(home, "opened"))).toBe(true);
    const file = readFileSync(join(home, "opened"), "utf8").trim();
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readFileSync(file, "utf8")).not.toContain(new URL(printed).searchParams.get("key"));
    const page = await openPage();
    await page.goto(pathToFileURL(file).href);
    await page.getByText("Waiting for the first webhook").waitFor();
    // The printed address is still for another browser.
    const other = await openPage();
    await other.goto(printed);
    await other.getByText("Waiting for the first webhook").waitFor();
    screen.type(CTRL_C);
    await screen.ended;
    expect(existsSync(file)).toBe(false);
  });
});
