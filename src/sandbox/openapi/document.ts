/** The OpenAPI 3.1 document of the service: what the tables do not say, and their schemas. The sandbox serves it, the package contains it. */
import { stringifyJson } from "../../domain/json.ts";
import document from "./document.json" with { type: "json" };
import { SCHEMAS } from "./schemas.ts";

/** As JSON. */
export const openApiDocument = (): string => {
  const { components } = document;
  const schemas = { ...SCHEMAS, ...components.schemas };
  return stringifyJson({ ...document, components: { ...components, schemas } });
};
