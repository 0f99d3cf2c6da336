/** Each field that a request and a reply have, on its whole way: created at the sandbox, shown, summed up, and described. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  isJsonObject,
  type JsonObject,
  JsonNumber,
  type Json,
  memberAt,
  setAt,
  stringifyJson,
} from "../../src/values/json.ts";
import { accepted } from "../../src/values/parse-result.ts";
import { parseJson } from "../../src/values/parse-json.ts";
import type { LinkFieldPath } from "../../src/domain/payment-link-fields.ts";
import { linkFieldAt, linkFieldsOf, fieldLabel } from "../../src/domain/payment-link-field-lookup.ts";
import { checkRequest, VARIABLE_MODE } from "../../src/domain/payment-link.ts";
import { readPaymentLink } from "../../src/domain/payment-link-reply.ts";
import { type FieldType, isSameValue, typeNamed } from "../../src/domain/payment-link-types.ts";
import { formatLocal } from "../../src/render/layout.ts";
import { openApiDocument } from "../../src/sandbox/openapi/document.ts";
import { type CommandOptions, runCommand } from "../support/context.ts";
import { fixedAnswers } from "../support/fixed-answers.ts";
import { temporaryHome } from "../support/home.ts";
import { MERCHANT } from "../support/merchant.ts";
import { NOW, openTestSandbox, ORIGIN } from "../support/sandbox.ts";

const FIELDS = linkFieldsOf("request").filter(([, { reply }]) => reply !== undefined);

interface Sample {
  readonly value: Json;
  /** As a person sees it. */
  readonly shown: string;
}

const shownAsSent = (value: string): Sample => ({ value, shown: value });

const dateSample = (value: string): Sample => ({ value, shown: formatLocal(new Date(value)) });

/** A valid value of each type: a type without one does not compile. */
const SAMPLES: Readonly<Record<Exclude<FieldType, "object">, (path: string) => Sample>> = {
  amount: () => ({ value: new JsonNumber("12.34"), shown: "EUR 12.34" }),
  bound: (path) => {
    const value = path.endsWith("minAmount") ? "11.50" : "13.50";
    return { value, shown: `EUR ${value}` };
  },
  currency: () => shownAsSent("EUR"),
  text: (path) => shownAsSent(`Text of ${path}`),
  name: (path) => shownAsSent(NAMES[path] ?? `Name of ${path}`),
  transactionType: () => shownAsSent("AUTH"),
  email: (path) => shownAsSent(`${path}@shop.example`),
  webAddress: (path) => shownAsSent(`https://shop.example/${path}`),
  date: () => dateSample("2026-02-03T04:05:06Z"),
  expiry: () => dateSample("2026-02-07T08:09:10Z"),
  dateOrNull: () => dateSample("2026-02-04T05:06:07Z"),
  ucof: () => shownAsSent("ucof"),
  initial: () => shownAsSent("initial"),
};

/** Names that the service knows. */
const NAMES: Readonly<Record<string, string>> = {
  terminalId: MERCHANT.terminalId,
  "linkOptions.mode": VARIABLE_MODE,
};

interface Tried extends Sample {
  readonly path: LinkFieldPath;
  readonly type: Exclude<FieldType, "object">;
}

const TRIED = FIELDS.flatMap(([path, { type }]): Tried[] =>
  type === "object" ? [] : [{ path, type, ...SAMPLES[type](path) }],
);

const REQUEST: JsonObject = {};
for (const { path, value } of TRIED) setAt(REQUEST, path, value);

const env = {
  PAYLINK_BASE_URL: ORIGIN,
  PAYLINK_TOKEN: MERCHANT.token,
  PAYLINK_TERMINAL_ID: MERCHANT.terminalId,
};

