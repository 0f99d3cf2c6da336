/** What may have been signed before something in transit changed it: the address, the method, and header fields. */
import { fieldLines, type HeaderLine, type HttpRequest } from "../../http/message.ts";
import { onRequest, type Signing, type SigningVariant } from "./signing.ts";

export function addressVariants({ request }: Signing): SigningVariant[] {
  const scheme = request.scheme === "http" ? "https" : "http";
  const targets = targetsOf(request).map(([target, variant, advice]) =>
    onRequest("target", variant, (one) => ({ ...one, target }), advice),
  );
  return [
    onRequest("scheme", `scheme=${scheme}`, (one) => ({ ...one, scheme }), publicUrlAdvice),
    ...authoritiesOf(request).map((authority) =>
      onRequest("authority", `authority=${authority}`, (one) => ({ ...one, authority }), publicUrlAdvice),
    ),
    ...targets,
    ...methodsOf(request).map((method) =>
      onRequest(
        "method",
        `method=${method}`,
        (one) => ({ ...one, method }),
        method === method.toLowerCase()
          ? "The signer wrote the method in lower case; RFC 9421 2.2.1 signs it as sent. The signer has to fix this."
          : `The signature is for ${method}, but ${request.method} arrived: something in between changed the method.`,
      ),
    ),
  ];
}

const publicUrlAdvice: SigningVariant["advice"] = ({ request: { scheme, authority, target } }) =>
  `The signature is for ${scheme}://${authority}: a proxy, tunnel or TLS terminator is in between. Give the address that the service posts to: --public-url ${scheme}://${authority}${target.split("?", 1)[0] ?? ""}`;

/** Forwarding headers may suggest an address, since it must still verify (RFC 7239; X-Forwarded-*). */
function authoritiesOf({ headers, authority }: HttpRequest): string[] {
  const lines = (name: string): string[] =>
    fieldLines(headers, name).flatMap((line) => line.split(",").map((part) => part.trim()));
  const forwarded = lines("forwarded").flatMap((line) => {
    const [, host] = /(?:^|;)\s*host="?([^";,\s]+)/i.exec(line) ?? [];
    return host ?? [];
  });
  const hosts = [
    ...lines("x-forwarded-host"),
    ...forwarded,
    ...lines("x-original-host"),
    ...lines("host"),
    authority,
  ];
  const ports = [
    ...lines("x-forwarded-port"),
    ...[authority, ...hosts].flatMap((host) => portOf(host) ?? []),
  ];
  const guesses = hosts.flatMap((host) => {
    const bare = host.replace(/:\d+$/, "");
    return [host, bare, ...ports.map((port) => `${bare}:${port}`)];
  });
  const loopback = /^(?:localhost|127\.0\.0\.1|\[::1\])(?=:|$)/;
  const aliases = loopback.test(authority)
    ? ["localhost", "127.0.0.1", "[::1]"].map((name) => authority.replace(loopback, name))
    : [];
  const valid = [...guesses, ...aliases].filter(
    (host) => /^[^/?#@\\\s,;]+$/.test(host) && host !== authority,
  );
  return [...new Set(valid)].slice(0, MAX_AUTHORITIES);
}

const MAX_AUTHORITIES = 24;

const portOf = (host: string): string | undefined => /:(\d+)$/.exec(host)?.[1];

const REWRITTEN =
  "something between the service and this endpoint rewrote it. Configure it to keep the request target unchanged.";

type Target = readonly [target: string, variant: string, advice: string];

function targetsOf({ target, headers }: HttpRequest): Target[] {
  const [path = "", ...rest] = target.split("?");
  const query = rest.length > 0 ? `?${rest.join("?")}` : "";
  const targets: Target[] = [];
  const add = (candidate: string, variant: string, advice: string): void => {
    if (candidate !== target && candidate.startsWith("/")) targets.push([candidate, variant, advice]);
  };
  if (query === "?") add(path, "without the trailing ?", `The signature is for ${path}: ${REWRITTEN}`);
  if (query === "") add(`${path}?`, "with a trailing ?", `The signature is for ${path}?: ${REWRITTEN}`);
  if (query.length > 1)
    add(path, "without the query", `The signature does not include the query: ${REWRITTEN}`);
  for (const name of ["x-original-uri", "x-original-url", "x-forwarded-uri", "x-rewrite-url"])
    for (const original of fieldLines(headers, name))
      add(original, `target=${original}`, `The signature is for ${original} (from ${name}): ${REWRITTEN}`);
  for (const prefix of fieldLines(headers, "x-forwarded-prefix")) {
    const whole = `${prefix.replace(/\/$/, "")}${target}`;
    add(
      whole,
      `target=${whole}`,
      `The signature is for ${whole}; a proxy stripped ${prefix}. Give the whole path: --public-url https://<host>${whole.split("?", 1)[0] ?? ""}`,
    );
  }
  const slashed = path.endsWith("/") ? path.slice(0, -1) : `${path}/`;
  const which = path.endsWith("/") ? "without the trailing slash" : "with a trailing slash";
  add(`${slashed}${query}`, which, `The signature is for ${slashed}: ${REWRITTEN}`);
  add(normalized(target), "target normalised", `The signature is for the normalised target: ${REWRITTEN}`);
  return targets;
}

