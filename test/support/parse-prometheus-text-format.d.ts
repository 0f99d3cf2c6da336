/** The part of the parser's result that tests read. */
declare module "parse-prometheus-text-format" {
  interface Family {
    readonly name: string;
    readonly type: string;
    readonly metrics: readonly object[];
  }
  export default function parse(text: string): Family[];
}
