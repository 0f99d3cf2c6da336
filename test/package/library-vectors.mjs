/** Tries a copy of the library on the runtime that runs this, with nothing of Node's own: every vector of webhooks, and each function. */

/**
 * @typedef {object} Vector
 * @property {string} id
 * @property {{ method: string, target: string, headers: [string, string][], body_base64?: string, body_generate?: { byte: number, length: number } }} [request]
 * @property {{ now: number, public_url: string, public_key_pem?: string, jwks?: object, policy?: { required?: string[], require_created?: boolean } }} context
 * @property {{ code?: string, violation?: string }} expected
 */

/** The codes of keys that can never verify: the verifier is not made. */
const UNUSABLE = new Set(["key_unusable", "alg_key_mismatch", "key_type_mismatch", "weak_key"]);

/**
 * Resolves with what went otherwise than expected.
 * @param {typeof import("paylink-webhooks")} library
 * @param {{ vectors: readonly Vector[], privateKey: string, publicKey: string }} data
 * @returns {Promise<string[]>}
 */
export async function tryLibrary(library, { vectors, privateKey, publicKey }) {
  const wrong = [];
  for (const vector of vectors) {
    const { expected } = vector;
    const isEncoded = vector.request?.headers.some(
      ([name, value]) => name === "Content-Encoding" && value === "gzip",
    );
    const code = await codeOf(library, vector);
    const verified = UNUSABLE.has(expected.code ?? "") ? "TypeError" : (expected.violation ?? expected.code);
    const right = isEncoded ? "unsupported_content_coding" : verified;
    if (code !== right) wrong.push(`${vector.id}: ${code}`);
  }
  const { createVerifier, sampleTransaction, signWebhook } = library;
  const webhook = signWebhook(sampleTransaction("APPROVED"), {
    key: privateKey,
    url: "https://shop.example/",
  });
  const verify = createVerifier({ key: publicKey, strict: true });
  for (const request of [webhook, new Request(webhook.url, webhook)]) {
    const { outcome, amounts } = await verify(request);
    if (outcome !== "APPROVED" || amounts.amountTrans.minorUnits !== 1000n) wrong.push(`sample: ${outcome}`);
  }
  return wrong;
}

/**
 * @param {typeof import("paylink-webhooks")} library
 * @param {Vector} vector
 */
async function codeOf({ createVerifier, WebhookError }, { request, context }) {
  if (request === undefined) throw new Error("the vector has no request");
  const { method, target, headers } = request;
  const { jwks, public_key_pem: pem, public_url: publicUrl, now, policy } = context;
  try {
    const verify = createVerifier({
      key: jwks ?? pem,
      publicUrl,
      now,
      require: policy?.required,
      requireCreated: policy?.require_created,
      strict: true,
    });
    const { verdict } = await verify({ method, url: target, headers, body: bodyOf(request) });
    return verdict.code;
  } catch (error) {
    if (error instanceof TypeError) return "TypeError";
    return error instanceof WebhookError ? error.code : String(error);
  }
}

/** @param {NonNullable<Vector["request"]>} request */
function bodyOf({ body_base64: base64, body_generate: generate = { byte: 0, length: 0 } }) {
  return base64 === undefined
    ? new Uint8Array(generate.length).fill(generate.byte)
    : Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}
