/** Records that break the specification, correctly signed: they are authentic. */
import { signedWebhook } from "../signed-webhook.ts";
import { bytesOf, edited } from "./edits.ts";
import { authentic, type Tampering } from "./tampering.ts";

export const RECORD: readonly Tampering[] = [
  authentic("not-json", "whose body is not JSON", (_, sender) => signedWebhook(bytesOf("hello"), sender)),
  authentic("not-utf8", "whose body is not UTF-8", (body, sender) =>
    signedWebhook(
      Buffer.concat([body.subarray(0, -1), Buffer.from([0x2c, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])]),
      sender,
    ),
  ),
  authentic("duplicate-member", "whose record has transApproved twice", (body, sender) =>
    signedWebhook(
      edited(body, /\}$/, () => ',"transApproved":true}'),
      sender,
    ),
  ),
  authentic("null-member", "with a member that is null", (body, sender) =>
    signedWebhook(
      edited(body, /\}$/, () => ',"paymentId":null}'),
      sender,
    ),
  ),
  authentic("not-complete", "whose status is not Complete", (body, sender) =>
    signedWebhook(
      edited(body, /"status":"[^"]*"/, () => '"status":"Pending"'),
      sender,
    ),
  ),
];
