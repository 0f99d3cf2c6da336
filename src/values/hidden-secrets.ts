/** The text of a message without its secrets: members of JSON, parameters of forms and queries, passwords in URLs. All else stays as it is spelled. */
import { jsonOf } from "./json.ts";
import { isSecretName, REDACTED } from "./secrets.ts";
import { decodedPart, withoutPassword } from "./url-passwords.ts";

/** Of what is secret under any name, the caller knows more. The text may be cut off, or only look like JSON. */
export function withoutSecrets(text: string): string {
  return withoutSecretMembers(text)
    .replace(QUOTED_URL, (quoted: string) => {
      const url = unquoted(quoted);
      const shown = withoutPassword(url);
      return shown === url ? quoted : JSON.stringify(shown);
    })
    .replace(PARAMETER, (parameter: string, before: string, name: string, value: string) => {
      if (value !== "" && isSecretMember(decodedPart(name) ?? name)) return `${before}${name}=${REDACTED}`;
      const url = decodedPart(value) ?? value;
      const shown = withoutPassword(url);
      return shown === url ? parameter : `${before}${name}=${shown}`;
    });
}

/** A member whose name ends in "key" is secret too. A header field need not be: `Idempotency-Key` is no secret. */
const isSecretMember = (name: string): boolean => isSecretName(name) || /key$/i.test(name);

const NAME = /"([^"\\]*(?:\\.[^"\\]*)*)"\s*:\s*/g;
/** A string, of which the end may be missing; a bracket; another value; what stands between them. */
const VALUE_PART = /"[^"\\]*(?:\\.[^"\\]*)*"?|[[{]|[\]}]|[^\s"[\]{},:]+|[\s,:]+|"/y;
const QUOTED_URL = /"[^"\\\s]*(?:\\.[^"\\\s]*)*:\\?\/\\?\/[^"\\]*(?:\\.[^"\\]*)*"/g;
/** A quote belongs to the value, unless it ends a string of JSON. */
const PARAMETER = /(^|[?&])([^?&=\s"]+)=([^&\s"]*(?:"(?![\s,:}\]]|$)[^&\s"]*)*)/g;

function withoutSecretMembers(text: string): string {
  let shown = "";
  let end = 0;
  for (const { 0: member, 1: name = "", index } of text.matchAll(NAME)) {
    const start = index + member.length;
    if (index < end || !isSecretMember(unquoted(`"${name}"`))) continue;
    const next = valueEnd(text, start);
    const value = text.slice(start, next);
    shown += text.slice(end, start) + (value === '""' || value === "null" ? value : `"${REDACTED}"`);
    end = next;
  }
  return shown + text.slice(end);
}

/** Where the value ends that begins at `start`: for a list or an object, where that is closed. */
function valueEnd(text: string, start: number): number {
  VALUE_PART.lastIndex = start;
  let depth = 0;
  do {
    const [token] = VALUE_PART.exec(text) ?? [];
    if (token === undefined) return text.length;
    if (/^[[{]/.test(token)) depth += 1;
    if (/^[\]}]/.test(token)) depth -= 1;
    start += token.length;
  } while (depth > 0);
  return start;
}

function unquoted(quoted: string): string {
  const text = jsonOf(quoted);
  return typeof text === "string" ? text : quoted.slice(1, -1);
}
