/** Header fields that may have been signed: respelled, lost, reordered or joined in transit. */

import { fieldLines, type HeaderLine, type HttpRequest } from "../../http/message.ts";
import { onRequest, type Signing, type SigningVariant } from "./signing.ts";

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
      onRequest(
        `field ${name}`,
        variant,
        (one) => withField(one, name, values),
        () => advice,
      ),
    );
  });
}

/** Lines of one field, in another order or joined otherwise than RFC 9421 2.1 joins them. */
function lineGuesses(name: string, lines: readonly string[]): FieldGuess[] {
  const kept = `Configure the proxy or framework to keep the lines of ${name} separate and in order.`;
  const [first = ""] = lines;
  const last = lines.at(-1) ?? "";
  const parts = lines.length === 1 && name !== "content-type" ? first.split(/,[ \t]*/) : [];
  const joined = lines.join(",");
  return [
    ...(lines.length > 1
      ? ([
          [
            lines.toReversed(),
            `${name} lines reordered`,
            `The lines of ${name} were signed in the other order. ${kept}`,
          ],
          [
            [joined],
            `${name} lines joined`,
            `The lines of ${name} were signed joined by a comma without a space. ${kept}`,
          ],
          [
            [first],
            `${name}: the first line alone`,
            `A second line of ${name} was added after signing. ${kept}`,
          ],
          [
            [last],
            `${name}: the last line alone`,
            `A first line of ${name} was added after signing. ${kept}`,
          ],
        ] as const)
      : []),
    ...(parts.length > 1
      ? ([
          [
            [parts.toReversed().join(", ")],
            `${name} lines reordered`,
            `The values of ${name} were signed in the other order. ${kept}`,
          ],
          [
            [parts.join(",")],
            `${name} lines joined`,
            `The values of ${name} were signed with a comma and no space between them. ${kept}`,
          ],
          [
            [parts.join(", ")],
            `${name} lines joined`,
            `The values of ${name} were signed as several lines, joined by a comma and a space (RFC 9421 2.1). ${kept}`,
          ],
        ] as const)
      : []),
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
  const guess = (value: string, variant: string, advice: string): FieldGuess => [[value], variant, advice];
  const lost =
    lines.length === 0 ? `${name} is covered but did not arrive` : `${name} was changed in transit`;
  const keep = "Keep it unchanged, and verify the header as it arrived, not as a framework presents it.";
  switch (name) {
    case "content-type":
      return [
        ...JSON_TYPES,
        ...lines.map((line) => line.toLowerCase()),
        ...lines.map((line) => line.split(";", 1)[0] ?? ""),
      ].map((type) =>
        guess(
          type,
          `content-type=${type}`,
          `The signed Content-Type is "${type}"; ${lines.length === 0 ? "none arrived" : `"${lines.join(", ")}" arrived`}: the charset was stripped, added or respelled. ${keep}`,
        ),
      );
    case "content-length":
      return [...new Set([body.length, received.length])].map((length) =>
        guess(
          String(length),
          `content-length=${length}`,
          `${lost}: the body that was signed has ${length} bytes. ${keep}`,
        ),
      );
    case "content-encoding":
      return ["gzip", "br", "deflate"].map((coding) =>
        guess(
          coding,
          `content-encoding=${coding}`,
          `${lost}: a proxy or framework decompressed the body. ${keep}`,
        ),
      );
    case "host":
      return [authority].map((host) =>
        guess(host, `host=${host}`, `${lost}: a proxy replaced Host. Configure it to keep the original one.`),
      );
    case "accept":
      return ["application/json", "*/*"].map((type) =>
        guess(type, `accept=${type}`, `${lost}: "${type}" was signed. ${keep}`),
      );
    default:
      return [];
  }
}
