/** What the build puts into the program: files as their text, and the version in package.json. */
declare module "*?raw" {
  const text: string;
  export default text;
}

declare const PAYLINK_VERSION: string;
