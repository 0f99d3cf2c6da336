/** The inspector in process, with a browser that is let in. */
import { createInspector, type EventSending, type InspectorParts } from "../../src/inspector/server.ts";
import { createPageAccess } from "../../src/pages/access.ts";
import type { EventStore } from "../../src/store/event-store.ts";
import { AT, KEYS } from "./stored-events.ts";

export const SESSION = "s".repeat(32);
export const COOKIE = { Cookie: `paylink-inspect-4020=${SESSION}` };
export const HOST = "paylink-0123456789ab.localhost";
export const PAGES = `http://${HOST}:4020`;
export const SAME_PAGE = { ...COOKIE, Origin: PAGES };
export const NOWHERE: EventSending = {
  target: "",
  signs: false,
  send: async () => "must be a port",
};
export const NOW = new Date(AT.getTime() + 60_000);

export type Headers = Readonly<Record<string, string>>;

export function openInspector(store: EventStore, parts: Partial<InspectorParts> = {}) {
  const observed: string[] = [];
  const printed: string[] = [];
  let keys = 0;
  const access = createPageAccess({
    name: "paylink-inspect",
    host: HOST,
    isShared: () => false,
    session: SESSION,
    newKey: () => `key-${++keys}`,
    used: (origin) => void printed.push(access.newAddress(origin)),
  });
  printed.push(access.newAddress("http://127.0.0.1:4020/"));
  const handler = createInspector({
    store,
    profile: "shop",
    named: {},
    access,
    now: () => NOW,
    advice: "paylink trigger approved",
    verifyNow: async () => undefined,
    keys: async () => KEYS,
    sending: NOWHERE,
    observe: (action, what) => void observed.push(`${action} ${what}`),
    ...parts,
  });
  const request = async (
    method: string,
    target: string,
    {
      headers = COOKIE,
      body = "",
      authority = `${HOST}:4020`,
    }: { headers?: Headers; body?: string; authority?: string } = {},
  ) => {
    const reply = await handler({
      method,
      scheme: "http",
      authority,
      target,
      headers: Object.entries(headers),
      body: new TextEncoder().encode(body),
    });
    const header = (name: string) => reply.headers.find(([spelled]) => spelled.toLowerCase() === name)?.[1];
    return { status: reply.status, header, text: Buffer.from(reply.body).toString() };
  };
  const get = async (target: string): Promise<string> => (await request("GET", target)).text;
  const post = (target: string, body = "back=/") => request("POST", target, { headers: SAME_PAGE, body });
  return { request, get, post, printed, observed };
}

/** The words of a page, without its tags. */
export const wordsOf = (page: string): string => page.replaceAll(/<[^>]*>/g, " ").replaceAll(/\s+/g, " ");
