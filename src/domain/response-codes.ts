/** What the response codes of issuers mean (ISO 8583, as card schemes use them). */

const RESPONSE_MEANINGS: Readonly<Record<string, string>> = {
  "00": "approved",
  "01": "refer to the card issuer",
  "03": "invalid merchant",
  "04": "pick up the card",
  "05": "do not honour",
  "07": "pick up the card: fraud",
  "08": "approved with identification",
  "10": "approved for a part of the amount",
  "12": "invalid transaction",
  "13": "invalid amount",
  "14": "invalid card number",
  "19": "try again",
  "30": "format error",
  "33": "expired card, pick it up",
  "34": "suspected fraud, pick up the card",
  "36": "restricted card, pick it up",
  "38": "too many wrong PINs, pick up the card",
  "41": "lost card",
  "43": "stolen card",
  "51": "insufficient funds",
  "54": "expired card",
  "55": "wrong PIN",
  "57": "transaction not permitted to the cardholder",
  "58": "transaction not permitted to the terminal",
  "59": "suspected fraud",
  "61": "exceeds the amount limit",
  "62": "restricted card",
  "63": "security violation",
  "65": "exceeds the number of payments allowed",
  "68": "the response arrived too late",
  "75": "too many wrong PINs",
  "78": "card not activated",
  "82": "wrong CVV",
  "85": "no reason to decline",
  "91": "issuer not available",
  "92": "routing error",
  "93": "refused for legal reasons",
  "94": "duplicate transaction",
  "96": "system malfunction",
};

/** Undefined if the code has no common meaning. */
export const responseMeaning = (code: string): string | undefined =>
  Object.hasOwn(RESPONSE_MEANINGS, code) ? RESPONSE_MEANINGS[code] : undefined;

/** `51, insufficient funds`, or the code alone. */
export function responseText(code: string): string {
  const meaning = responseMeaning(code);
  return meaning === undefined ? code : `${code}, ${meaning}`;
}