/** A link with every field: what the service answers, what `links show` prints, and what `create` asks to confirm. */
async function created() {
  const { sandbox } = openTestSandbox();
  const file = join(temporaryHome(), "request.json");
  writeFileSync(file, stringifyJson(REQUEST));
  const run = (argv: readonly string[], options: CommandOptions = {}) =>
    runCommand(argv, { env, send: (request) => sandbox.handler(request), now: () => NOW, ...options });
  const { stdout } = await run(["create", "--from", file, "--json"]);
  const reply = jsonOf(stdout);
  const details = await run(["links", "show", idOf(reply)]);
  // What is complete is not asked.
  const { customerName: _, ...incomplete } = REQUEST;
  writeFileSync(file, stringifyJson(incomplete));
  const { ask } = fixedAnswers({ texts: { Customer: SAMPLES.name("customerName").shown } });
  const summary = await run(["create", "--from", file], { ask });
  return { reply, shown: { "links show": details.stdout, "the summary": summary.stderr } };
}

function jsonOf(text: string): Json {
  const json = parseJson(text);
  if (!json.ok) throw new Error(json.message);
  return json.value.value;
}

function idOf(link: Json): string {
  const id = memberAt(link, "id");
  if (typeof id !== "string") throw new Error("no id");
  return id;
}

/** Where the schema of a component has the field. */
const schemaOf = (name: string, path: string): Json | undefined =>
  memberAt(
    jsonOf(openApiDocument()),
    `components.schemas.${name}.properties.${path.replaceAll(".", ".properties.")}`,
  );

/** The paths of the fields for which it does not hold. */
const failing = (holds: (field: Tried) => boolean): string[] =>
  TRIED.filter((field) => !holds(field)).map(({ path }) => path);

describe("each field that a request and a reply have", () => {
  it("is in the reply as it was sent, in links show, and in the summary of create", async () => {
    const { reply, shown } = await created();
    const isRepeated = ({ path, type, value }: Tried): boolean => {
      const received = memberAt(reply, path);
      return received !== undefined && isSameValue(type, value, received);
    };
    expect(failing(isRepeated)).toEqual([]);
    for (const [where, text] of Object.entries(shown)) {
      const isShown = ({ path, type, shown: words }: Tried): boolean => {
        // An amount has its currency.
        const label = fieldLabel(type === "currency" ? "amount" : path);
        return text.split("\n").some((line) => line.startsWith(`  ${label}  `) && line.includes(words));
      };
      expect({ where, failing: failing(isShown) }).toEqual({ where, failing: [] });
    }
  });

  it("is read as typed, if it has a flag", () => {
    const isRead = ({ type, value }: Tried): boolean => {
      const { rule, fromText = accepted } = typeNamed(type);
      const read = fromText(typeof value === "string" ? value : stringifyJson(value), { now: NOW });
      return read.ok && rule(read.value) === undefined && isSameValue(type, value, read.value);
    };
    const isTyped = ({ path }: Tried): boolean => linkFieldAt(path).flag !== undefined;
    expect(failing((field) => !isTyped(field) || isRead(field))).toEqual([]);
  });

  it("is in the OpenAPI document, of the request and of the reply", () => {
    for (const schema of ["PaymentLinkRequest", "PaymentLink"])
      expect(failing(({ path }) => schemaOf(schema, path) !== undefined)).toEqual([]);
  });

  it("is a violation if it must be echoed and is not", async () => {
    const { request, problems } = checkRequest(REQUEST, NOW);
    if (request === null) throw new Error(JSON.stringify(problems));
    const { reply } = await created();
    expect(readPaymentLink(reply, request).violations).toEqual([]);
    for (const { path } of TRIED.filter((field) => linkFieldAt(field.path).echoed === true)) {
      const changed = jsonOf(stringifyJson(reply));
      if (!isJsonObject(changed)) throw new Error("no link");
      setAt(changed, path, path === "amount" ? new JsonNumber("99") : "99");
      expect(readPaymentLink(changed, request).violations).toMatchObject([{ at: path }]);
    }
  });
});
