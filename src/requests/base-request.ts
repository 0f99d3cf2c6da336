/** Reads the base request of `--from`, for one link and for the rows of a list. */
import { PaylinkError, type Problem } from "../domain/errors.ts";
import { type Json } from "../domain/json.ts";
import { parseJson } from "../domain/parse-json.ts";

export interface BaseRequest {
  readonly value: Json;
  /** The repeated members: only the user knows which of the two values is right. */
  readonly problems: readonly Problem[];
}

/** Throws `usage` if the text is not JSON. `-` is stdin. */
export async function readBaseRequest(
  path: string,
  readFile: (path: string, place: string) => Promise<Uint8Array>,
): Promise<BaseRequest> {
  const name = path === "-" ? "stdin" : path;
  const json = parseJson(new TextDecoder().decode(await readFile(path, "--from")));
  if (!json.ok) throw new PaylinkError("usage", `${name} ${json.message}. Nothing was sent.`);
  const problems = json.value.duplicates.map((at) => ({
    at: `${name}: ${at}`,
    message: "must not be given twice",
  }));
  return { value: json.value.value, problems };
}
