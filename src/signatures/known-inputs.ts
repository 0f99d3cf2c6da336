/**
 * The Signature-Input of senders whose signatures verified. One that differs from it in its time and its nonce alone has the
 * same structure, and is not parsed again: a third of the time of a verification without RSA (verify bench).
 */
import { isInnerList, type BareItem, type InnerList } from "structured-headers";
import { LABEL } from "./policy.ts";
import type { RawDictionary } from "./structured.ts";

interface KnownInput {
  /** Matches every such text; its groups are the values that differ. */
  readonly pattern: RegExp;
  readonly list: InnerList;
  /** Number of parameters, as in `RawMember`. */
  readonly parameters: number;
}

/** Forms of Signature-Input that are kept: a service has one or two. */
const MAX_KNOWN = 8;

const known: KnownInput[] = [];

/** What differs between two messages of a sender: an Integer (RFC 8941 3.3.1) and a String without escapes (3.3.3). */
const VARYING = {
  created: { pattern: "(?<created>0|[1-9]\\d{0,14})", read: Number },
  nonce: { pattern: '"(?<nonce>[ !#-[\\]-~]*)"', read: String },
} as const satisfies Record<string, { pattern: string; read: (text: string) => BareItem }>;

/** The field as it would be parsed; undefined if it is not known. */
export function recallInput(text: string): RawDictionary | undefined {
  for (const { pattern, list, parameters } of known) {
    const values = pattern.exec(text);
    if (values === null) continue;
    const [items, own] = list;
    const changed = new Map(own);
    for (const [name, { read }] of Object.entries(VARYING)) {
      const value = values.groups?.[name];
      if (value !== undefined) changed.set(name, read(value));
    }
    const member = { key: LABEL, text: text.slice(LABEL.length + 1), parameters };
    return { members: [member], parsed: new Map([[LABEL, [items, changed]]]) };
  }
  return undefined;
}

/** Only for a signature that verified: nobody else can fill the list. `params` is the canonical form of its member. */
export function rememberInput({ members, parsed }: RawDictionary, params: string): void {
  const [member, ...others] = members;
  const list = parsed.get(LABEL);
  if (member === undefined || others.length > 0 || member.text !== params) return;
  if (list === undefined || !isInnerList(list)) return;
  const text = `${LABEL}=${params}`;
  // What ends at a time of its own is another text each time.
  if (list[1].has("expires") || known.some(({ pattern }) => pattern.test(text))) return;
  let source = escaped(text);
  for (const [name, { pattern }] of Object.entries(VARYING)) {
    const value = list[1].get(name);
    if (value === undefined) continue;
    const written = escaped(`;${name}=${typeof value === "string" ? `"${value}"` : String(value)}`);
    const parts = source.split(written);
    // Where another string holds the same text, nobody can tell which one is the parameter.
    if (parts.length !== 2) return;
    source = parts.join(`;${name}=${pattern}`);
  }
  known.unshift({ pattern: new RegExp(`^${source}$`), list, parameters: member.parameters });
  known.length = Math.min(known.length, MAX_KNOWN);
}

const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
