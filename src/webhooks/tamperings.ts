/** Ways to spoil a webhook, each by name: what `trigger --tamper` sends, and what `check` holds an endpoint to. */
import { CONTENT } from "./tamperings/content.ts";
import { RECORD } from "./tamperings/record.ts";
import { REQUEST } from "./tamperings/request.ts";
import { SIGNATURE } from "./tamperings/signature.ts";
import { SIGNING } from "./tamperings/signing.ts";
import type { Tampering } from "./tamperings/tampering.ts";

export const TAMPERINGS: readonly Tampering[] = [...CONTENT, ...SIGNATURE, ...SIGNING, ...REQUEST, ...RECORD];
