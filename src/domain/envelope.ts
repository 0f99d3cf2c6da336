/** Finds a link or a record that a service wraps in one envelope object, such as `{ "data": { … } }`. */
import { isJsonObject, type Json, type JsonObject } from "./json.ts";

/**
 * The document itself if it is what is looked for, or else each of its members that is: only one of them is certainly meant.
 */
export function findWrapped(document: Json, isMeant: (object: JsonObject) => boolean): readonly JsonObject[] {
  if (!isJsonObject(document)) return [];
  return isMeant(document) ? [document] : Object.values(document).filter(isJsonObject).filter(isMeant);
}
