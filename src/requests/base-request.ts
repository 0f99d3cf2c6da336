/** Reads the JSON request of `--from`, which flags, columns and settings then complete. */
import { PaylinkError, type Problem } from "../domain/errors.ts";
import { parseJson, type Json } from "../domain/json.ts";

export interface BaseRequest {
  readonly value: Json;
  /** Members that appear more than once: nobody can tell which value was meant. */
  readonly duplicates: readonly Problem[];
}

/** `name` is what messages call the file. Throws `usage` where it is not JSON. */
export function readBaseRequest(bytes: Uint8Array, name: string): BaseRequest {
  const json = parseJson(new TextDecoder().decode(bytes));
  if (!json.ok) throw new PaylinkError("usage", `${name} ${json.message}. Nothing was sent.`);
  return {
    value: json.value.value,
    duplicates: json.value.duplicates.map((at) => ({
      at: `${name}: ${at}`,
      message: "must not appear twice",
    })),
  };
}