/** As `new URL` and most proxies would write it. */
function normalized(target: string): string {
  if (!URL.canParse(target, "http://host")) return target;
  const { pathname, search } = new URL(target, "http://host");
  return (
    pathname.replace(/%(?:2[dDeE]|5[fF]|7[eE]|3\d|[46][1-9a-fA-F]|[57][0-9aA])/g, decodeURIComponent) + search
  );
}

function methodsOf({ method, headers }: HttpRequest): string[] {
  const candidates = [
    method.toLowerCase(),
    method.toUpperCase(),
    ...fieldLines(headers, "x-http-method-override"),
  ];
  return [...new Set(candidates)].filter((candidate) => candidate !== method);
}

/** A received field with other lines in its place. */
function withField(request: HttpRequest, name: string, values: readonly string[]): HttpRequest {
  const kept = request.headers.filter(([spelled]) => spelled.toLowerCase() !== name);
  const lines = values.map((value): HeaderLine => [name, value]);
  return { ...request, headers: [...kept, ...lines] };
}

type FieldGuess = readonly [values: readonly string[], variant: string, advice: string];

export function fieldVariants({ components, request }: Signing, body: Uint8Array): SigningVariant[] {
  const names = new Set(components.map(({ name }) => name).filter((name) => !name.startsWith("@")));
  return [...names].flatMap((name) => {
    const lines = fieldLines(request.headers, name);
    const guesses = [...lineGuesses(name, lines), ...valueGuesses(name, lines, request, body)];
    return guesses.map(([values, variant, advice]) =>
      onRequest(`field ${name}`, variant, (one) => withField(one, name, values), advice),
    );
  });
}

/** Lines of one field, in another order or joined otherwise than RFC 9421 2.1 joins them. */
function lineGuesses(name: string, lines: readonly string[]): FieldGuess[] {
  const guess = (values: readonly string[], variant: string, signed: string): FieldGuess => [
    values,
    `${name}${variant}`,
    `${signed} Configure the proxy or framework to keep the lines of ${name} separate and in order.`,
  ];
  const [first = ""] = lines;
  if (lines.length > 1)
    return [
      guess(lines.toReversed(), " lines reordered", `The lines of ${name} were signed in the other order.`),
      guess(
        [lines.join(",")],
        " lines joined",
        `The lines of ${name} were signed joined by a comma without a space.`,
      ),
      guess([first], ": the first line alone", `A second line of ${name} was added after signing.`),
      guess(
        [lines.at(-1) ?? ""],
        ": the last line alone",
        `A first line of ${name} was added after signing.`,
      ),
    ];
  const parts = name === "content-type" ? [] : first.split(/,[ \t]*/);
  if (parts.length < 2) return [];
  return [
    guess(
      [parts.toReversed().join(", ")],
      " lines reordered",
      `The values of ${name} were signed in the other order.`,
    ),
    guess(
      [parts.join(",")],
      " lines joined",
      `The values of ${name} were signed with a comma and no space between them.`,
    ),
    guess(
      [parts.join(", ")],
      " lines joined",
      `The values of ${name} were signed as several lines, joined by a comma and a space (RFC 9421 2.1).`,
    ),
  ];
}

const JSON_TYPES = [
  "application/json; charset=utf-8",
  "application/json;charset=utf-8",
  "application/json; charset=UTF-8",
  "application/json;charset=UTF-8",
  "application/json",
];

function valueGuesses(
  name: string,
  lines: readonly string[],
  { authority, body: received }: HttpRequest,
  body: Uint8Array,
): FieldGuess[] {
  const guesses = (values: readonly string[], advice: (value: string) => string): FieldGuess[] =>
    [...new Set(values)].map((value) => [[value], `${name}=${value}`, advice(value)]);
  const lost =
    lines.length === 0 ? `${name} is covered but did not arrive` : `${name} was changed in transit`;
  const arrived = lines.length === 0 ? "none arrived" : `"${lines.join(", ")}" arrived`;
  const keep = "Keep it unchanged, and verify the header as it arrived, not as a framework presents it.";
  switch (name) {
    case "content-type":
      return guesses(
        [...JSON_TYPES, ...lines.flatMap((line) => [line.toLowerCase(), line.split(";", 1)[0] ?? ""])],
        (type) =>
          `The signed Content-Type is "${type}"; ${arrived}: the charset was stripped, added or respelled. ${keep}`,
      );
    case "content-length":
      return guesses(
        [body, received].map(({ length }) => String(length)),
        (length) => `${lost}: the body that was signed has ${length} bytes. ${keep}`,
      );
    case "content-encoding":
      return guesses(
        ["gzip", "br", "deflate"],
        () => `${lost}: a proxy or framework decompressed the body. ${keep}`,
      );
    case "host":
      return guesses(
        [authority],
        () => `${lost}: a proxy replaced Host. Configure it to keep the original one.`,
      );
    case "accept":
      return guesses(["application/json", "*/*"], (type) => `${lost}: "${type}" was signed. ${keep}`);
    default:
      return [];
  }
}
