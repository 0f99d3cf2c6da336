/** What the build puts into the program: files as their text, and what package.json says. */
declare module "*?raw" {
  const text: string;
  export default text;
}

declare const PAYLINK_VERSION: string;

/** Where to report a problem: the address of `bugs`, or nothing. */
declare const PAYLINK_ISSUES: string;
