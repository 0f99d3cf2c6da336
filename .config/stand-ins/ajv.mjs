/** Replaces ajv and ajv-formats: conf imports both, and uses them only with a schema, which paylink gives it none of. */
// oxlint-disable-next-line typescript/no-extraneous-class -- conf only imports its name
export class Ajv2020 {}
export default function addFormats() {}
