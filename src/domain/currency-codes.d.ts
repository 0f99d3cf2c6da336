/** The data module of currency-codes, for which the package declares no types. */

declare module "currency-codes/data" {
  const currencies: readonly { readonly code: string; readonly digits: number }[];
  export default currencies;
}
