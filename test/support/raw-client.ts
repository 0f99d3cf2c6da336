/** Bytes on a bare socket, as no HTTP library would send them. */
import { connect } from "node:net";

/** Writes bytes on a bare socket and resolves with the whole reply. */
export function exchangeRaw(url: string, bytes: Uint8Array | string): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const socket = connect(Number(port), hostname, () => socket.write(bytes));
    socket.on("data", (chunk) => chunks.push(chunk));
    socket.on("error", reject);
    socket.on("close", () => resolve(Buffer.concat(chunks).toString("latin1")));
  });
}

/** Writes bytes on a bare socket and resolves with the status of the answer. */
export function statusOf(port: number, bytes: Uint8Array): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1");
    let answer = "";
    socket.on("data", (chunk) => {
      answer += chunk.toString("latin1");
      const [, status] = /^HTTP\/1\.[01] (\d+) [\s\S]*\r\n\r\n/.exec(answer) ?? [];
      if (status === undefined) return;
      socket.destroy();
      resolve(Number(status));
    });
    socket.on("error", reject);
    socket.on("close", () => reject(new Error(`no answer: ${answer}`)));
    socket.write(bytes);
  });
}
