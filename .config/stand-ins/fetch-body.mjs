// Stands in for fetch's bodies under undici's HTTP/1.1 client, which asks for them only with FormData.
export function extractBody() {
  throw new Error("This program sends bytes.");
}
