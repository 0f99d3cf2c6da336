// Stands in for undici's HTTP/2 client in the bundle: it is asked for only with `allowH2`, and loads node:http2.
export default function connectH2() {
  throw new Error("This program speaks HTTP/1.1.");
}
