/** Reads the JSON of `--from`, and finds the members that are nearly fields of a request. */
import { PaylinkError, type Problem } from "../domain/errors.ts";
import { isJsonObject, joinPath, type Json, type JsonObject } from "../values/json.ts";
import { parseJson } from "../values/parse-json.ts";
import { isMisspelled, nearest } from "../values/parse-result.ts";
import { lostLettersProblem } from "../values/typed-text.ts";
import { linkFieldsOf } from "../domain/payment-link-field-lookup.ts";

export interface BaseRequest {
  readonly value: Json;
  /** Repeated members, since only the user knows which of the two values is right, misspelled ones, and texts with lost letters. */
  readonly problems: readonly Problem[];
  /** The members that no field is like: they are sent as they are. */
  readonly warnings: readonly Problem[];
}

const STRICT_UTF8 = new TextDecoder("utf-8", { fatal: true });

/** A text in another encoding must not reach the customer with replaced letters. */
function utf8Text(bytes: Uint8Array, name: string): string {
  try {
    return STRICT_UTF8.decode(bytes);
  } catch {
    throw new PaylinkError(
      "usage",
      `${name} is not UTF-8 text: save it as UTF-8 (PowerShell: Out-File -Encoding utf8).`,
      { consequence: "Nothing was sent." },
    );
  }
}

/** Throws `usage` if the text is not JSON in UTF-8 (RFC 8259 8.1). `-` is stdin. */
export async function readBaseRequest(
  path: string,
  readFile: (path: string, place: string) => Promise<Uint8Array>,
): Promise<BaseRequest> {
  const name = path === "-" ? "stdin" : path;
  const json = parseJson(utf8Text(await readFile(path, "--from"), name));
  if (!json.ok)
    throw new PaylinkError("usage", `${name} ${json.message}.`, { consequence: "Nothing was sent." });
  const { value, duplicates } = json.value;
  const at = (place: string): string => `${name}: ${place}`;
  const problems: Problem[] = duplicates.map((place) => ({
    at: at(place),
    message: "must not be given twice",
  }));
  for (const [place, text] of isJsonObject(value) ? textsIn(value) : []) {
    const message = lostLettersProblem(text);
    if (message !== undefined) problems.push({ at: at(place), message });
  }
  const warnings: Problem[] = [];
  for (const member of isJsonObject(value) ? unknownMembers(value) : []) {
    const near = fieldLike(member);
    if (near !== undefined)
      problems.push({ at: at(member), message: `is not a field; did you mean ${near}?` });
    else
      warnings.push({ at: at(member), message: "is not a field of the specification; it is sent as it is" });
  }
  return { value, problems, warnings };
}

const REQUEST_FIELDS: readonly { readonly path: string; readonly type: string }[] = linkFieldsOf(
  "request",
).map(([path, { type }]) => ({ path, type }));

/** The paths of the members that the specification lacks, without what is in them. */
function unknownMembers(object: JsonObject, parent = ""): string[] {
  return Object.entries(object).flatMap(([name, value]) => {
    const path = joinPath(parent, name);
    const field = REQUEST_FIELDS.find((one) => one.path === path);
    if (field === undefined) return [path];
    return field.type === "object" && isJsonObject(value) ? unknownMembers(value, path) : [];
  });
}

/** The texts of an object with their paths, except those in lists, which no field has. */
function textsIn(object: JsonObject, parent = ""): [path: string, text: string][] {
  return Object.entries(object).flatMap(([name, value]): [string, string][] => {
    const path = joinPath(parent, name);
    if (typeof value === "string") return [[path, value]];
    return isJsonObject(value) ? textsIn(value, path) : [];
  });
}

/** The field with nearly this name at the same place, or with this very name at another one. */
function fieldLike(member: string): string | undefined {
  const parent = member.slice(0, member.lastIndexOf(".") + 1);
  const besides = REQUEST_FIELDS.map(({ path }) => path).filter(
    (path) => path.startsWith(parent) && !path.slice(parent.length).includes("."),
  );
  return (
    nearest(compactName(member), besides, isMisspelled) ??
    REQUEST_FIELDS.map(({ path }) => path).find((path) => lastOf(path) === lastOf(compactName(member)))
  );
}

/** `customer_name` is spelled customerName elsewhere. */
const compactName = (name: string): string => name.replace(/[\s_-]+/g, "");

const lastOf = (path: string): string => path.slice(path.lastIndexOf(".") + 1).toLowerCase();
