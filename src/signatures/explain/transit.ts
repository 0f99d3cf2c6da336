/** What may have been signed before a proxy, a tunnel or a framework changed it: the address and two header fields. */
import { fieldLines, type HeaderLine, type HttpRequest } from "../../http/message.ts";
import type { ReceivedSignature } from "../received.ts";

/** What explains a failure. It is never accepted. */
export interface Diagnosis {
  /** What is different, such as `scheme=http`. */
  readonly variant: string;
  /** What to do about it. */
  readonly advice: string;
}

interface Variant extends Diagnosis {
  /** What of the request it replaces. */
  readonly replaces: "address" | "content-type" | "content-length" | "content-digest";
  /** Makes the request as it may have been signed. */
  readonly apply: (request: HttpRequest) => HttpRequest;
}

/** Each variant by itself, then each pair of those that replace different parts. */
export function* combined(variants: readonly Variant[]): Iterable<Diagnosis & Pick<Variant, "apply">> {
  yield* variants;
  for (const [at, first] of variants.entries())
    for (const second of variants.slice(at + 1).filter(({ replaces }) => replaces !== first.replaces))
      yield {
        variant: `${first.variant} + ${second.variant}`,
        advice: [...new Set([first.advice, second.advice])].join("\n"),
        apply: (request) => second.apply(first.apply(request)),
      };
}

const ADDRESS_PARTS = ["scheme", "authority", "target"] as const;

/** The addresses that the service may have posted to: each scheme with each authority and target. */
export function addressVariants(request: HttpRequest): Variant[] {
  const schemes: readonly HttpRequest["scheme"][] =
    request.scheme === "http" ? ["http", "https"] : ["https", "http"];
  const authorities = [request.authority, ...possibleAuthorities(request)];
  const addresses = [request.target, ...possibleTargets(request)].flatMap((target) =>
    authorities.flatMap((authority) => schemes.map((scheme) => ({ scheme, authority, target }))),
  );
  // The first one is as received.
  const [, ...others] = addresses;
  return others.map((address) => {
    const changed = ADDRESS_PARTS.filter((part) => address[part] !== request[part]);
    const { scheme, authority, target } = address;
    const url = `${scheme}://${authority}${target.split("?", 1)[0] ?? ""}`;
    return {
      replaces: "address",
      variant: changed.map((part) => `${part}=${address[part]}`).join(" + "),
      advice: `The signature is for ${scheme}://${authority}${target}: a proxy, tunnel or TLS terminator changed the address on the way. Name the address that the service posts to: --public-url ${url}`,
      apply: (one) => ({ ...one, ...address }),
    };
  });
}

/** Forwarding headers may suggest an address, since it must still verify (RFC 7239; X-Forwarded-*). */
function possibleAuthorities({ headers, authority }: HttpRequest): string[] {
  const lines = (name: string): string[] =>
    fieldLines(headers, name).flatMap((line) => line.split(",").map((part) => part.trim()));
  const forwarded = lines("forwarded").flatMap(
    (line) => /(?:^|;)\s*host="?([^";,\s]+)/i.exec(line)?.[1] ?? [],
  );
  const named = [
    ...lines("x-forwarded-host"),
    ...lines("x-original-host"),
    ...forwarded,
    ...lines("host"),
    authority,
  ];
  const hosts = [...new Set(named)].filter((host) => /^[^/?#@\\\s,;]+$/.test(host)).slice(0, MAX_GUESSES);
  // A proxy may name the port that the service posted to beside the host.
  const ports = lines("x-forwarded-port").filter((port) => /^\d{1,5}$/.test(port));
  const withPorts = ports
    .slice(0, 2)
    .flatMap((port) => hosts.map((host) => `${host.replace(/:\d+$/, "")}:${port}`));
  return [...new Set([...hosts, ...withPorts])].filter((host) => host !== authority);
}

const MAX_GUESSES = 4;

/** With the prefix that a proxy says it stripped, and the path with or without its final slash. */
function possibleTargets({ target, headers }: HttpRequest): string[] {
  const [path = "", ...rest] = target.split("?");
  const query = rest.length > 0 ? `?${rest.join("?")}` : "";
  const prefixed = fieldLines(headers, "x-forwarded-prefix").map(
    (prefix) => `${prefix.replace(/\/$/, "")}${target}`,
  );
  const slashed = `${path.endsWith("/") ? path.slice(0, -1) : `${path}/`}${query}`;
  return [...prefixed, slashed].filter((guess) => guess.startsWith("/")).slice(0, MAX_GUESSES);
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
  const keep = "Keep the header unchanged, and verify it as it arrived, not as a framework presents it.";
  const guesses: readonly (readonly [
    name: "content-type" | "content-length",
    value: string,
    what: string,
  ])[] = [
    ...JSON_TYPES.map(
      (type) => ["content-type", type, "the charset was removed, added or spelled differently"] as const,
    ),
    ["content-length", String(length), `the body that was signed has ${length} bytes`],
  ];
  return guesses.flatMap(([name, value, what]): Variant[] => {
    const lines = fieldLines(request.headers, name);
    if (!components.some((covered) => covered.name === name) || lines.join() === value) return [];
    const arrived = lines.length === 0 ? "none arrived" : `"${lines.join(", ")}" arrived`;
    const advice = `The signed ${name} is "${value}"; ${arrived}: ${what}. ${keep}`;
    const apply = (one: HttpRequest): HttpRequest => withField(one, name, value);
    return [{ replaces: name, variant: `${name}=${value}`, advice, apply }];
  });
}

/** Where Content-Digest arrived in several lines: each of them alone. */
export function digestVariants({ headers }: HttpRequest): Variant[] {
  const lines = fieldLines(headers, "content-digest");
  const members = lines.flatMap((line) => line.split(/[ \t]*,[ \t]*/));
  const isTwice = new Set(members.map((member) => member.split("=", 1)[0])).size < members.length;
  if (lines.length < 2 && !isTwice) return [];
  return [...new Set([...lines, ...members])].slice(0, MAX_GUESSES).map((digest) => ({
    replaces: "content-digest",
    variant: "content-digest once",
    advice: `One Content-Digest was signed, and ${Math.max(lines.length, members.length)} arrived: a proxy or a library on the way added its own. Configure the proxy or library to leave the field unchanged.`,
    apply: (one) => withField(one, "content-digest", digest),
  }));
}

function withField(request: HttpRequest, name: string, value: string): HttpRequest {
  const kept = request.headers.filter(([spelled]) => spelled.toLowerCase() !== name);
  const line: HeaderLine = [name, value];
  return { ...request, headers: [...kept, line] };
}
