// Stands in for node:http under undici, which asks it for two things: Node's default for the headers of a reply, in
// bytes, and the class of a body that is never sent here.
export const maxHeaderSize = 16_384;
export const IncomingMessage = undefined;
