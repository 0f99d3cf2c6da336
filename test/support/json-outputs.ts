/** What each command prints with `--json`, as JSON Schema: every run of a command in a test is held to it. */
import { SEND_FAILURES } from "../../src/http/send-failure.ts";
import { FAILURES } from "../../src/domain/errors.ts";
import { OUTCOMES } from "../../src/domain/outcome.ts";
import { REASONS, WARNINGS } from "../../src/domain/reasons.ts";
import { STANDINGS } from "../../src/orders/standing.ts";
import { FINDINGS } from "../../src/reconcile/findings.ts";
import { SCHEMAS, type JsonSchema } from "../../src/sandbox/openapi/schemas.ts";

const schemaRef = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` });

interface Output {
  /** One JSON document, several after each other, or one on each line. */
  readonly format: "document" | "documents" | "lines";
  /** Of each document. */
  readonly schema: JsonSchema;
}

type Members = Readonly<Record<string, JsonSchema>>;

/** An object with these members and no others. The name of a member that may be missing ends with `?`. */
const object = (members: Members): JsonSchema => ({
  type: "object",
  properties: Object.fromEntries(
    Object.entries(members).map(([name, schema]) => [name.replace("?", ""), schema]),
  ),
  required: Object.keys(members).filter((name) => !name.endsWith("?")),
  additionalProperties: false,
});
/** Members of one type. */
const each = (schema: JsonSchema, names: string): Members =>
  Object.fromEntries(names.split(" ").map((name) => [name, schema]));
const line = (type: string, members: Members): JsonSchema => object({ type: { const: type }, ...members });
const listOf = (items: JsonSchema): JsonSchema => ({ type: "array", items });
const anyOf = (...schemas: readonly JsonSchema[]): JsonSchema => ({ anyOf: schemas });
const orNull = (schema: JsonSchema): JsonSchema => anyOf(schema, { type: "null" });
const oneOf = (...values: readonly (string | null)[]): JsonSchema => ({ enum: values });
const about = (description: string, schema: JsonSchema = {}): JsonSchema => ({ description, ...schema });

const document = (members: Members): Output => ({ format: "document", schema: object(members) });
const lines = (...kinds: readonly JsonSchema[]): Output => ({ format: "lines", schema: anyOf(...kinds) });

const anything: JsonSchema = {};
const text: JsonSchema = { type: "string" };
const flag: JsonSchema = { type: "boolean" };
const count: JsonSchema = { type: "integer", minimum: 0 };
const milliseconds = about("Milliseconds.", { type: "number" });
const time: JsonSchema = { type: "string", format: "date-time" };
const headers = about("Pairs of a name and a value, as received.", listOf(listOf(text)));
const bodyBase64 = about("The exact bytes of the body.", { type: "string", contentEncoding: "base64" });

const verdict: Members = {
  verdict: oneOf("valid", "invalid"),
  code: anyOf(oneOf("ok"), schemaRef("Reason")),
  ...each(text, "label alg"),
  keyid: orNull(text),
  created: about("Unix seconds.", orNull({ type: "integer" })),
  covered: listOf(text),
  warnings: listOf(oneOf(...Object.keys(WARNINGS))),
};
const storedVerdict: Members = {
  ...verdict,
  key: orNull(object({ keyid: orNull(text), number: count, bits: count, thumbprint: text })),
  failure: orNull(object(each(text, "check detail"))),
};
const explainedVerdict: Members = {
  ...verdict,
  checks: listOf(schemaRef("Check")),
  hints: listOf(object(each(text, "variant advice"))),
  signatureBase: orNull(text),
};

const serviceLink = about(
  "The service's own JSON, unchanged: a PaymentLink, unless the service deviates.",
  anyOf(schemaRef("PaymentLink"), { type: "object" }),
);
const shownLink: Output = { format: "document", schema: serviceLink };

const record = anyOf(
  ...["ApprovedTransaction", "DeclinedTransaction", "CancelledTransaction"].map(schemaRef),
  about("A record that breaks the specification: violations say where.", { type: "object" }),
  about("There is no record.", { type: "null" }),
);
/** What every event and record has. */
const summary: Members = {
  outcome: oneOf(...OUTCOMES),
  "reason?": about("Why the outcome is UNCLEAR.", text),
  ...each(about("As received; null if it is missing."), "amount currency reference uti"),
  violations: listOf(schemaRef("Violation")),
};

/** What every line of a command that runs for days has. */
const logged: Members = { at: time, level: oneOf("info", "warning", "error") };
const warning = line("warning", { message: text, ...logged });

const requestLine: Members = {
  method: text,
  url: about("The absolute URI, or the target alone if the host cannot be trusted.", text),
};
const request: Members = { ...requestLine, headers };
const captured = about("A webhook as verify reads it.", object({ ...request, bodyBase64 }));
const received: Members = { id: text, receivedAt: time };
const compactEvent: Members = {
  type: { const: "event" },
  ...received,
  ...logged,
  ...summary,
  "order?": schemaRef("Order"),
  repeated: flag,
  key: orNull(text),
  verdict: schemaRef("Verdict"),
  ...requestLine,
};
const event: Members = { ...compactEvent, headers, record, bodyBase64 };
const rejection: Members = {
  ...received,
  code: schemaRef("Reason"),
  status: about("What the sender was answered.", count),
  ...each(text, "detail check?"),
};
const arriving = [
  schemaRef("Event"),
  about("With --compact.", object(compactEvent)),
  line("rejected", { ...rejection, "hint?": text, ...logged }),
];
const forward: Members = {
  target: text,
  status: about("Null if the application did not answer.", orNull(count)),
  ms: milliseconds,
};
const delivery = orNull(
  object({
    state: oneOf("pending", "delivered", "failed", "skipped"),
    attempts: count,
    isTrying: flag,
    next: orNull(time),
    comesAgain: about("It failed, and the service sends it again.", flag),
  }),
);

const rowProblems = listOf(
  object({ ...each(text, "at message kind?"), ...each(count, "line rows"), lines: listOf(count) }),
);
const before = object(each(count, "paid? open? expired? cancelled? created? unknown? in_flight?"));
const tally = "created sent_before refused not_reached unknown left invalid skipped not_sent";
const withoutLink = about("Orders whose earlier links have ended, and which have no new one.", listOf(text));
const perhapsWithoutLink = about(
  "The same, where it is not known whether they have a new one.",
  listOf(text),
);
const list: Members = {
  ...each(orNull(text), "profile service"),
  rows: count,
  read: about("Links of the service that were read.", count),
  since: orNull(time),
  elsewhere: about("Rows of which the service has a link that neither memory nor results know.", count),
  uncompared: about("Rows whose link only a results file has, and nobody knows what it is for.", count),
  sums: about("The amounts by currency.", { type: "object", additionalProperties: text }),
  unsent_columns: listOf(text),
  warnings: rowProblems,
};

/** What else became of a profile whose setting was changed. */
const CHANGED: Members = { "also?": listOf(text), "forgotten?": listOf(oneOf("token", "clientSecret")) };
/** How many, and their sums. */
const sumsByCurrency = listOf(object({ currency: text, amount: { type: "number" } }));
const countedSums = object({ count, sums: sumsByCurrency });

const source = oneOf("environment", "profile", "service", "default");

/** The types that several outputs have in common. */
export const components = (): Members => ({
  ...SCHEMAS,
  Check: object({ ...each(text, "check detail"), ok: flag }),
  Event: object(event),
  Order: about(
    "How an order stands: of an event that has just arrived as of then, else as of now. What is not known is left out.",
    object({
      number: text,
      standing: oneOf(...STANDINGS),
      ...each(sumsByCurrency, "paid? missing? surplus?"),
      "payable?": about("The ids of the links that can still be paid.", listOf(text)),
    }),
  ),
  Problem: object({
    at: about("The flag, the field, or the file and line.", text),
    message: text,
    "value?": about("As it was typed.", text),
    "instead?": about("What was probably meant.", text),
  }),
  Reason: about("Why a webhook is refused: paylink help reasons.", oneOf(...Object.keys(REASONS))),
  Verdict: object(storedVerdict),
  Violation: object({
    code: schemaRef("Reason"),
    path: about("The field; empty for the whole body.", text),
    message: text,
  }),
});

/** By the name of the command. A command that is missing here takes no `--json`. */
export const outputs = (): Readonly<Record<string, Output>> => ({
  create: {
    format: "documents",
    schema: anyOf(
      serviceLink,
      about("With --dry-run: the request.", schemaRef("PaymentLinkRequest")),
      about("With --curl.", object({ curl: text })),
    ),
  },
  "links list": lines(serviceLink),
  "links show": shownLink,
  "links update": shownLink,
  "links cancel": { format: "documents", schema: serviceLink },
  bulk: lines(
    line("row", {
      line: count,
      status: oneOf("created", "refused", "not_reached", "unknown", "not_sent", "invalid", "skipped"),
      ...each(text, "id? url? error?"),
      "problems?": listOf(schemaRef("Problem")),
    }),
    line("summary", {
      ...list,
      ...each(count, tally),
      without_link: withoutLink,
      perhaps_without_link: perhapsWithoutLink,
      violations: rowProblems,
      "output?": text,
    }),
    about(
      "With --dry-run.",
      line("summary", { ...list, ...each(count, "invalid sent_before links"), before, first: anything }),
    ),
    warning,
  ),
  transaction: document({ ...summary, record }),
  listen: lines(
    line("ready", {
      store: orNull(text),
      keys: about("The thumbprints of the keys of this run.", listOf(text)),
      url: text,
      "urls?": listOf(text),
      ...each(text, "publicUrl? admin? notice?"),
      "verifyWith?": about("The file with the public key that verifies what is forwarded.", orNull(text)),
      ...logged,
    }),
    ...arriving,
    line("forward", {
      id: text,
      ...forward,
      ...each(text, "detail? hint?"),
      "attempt?": count,
      "state?": oneOf("pending", "failed", "delivered"),
      "next?": orNull(time),
      ...logged,
    }),
    line("deleted", { before: time, ...each(count, "events rejections"), ...logged }),
    warning,
    line("summary", { ...each(count, "received verified rejected forwarded failed"), ...logged }),
  ),
  "events list": lines(
    object({ ...event, repeats: count, delivery }),
    about("With --rejected.", line("rejected", { ...rejection, "hint?": text, ...logged })),
    about("Without --limit, where there are more.", line("summary", { shown: count, of: count, ...logged })),
  ),
  "events show": {
    format: "document",
    schema: anyOf(
      about(
        "Of an order number with several events.",
        object({ order: orNull(schemaRef("Order")), events: listOf(schemaRef("Event")) }),
      ),
      object({
        ...event,
        arrivals: listOf(object(received)),
        attempts: listOf(
          object({
            at: time,
            ...forward,
            detail: text,
            failure: about("Why there was no answer.", orNull(oneOf(...SEND_FAILURES))),
            reply: about(
              "What the application answered.",
              orNull(object({ headers: listOf(listOf(text)), text })),
            ),
            isReplay: flag,
          }),
        ),
        actions: listOf(object({ at: time, action: oneOf("retry", "skip", "accept"), actor: text })),
        delivery,
      }),
      line("rejected", {
        ...rejection,
        verdict: orNull(schemaRef("Verdict")),
        request: orNull(captured),
      }),
    ),
  },
  "events stats": document({
    keys: listOf(
      object({
        key: text,
        ...each(object({ events: count, sums: listOf(text) }), "pending failed comesAgain skipped delivered"),
        oldest: orNull(time),
        overdue: milliseconds,
      }),
    ),
    refused: { type: "object", additionalProperties: count },
    attempts: listOf(object({ target: text, ...each(count, "accepted refused unanswered") })),
    lastAttempt: orNull(time),
  }),
  "events replay": lines(
    line("forward", { ...each(text, "id uti detail hint?"), ...forward }),
    about(
      "With --compare.",
      line("difference", {
        ...each(text, "id uti outcome reference detail hint?"),
        recorded: object({ at: time, target: text, status: count }),
        ...forward,
      }),
    ),
    about(
      "With --compare.",
      line("summary", each(count, "compared differ unreached unanswered untargeted otherKey")),
    ),
  ),
  "events tail": lines(line("ready", { store: text, ...logged }), ...arriving, warning),
  "events retry": document(each(count, "due unchanged otherKey")),
  "events skip": document({ skipped: count }),
  "events accept": document({ accepted: listOf(text), ...each(count, "refused otherTerminal") }),
  "events prune": document({ before: time, ...each(count, "events rejections") }),
  verify: document({
    ...explainedVerdict,
    "refused?": about("What listen answers before it verifies.", object({ status: count, code: text })),
    ...summary,
    outcome: oneOf(...OUTCOMES, null),
    record,
  }),
  trigger: lines(
    line("answer", { url: text, uti: anything, status: count, ms: milliseconds, body: text, "hint?": text }),
    about("With --dry-run.", captured),
  ),
  check: document({
    url: text,
    ...each(count, "passed failed warnings"),
    cases: listOf(
      object({
        ...each(text, "name description consequence answered"),
        ...each(flag, "required ok"),
        expects: oneOf("accepted", "refused", "answered"),
        statuses: listOf(orNull(count)),
        "said?": about("What a wrong answer said, and why it was probably given.", text),
      }),
    ),
    "cause?": about("Why no genuine webhook is accepted, or why forged ones are.", text),
    notExamined: about("Where all is right: what this check could not tell.", listOf(text)),
    "books?": about(
      "With --books.",
      object({
        orders: count,
        late: about("Payments that were not booked yet when the answer came.", count),
        findings: listOf(
          object({
            ...each(text, "order message"),
            finding: oneOf("not booked", "twice", "differs", "not paid"),
          }),
        ),
      }),
    ),
  }),
  reconcile: lines(
    line("finding", {
      finding: oneOf(...FINDINGS),
      ...each(orNull(text), "invoiceId currency link uti next"),
      amount: about("What is missing or too much; null if it is not known.", orNull({ type: "number" })),
      detail: text,
    }),
    line("summary", {
      ...each(time, "since until"),
      ...each(countedSums, "paid agree reusable"),
      "unnamed?": about("Lines of the books without an order number or an amount.", countedSums),
      "notice?": about("Why nothing can be found in the event store.", text),
      findings: about("By the name of the finding.", { type: "object", additionalProperties: countedSums }),
    }),
    about("With order numbers.", line("step", { invoiceId: text, at: time, what: text, detail: text })),
    line("verdict", {
      invoiceId: text,
      agrees: flag,
      verdict: text,
      "order?": about(
        "Not of a reusable link, each payment of which is an order of its own.",
        schemaRef("Order"),
      ),
      next: orNull(text),
    }),
  ),
  inspect: lines(line("ready", { url: text, ...logged }), warning),
  sandbox: lines(
    line("ready", { url: text }),
    line("dashboard", { url: text }),
    line("settings", {
      cover: listOf(text),
      created: flag,
      duplicateInvoices: oneOf("accept", "refuse"),
      tokenAuth: oneOf("post", "basic"),
    }),
    line("link", each(text, "id url")),
    line("payment", { linkId: text, record }),
    line("updated", { id: text }),
    line("cancelled", { id: text }),
    line("delivery", { ...each(text, "id uti url state detail"), attempt: count, status: orNull(count) }),
    warning,
  ),
  "sandbox advance": document({ now: time }),
  "sandbox rotate-key": document({ keyid: text }),
  "sandbox fail": document({
    faults: listOf(object({ ...each(text, "operation fault"), count: orNull(count) })),
  }),
  "sandbox reset": document({}),
  pay: document({ ...summary, record }),
  test: document({
    type: { const: "summary" },
    command: listOf(text),
    ...each(count, "exit created approved partiallyApproved declined cancelled"),
    ...each(count, "delivered undelivered rejected forwarded lost"),
  }),
  demo: lines(line("step", { step: text, ok: { const: true } })),
  login: document(each(text, "profile baseUrl terminalId current")),
  logout: document({ profile: text, loggedOut: { const: true } }),
  status: document({
    profile: orNull(text),
    ok: flag,
    checks: listOf(
      object({
        ...each(text, "check detail"),
        state: oneOf("ok", "warning", "failed", "skipped"),
        remedy: orNull(text),
      }),
    ),
  }),
  "profiles list": document({
    current: orNull(text),
    profiles: listOf(
      object({
        name: text,
        current: flag,
        ...each(orNull(text), "service baseUrl terminalId"),
        label: oneOf("LIVE", "TEST", "CUSTOM", "LOCAL", "sandbox", null),
      }),
    ),
  }),
  "profiles use": document({ current: text }),
  "profiles remove": document({ removed: text, current: orNull(text) }),
  "config list": document({
    profile: orNull(object({ name: text, source: oneOf("current", "environment", "flag") })),
    settings: about("By the key of each setting.", {
      type: "object",
      additionalProperties: orNull(object({ value: anything, source })),
    }),
    unknown: about(
      "Members of the settings file that are not settings.",
      listOf(object({ at: text, "nearest?": text })),
    ),
  }),
  "config get": document({ key: text, value: anything, source: orNull(source) }),
  "config set": document({ ...each(text, "profile key"), value: anything, ...CHANGED }),
  "config unset": document({ ...each(text, "profile key"), value: { type: "null" }, ...CHANGED }),
  "config path": document({ path: text }),
  help: {
    format: "document",
    schema: about("The whole program, or the text of a topic.", { type: "object" }),
  },
  version: document({ version: text }),
});

/** What scripts need besides the message. Each failure has the members that it knows. */
const details: Members = {
  "problems?": listOf(schemaRef("Problem")),
  "hint?": about("What to do next.", text),
  ...each(about("What the service answered.", anything), "status? service? body? location? retryAfter?"),
  "code?": about("The service's own code, or why a webhook was rejected."),
  ...each(text, "id? link? linkStatus? uti? answered?"),
  "without_link?": withoutLink,
  "perhaps_without_link?": perhapsWithoutLink,
  ...each(text, "outcome? reason? database? path?"),
  ...each(listOf(text), "missing? failed?"),
  ...each(about("Of rows.", count), `rows? misplaced? respelled? changed? ${tally.replace(/(?= |$)/g, "?")}`),
};

/** What is on stderr: nothing, or one of these. */
export const errorOutput = (): JsonSchema =>
  anyOf(
    object({
      error: object({ code: oneOf(...Object.keys(FAILURES)), message: text, details: object(details) }),
      "warnings?": listOf(text),
      "output?": about("The result, if stdout could not be written.", text),
      "at?": about("Of a command that runs for days, as its lines have it.", time),
      "level?": oneOf("info", "error"),
    }),
    about("After a success.", object({ warnings: listOf(text) })),
  );
