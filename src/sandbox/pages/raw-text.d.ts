/** A file as text, for what the sandbox serves unchanged. */
declare module "*?raw" {
  const text: string;
  export default text;
}
