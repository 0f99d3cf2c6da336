/** Checks what a run with `--json` printed against the schema of what its command prints. */
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { components, errorOutput, outputs } from "./json-outputs.ts";
import { createProgram } from "../../src/program.ts";

interface Printed {
  readonly stdout: string;
  readonly stderr: string;
}

/** Throws if stdout or stderr is not as declared. */
export async function checkJsonOutput(argv: readonly string[], { stdout, stderr }: Printed): Promise<void> {
  const errors = documentsIn(stderr, "document");
  for (const error of errors) requireShape("stderr", error, errorOutput);
  if (stdout === "") return;
  const name = await commandOf(argv);
  const output = outputs()[name];
  if (output === undefined)
    throw new Error(`test/support/json-outputs.ts does not describe ${name}: ${stdout}`);
  for (const one of documentsIn(stdout, output.format)) requireShape(name, one, () => output.schema);
}

const compiled = new Map<string, ValidateFunction>();

function requireShape(name: string, value: unknown, schema: () => object): void {
  const validate = compiled.get(name) ?? compile(schema());
  compiled.set(name, validate);
  if (validate(value)) return;
  const reasons = validate.errors?.map(({ instancePath, message, params }) =>
    [instancePath, message, JSON.stringify(params)].join(" "),
  );
  const text = JSON.stringify(value).slice(0, 2000);
  throw new Error(`${name} printed what its schema does not allow: ${text}\n${reasons?.join("\n")}`);
}

/** References by the name alone: so each type is compiled once for all outputs. */
const byName = (schema: object): object =>
  JSON.parse(JSON.stringify(schema).replaceAll("#/components/schemas/", "component:")) as object;

let withComponents: Ajv2020 | undefined;

function compile(schema: object): ValidateFunction {
  withComponents ??= openComponents();
  return withComponents.compile(byName(schema));
}

function openComponents(): Ajv2020 {
  const ajv = new Ajv2020({ allErrors: true, allowUnionTypes: true, strictRequired: false });
  addFormats.default(ajv);
  for (const [name, schema] of Object.entries(components()))
    ajv.addSchema(byName(schema), `component:${name}`);
  return ajv;
}

/** Each ends with a line break: JSON has none inside a text. */
function documentsIn(text: string, format: "document" | "documents" | "lines"): unknown[] {
  if (text === "") return [];
  if (format === "document") return [JSON.parse(text)];
  if (format === "lines")
    return text
      .trimEnd()
      .split("\n")
      .map((line): unknown => JSON.parse(line));
  const found: unknown[] = [];
  let part = "";
  for (const line of text.split("\n")) {
    part += line;
    try {
      found.push(JSON.parse(part));
      part = "";
    } catch {
      // It goes on in the next line.
    }
  }
  if (part !== "") throw new Error(`is not JSON: ${part}`);
  return found;
}

/** The name of the command that runs: `events list`. */
async function commandOf(argv: readonly string[]): Promise<string> {
  let name = "";
  const program = createProgram({
    version: "0.0.0",
    print: () => undefined,
    execute: async (command) => {
      name = command.words.join(" ");
    },
  });
  await program.parseAsync(argv, { from: "user" });
  return name;
}
