/** What may have been signed before a proxy, a tunnel or a framework changed it: the address and two header fields. */
import { fieldLines, type HeaderLine, type HttpRequest } from "../../http/message.ts";
import type { ReceivedSignature } from "../received.ts";
import type { Hint } from "./hint.ts";

/** What may have been changed between the service and this machine. */
interface Variant extends Hint {
  /** Two variants of one kind are not combined. */
  readonly kind: string;
  /** The request as it may have been signed. */
  readonly changed: HttpRequest;
  readonly apply: (request: HttpRequest) => HttpRequest;
}

/** Each variant by itself, then each pair of different kinds. */
export function* combined(
  ...lists: readonly (readonly Variant[])[]
): Iterable<Hint & Pick<Variant, "changed">> {
  const variants = lists.flat();
  yield* variants;
  for (const [at, first] of variants.entries())
    for (const second of variants.slice(at + 1))
      if (first.kind !== second.kind)
        yield {
          variant: `${first.variant} + ${second.variant}`,
          advice: [...new Set([first.advice, second.advice])].join("\n"),
          changed: second.apply(first.changed),
        };
}

/** The addresses that the service may have posted to: each scheme with each authority and target, but for the received one. */
export function addressVariants(request: HttpRequest): Variant[] {
  const schemes: readonly HttpRequest["scheme"][] =
    request.scheme === "http" ? ["http", "https"] : ["https", "http"];
  const authorities = [request.authority, ...authoritiesOf(request)];
  const targets = [request.target, ...targetsOf(request)];
  return targets.flatMap((target) =>
    authorities.flatMap((authority) =>
      schemes.flatMap((scheme): Variant[] => {
        const changes = [
          ...(scheme === request.scheme ? [] : [`scheme=${scheme}`]),
          ...(authority === request.authority ? [] : [`authority=${authority}`]),
          ...(target === request.target ? [] : [`target=${target}`]),
        ];
        if (changes.length === 0) return [];
        const apply = (one: HttpRequest): HttpRequest => ({ ...one, scheme, authority, target });
        const url = `${scheme}://${authority}${target.split("?", 1)[0] ?? ""}`;
        return [
          {
            kind: "address",
            variant: changes.join(" + "),
            advice: `The signature is for ${scheme}://${authority}${target}: a proxy, tunnel or TLS terminator is in between. Give the address that the service posts to: --public-url ${url}`,
            changed: apply(request),
            apply,
          },
        ];
      }),
    ),
  );
}

/** Forwarding headers may suggest an address, since it must still verify (RFC 7239; X-Forwarded-*). */
function authoritiesOf({ headers, authority }: HttpRequest): string[] {
  const lines = (name: string): string[] =>
    fieldLines(headers, name).flatMap((line) => line.split(",").map((part) => part.trim()));
  const forwarded = lines("forwarded").flatMap(
    (line) => /(?:^|;)\s*host="?([^";,\s]+)/i.exec(line)?.[1] ?? [],
  );
  const named = [...lines("x-forwarded-host"), ...forwarded, ...lines("host")];
  const withoutPorts = named.map((host) => host.replace(/:\d+$/, ""));
  const guesses = [...named, ...withoutPorts].filter(
    (host) => /^[^/?#@\\\s,;]+$/.test(host) && host !== authority,
  );
  return [...new Set(guesses)].slice(0, MAX_GUESSES);
}

const MAX_GUESSES = 8;

/** With the prefix that a proxy says it stripped, and the path with or without its final slash. */
function targetsOf({ target, headers }: HttpRequest): string[] {
  const [path = "", ...rest] = target.split("?");
  const query = rest.length > 0 ? `?${rest.join("?")}` : "";
  const prefixed = fieldLines(headers, "x-forwarded-prefix").map(
    (prefix) => `${prefix.replace(/\/$/, "")}${target}`,
  );
  const slashed = `${path.endsWith("/") ? path.slice(0, -1) : `${path}/`}${query}`;
  const guesses = [...prefixed, slashed].filter((guess) => guess.startsWith("/") && guess !== target);
  return [...new Set(guesses)].slice(0, MAX_GUESSES);
}

const JSON_TYPES = [
  "application/json; charset=utf-8",
  "application/json;charset=utf-8",
  "application/json; charset=UTF-8",
  "application/json;charset=UTF-8",
  "application/json",
];

/** `length` is that of the body that was signed. */
export function fieldVariants(
  request: HttpRequest,
  { components }: ReceivedSignature,
  length: number,
): Variant[] {
  const keep = "Keep it unchanged, and verify the header as it arrived, not as a framework presents it.";
  const guesses: readonly (readonly [name: string, value: string, what: string])[] = [
    ...JSON_TYPES.map(
      (type) => ["content-type", type, "the charset was stripped, added or respelled"] as const,
    ),
    ["content-length", String(length), `the body that was signed has ${length} bytes`],
  ];
  return guesses.flatMap(([name, value, what]): Variant[] => {
    const lines = fieldLines(request.headers, name);
    if (!components.some((covered) => covered.name === name) || lines.join() === value) return [];
    const arrived = lines.length === 0 ? "none arrived" : `"${lines.join(", ")}" arrived`;
    const apply = (one: HttpRequest): HttpRequest => withField(one, name, value);
    const advice = `The signed ${name} is "${value}"; ${arrived}: ${what}. ${keep}`;
    return [{ kind: name, variant: `${name}=${value}`, advice, changed: apply(request), apply }];
  });
}

function withField(request: HttpRequest, name: string, value: string): HttpRequest {
  const kept = request.headers.filter(([spelled]) => spelled.toLowerCase() !== name);
  const line: HeaderLine = [name, value];
  return { ...request, headers: [...kept, line] };
}
