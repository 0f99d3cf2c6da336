/** All tamperings, by name: `trigger --tamper` sends one, `check` sends those that must be refused. */
import { CONTENT } from "./tamperings/body-and-digest.ts";
import { RECORD } from "./tamperings/invalid-records.ts";
import { REQUEST } from "./tamperings/request-and-limits.ts";
import { SIGNATURE } from "./tamperings/signature-fields.ts";
import { SIGNING } from "./tamperings/time-key-algorithm.ts";
import type { Tampering } from "./tamperings/tampering.ts";

export const TAMPERINGS: readonly Tampering[] = [...CONTENT, ...SIGNATURE, ...SIGNING, ...REQUEST, ...RECORD];
