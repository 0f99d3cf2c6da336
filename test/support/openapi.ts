/** The OpenAPI document as tests read it: its operations, and checks of messages against it by ajv. */
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import type { Answer } from "./sandbox.ts";

export interface Described {
  readonly $ref?: string;
  readonly operationId?: string;
  readonly required?: boolean;
  readonly in?: string;
  readonly name?: string;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
  readonly schema?: object;
  readonly parameters?: readonly Described[];
  readonly content?: Readonly<Record<string, Described>>;
  readonly headers?: Readonly<Record<string, Described>>;
  readonly requestBody?: Described;
  readonly responses?: Readonly<Record<string, Described>>;
}

type PathItem = Readonly<Record<string, Described>>;

export interface OpenApi {
  readonly servers: readonly { readonly url: string }[];
  readonly paths: Readonly<Record<string, PathItem>>;
  readonly webhooks: Readonly<Record<string, { readonly post: Described }>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, object>>;
    readonly responses: Readonly<Record<string, Described>>;
  };
}

export interface Operation extends Described {
  readonly operationId: string;
  readonly responses: Readonly<Record<string, Described>>;
}

export const parseOpenApi = (text: string): OpenApi => JSON.parse(text) as OpenApi;

/** The schema of a component. */
export const component = (name: string): object => ({ $ref: `#/components/schemas/${name}` });

const METHODS = ["get", "post", "patch"];

export const operationsOf = ({ paths }: OpenApi): Operation[] =>
  Object.values(paths).flatMap((item) =>
    METHODS.flatMap((method) => (item[method] === undefined ? [] : asOperation(item[method]))),
  );

function asOperation({ operationId, responses, ...rest }: Described): Operation {
  if (operationId === undefined || responses === undefined) throw new Error("an operation lacks members");
  return { ...rest, operationId, responses };
}

/** Checks that throw with every violation of the document. */
export interface Checks {
  /** Whether the value is valid by a schema of the document. */
  readonly isValid: (schema: object, value: unknown) => boolean;
  readonly value: (schema: object, value: unknown) => void;
  /** The names of the operation and of the status that describe the reply. */
  readonly reply: (method: string, target: string, answer: Answer) => string;
}

/** Strict: a keyword or a format that JSON Schema does not have is an error of the document. */
export function checksOf(document: OpenApi): Checks {
  const ajv = new Ajv2020({ allErrors: true, allowUnionTypes: true, strictRequired: false });
  addFormats.default(ajv);
  ajv.addKeyword("components");
  const compiled = new Map<string, ValidateFunction>();
  const validator = (schema: object): ValidateFunction => {
    const text = JSON.stringify(schema);
    const known = compiled.get(text) ?? ajv.compile({ ...schema, components: document.components });
    compiled.set(text, known);
    return known;
  };
  const value = (schema: object, given: unknown): void => {
    const validate = validator(schema);
    if (!validate(given)) throw new Error(`${ajv.errorsText(validate.errors)}: ${JSON.stringify(given)}`);
  };
  const reply = (method: string, target: string, answer: Answer): string => {
    const operation = operationAt(document, method, target);
    const status = operation.responses[answer.status] === undefined ? "default" : String(answer.status);
    const { headers = {}, content } = resolved(document, operation.responses[status]);
    for (const [name, { required }] of Object.entries(headers))
      if (required && answer.header(name.toLowerCase()) === undefined) throw new Error(`${name} is missing`);
    const type = answer.header("content-type") ?? "";
    const schema = content?.[type]?.schema;
    if (schema === undefined) throw new Error(`${operation.operationId} ${status} does not have "${type}"`);
    value(schema, answer.json());
    return `${operation.operationId} ${status}`;
  };
  return { isValid: (schema, given) => validator(schema)(given), value, reply };
}

function operationAt(document: OpenApi, method: string, target: string): Operation {
  const path = target.replace(/\?.*/, "");
  const found = Object.entries(document.paths).find(([template]) =>
    new RegExp(`^${template.replace(/\{\w+\}/g, "[^/]+")}$`).test(path),
  );
  const described = found?.[1][method.toLowerCase()];
  if (described === undefined) throw new Error(`${method} ${path} is not in the document`);
  return asOperation(described);
}

function resolved(document: OpenApi, response: Described | undefined): Described {
  if (response === undefined) throw new Error("the status is not in the document");
  const name = response.$ref?.replace("#/components/responses/", "");
  return name === undefined ? response : resolved(document, document.components.responses[name]);
}
