/** A verdict as the store keeps it: its own JSON. */
import * as z from "zod/mini";
import { isReason, isWarning, type Reason, type Warning } from "../domain/reasons.ts";
import { ALGORITHM, LABEL } from "../signatures/policy.ts";
import { CHECKS, type CheckName, type Verdict } from "../signatures/verdict.ts";

const isCheck = (name: unknown): boolean =>
  name === "http" || (typeof name === "string" && Object.hasOwn(CHECKS, name));

const schema = z.object({
  verdict: z.enum(["valid", "invalid"]),
  code: z.custom<"ok" | Reason>((code) => code === "ok" || isReason(code)),
  label: z.literal(LABEL),
  keyid: z.nullable(z.string()),
  alg: z.literal(ALGORITHM),
  created: z.nullable(z.number()),
  covered: z.array(z.string()),
  warnings: z.array(z.custom<Warning>(isWarning)),
  key: z.nullable(z.object({ keyid: z.nullable(z.string()), number: z.number(), bits: z.number() })),
  failure: z.nullable(z.object({ check: z.custom<CheckName | "http">(isCheck), detail: z.string() })),
}) satisfies z.ZodMiniType<Verdict>;

export const verdictColumn = z.pipe(
  z.pipe(
    z.string(),
    z.transform((text): unknown => JSON.parse(text)),
  ),
  schema,
);

/** The verdict on a rejection is null where its signature was not looked at. */
export const rejectionVerdictColumn = z.pipe(
  z.pipe(
    z.string(),
    z.transform((text): unknown => JSON.parse(text)),
  ),
  z.nullable(schema),
);
