// Stands in for ajv and ajv-formats in the bundle: conf loads both, and uses them only with a schema.
// oxlint-disable-next-line typescript/no-extraneous-class -- only its name is asked for
export class Ajv2020 {}
export default function addFormats() {}
