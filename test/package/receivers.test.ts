/** The receivers of `paylink help webhooks`, each with the runtime of its language: what they accept and refuse, and which payment they book. */
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { createHash, createHmac, createPrivateKey, createPublicKey, sign, type KeyObject } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { bodyOf, histories } from "../orders/vectors.ts";
import { type Keys, KEYS, OTHER_KEYS } from "../support/keys.ts";
import { runPaylink } from "../support/paylink.ts";
import { freePort } from "../support/ports.ts";
import { statusOf } from "../support/raw-client.ts";
import {
  deliveryCases,
  rawRequest,
  vectorFile,
  webhookRequest,
  type WebhookCase,
} from "../support/vectors.ts";
import { type PublicProblem, publicProblem } from "../../src/domain/reasons.ts";
import { formatRequest } from "../../src/http/capture.ts";

const FILES = resolve(import.meta.dirname, "../../src/texts/receivers");
const PATH = "/webhooks/paylink";

interface SampleOrder {
  readonly number: string;
  readonly amount: string;
  readonly currency: string;
}

const listOf = (orders: readonly SampleOrder[], one: (order: SampleOrder) => string): string =>
  orders.map(one).join(", ");

interface Language {
  readonly file: string;
  /** Ends with 0 where the runtime and what it needs are installed. */
  readonly probe: readonly string[];
  readonly compile?: readonly string[];
  readonly run: (port: string) => readonly string[];
  /** How it asks for the time, and the time of the vectors in its place. */
  readonly clock: readonly [asked: string, fixed: string];
  /** The list of terminals, and one with T-1. */
  readonly terminals: readonly [none: string, one: string];
  /** The source of its sample orders, and of others. */
  readonly orders: readonly [sample: string, others: (orders: readonly SampleOrder[]) => string];
  /** It reads the key with each request, and not when it starts. */
  readonly readsKeyLate?: boolean;
  /** Cases that its server does not survive. */
  readonly unsent?: readonly string[];
}

/** Debian's Python has python3-cryptography; another one in PATH may not. */
const PYTHON = "/usr/bin/python3";

const LANGUAGES: Readonly<Record<string, Language>> = {
  PHP: {
    file: "receiver.php",
    probe: ["php", "-r", "exit(extension_loaded('openssl') ? 0 : 1);"],
    run: (port) => ["php", "-S", `127.0.0.1:${port}`, "receiver.php"],
    clock: ["time()", "1700000060"],
    terminals: ["const TERMINALS = []", "const TERMINALS = ['T-1']"],
    orders: [
      "['INV-1001' => ['10.00', 'EUR']]",
      (orders) => `[${listOf(orders, (one) => `'${one.number}' => ['${one.amount}', '${one.currency}']`)}]`,
    ],
    readsKeyLate: true,
    // PHP's server for development ends at a length that it cannot read, and at one header in two spellings.
    unsent: [
      "has two lines of its length",
      "writes its length with a sign",
      "has a second line of its digest, in capitals",
    ],
  },
  Python: {
    file: "receiver.py",
    probe: [PYTHON, "-c", "import cryptography"],
    run: () => [PYTHON, "receiver.py"],
    clock: ["int(time.time())", "1700000060"],
    terminals: ["TERMINALS = []", 'TERMINALS = ["T-1"]'],
    orders: [
      '{"INV-1001": (Decimal("10.00"), "EUR")}',
      (orders) =>
        `{${listOf(orders, (one) => `"${one.number}": (Decimal("${one.amount}"), "${one.currency}")`)}}`,
    ],
  },
  Go: {
    file: "receiver.go",
    probe: ["go", "version"],
    compile: ["go", "build", "-o", "receiver", "receiver.go"],
    run: () => ["./receiver"],
    clock: ["time.Now()", "time.Unix(1700000060, 0)"],
    terminals: ["map[string]bool{}", 'map[string]bool{`"T-1"`: true}'],
    orders: [
      'map[string]*big.Rat{"INV-1001": big.NewRat(1000, 100)}[reference], "EUR"',
      (orders) =>
        `map[string]*big.Rat{${listOf(orders, (one) => `"${one.number}": big.NewRat(${Math.round(Number(one.amount) * 1000)}, 1000)`)}}[reference], map[string]string{${listOf(orders, (one) => `"${one.number}": "${one.currency}"`)}}[reference]`,
    ],
  },
  Ruby: {
    file: "receiver.rb",
    probe: ["ruby", "-rwebrick", "-ropenssl", "-e", ""],
    run: () => ["ruby", "receiver.rb"],
    clock: ["Time.now.to_i", "1700000060"],
    terminals: ["TERMINALS = []", 'TERMINALS = ["T-1"]'],
    orders: [
      '{ "INV-1001" => ["10.00", "EUR"] }',
      (orders) => `{ ${listOf(orders, (one) => `"${one.number}" => ["${one.amount}", "${one.currency}"]`)} }`,
    ],
  },
  Java: {
    file: "Receiver.java",
    probe: ["javac", "--version"],
    // java Receiver.java does both, more slowly.
    compile: ["javac", "Receiver.java"],
    run: () => ["java", "Receiver"],
    clock: ["System.currentTimeMillis() / 1000", "1700000060"],
    terminals: ["TERMINALS = Set.of()", 'TERMINALS = Set.of("T-1")'],
    orders: [
      'Map.of("INV-1001", new Order(new BigDecimal("10.00"), "EUR"))',
      (orders) =>
        `Map.ofEntries(${listOf(orders, (one) => `Map.entry("${one.number}", new Order(new BigDecimal("${one.amount}"), "${one.currency}"))`)})`,
    ],
  },
};

interface Changes {
  readonly key?: KeyObject;
  /** The record as JSON text, or its bytes. */
  readonly body?: string | Uint8Array;
  readonly digest?: string;
  readonly contentType?: string;
  readonly length?: string;
  /** The list of components as it is signed. */
  readonly covered?: string;
  /** The parameters as they are signed. */
  readonly parameters?: string;
  /** Of what is sent: the components, the parameters and the base64 of the signature. */
  readonly input?: (covered: string, parameters: string) => string;
  readonly signature?: (base64: string) => string;
  readonly lines?: (lines: readonly string[]) => readonly string[];
  readonly start?: string;
  readonly sent?: Uint8Array;
}

const COVERED = '"content-digest" "content-length" "content-type"';
const now = (): number => Math.floor(Date.now() / 1000);
const created = (): string => `;created=${now()};keyid="k";alg="rsa-v1_5-sha256"`;

let number = 0;
const RECORD = {
  transApproved: true,
  transPartiallyApproved: false,
  transCancelled: false,
  amountTrans: 10.5,
  transCurrencyCode: "EUR",
  reference: "INV-1001",
  status: "Complete",
};
const record = (changes: object = {}): string =>
  JSON.stringify({ uti: `U-${(number += 1)}`, ...RECORD, ...changes });

/** A webhook as bytes, signed without the code of paylink. */
function webhook(changes: Changes = {}): Uint8Array {
  const body = Buffer.from(changes.body ?? record());
  const hash = createHash("sha256").update(body).digest("base64");
  const values: Readonly<Record<string, string>> = {
    "content-digest": changes.digest ?? `sha-256=:${hash}:`,
    "content-length": changes.length ?? String(body.length),
    "content-type": changes.contentType ?? "application/json; charset=utf-8",
  };
  const { covered = COVERED, parameters = created() } = changes;
  const components = covered.match(/"[^"]*"(?:;[^ ]*)?/g) ?? [];
  const base = components.map((name) => `${name}: ${values[name.split('"')[1] ?? ""] ?? ""}\n`).join("");
  const signed = `${base}"@signature-params": (${covered})${parameters}`;
  const base64 = sign("sha256", Buffer.from(signed, "latin1"), changes.key ?? KEYS.privateKey).toString(
    "base64",
  );
  const { input = (list, rest) => `sig1=(${list})${rest}`, signature = (text) => `sig1=:${text}:` } = changes;
  const lines = [
    "Host: shop.test",
    `Content-Type: ${values["content-type"]}`,
    `Content-Digest: ${values["content-digest"]}`,
    `Content-Length: ${values["content-length"]}`,
    `Signature-Input: ${input(covered, parameters)}`,
    `Signature: ${signature(base64)}`,
    "Connection: close",
  ];
  const head = [changes.start ?? `POST ${PATH} HTTP/1.1`, ...(changes.lines?.(lines) ?? lines)].join("\r\n");
  return Buffer.concat([Buffer.from(`${head}\r\n\r\n`, "latin1"), changes.sent ?? body]);
}

const negative = vectorFile<{ cases: (WebhookCase & { raw_base64?: string })[] }>("webhook-negative").cases;
const NEGATIVE_VECTORS = negative.map((vector): [string, Uint8Array] => [
  vector.id,
  vector.raw_base64 === undefined
    ? formatRequest(webhookRequest(vector))
    : Buffer.from(vector.raw_base64, "base64"),
]);

const plus =
  (...more: string[]) =>
  (lines: readonly string[]): readonly string[] => [...lines, ...more];

const edited =
  (pattern: RegExp, text: string) =>
  (lines: readonly string[]): readonly string[] =>
    lines.map((line) => line.replace(pattern, text));

/** In chunks of a size, so that Content-Length, which is signed, does not arrive. */
function inChunks(body: string, size: number): Changes {
  const bytes = Buffer.from(body);
  const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) => {
    const chunk = bytes.subarray(at * size, (at + 1) * size);
    return Buffer.concat([Buffer.from(`${chunk.length.toString(16)}\r\n`), chunk, Buffer.from("\r\n")]);
  });
  return {
    body,
    lines: (lines) => [
      ...lines.filter((line) => !line.startsWith("Content-Length")),
      "Transfer-Encoding: chunked",
    ],
    sent: Buffer.concat([...chunks, Buffer.from("0\r\n\r\n")]),
  };
}

/** The form in which the service signs, and a body of any kind. */
const ACCEPTED: Readonly<Record<string, () => Changes>> = {
  "as the service signs": () => ({}),
  "without parameters": () => ({ parameters: "" }),
  "with created alone": () => ({ parameters: `;created=${now()}` }),
  "with the parameters in another order": () => ({
    parameters: `;alg="rsa-v1_5-sha256";keyid="k (1)";created=${now()}`,
  }),
  "with a second signature in lines of its own": () => ({
    lines: plus('Signature-Input: relay=("@query-param";name="a, b");n=-1.5;f', "Signature: relay=:AAAA:"),
  }),
  "with a second signature on the same lines, before sig1": () => ({
    input: (list, rest) => `a=()\t ,\t sig1=(${list})${rest}`,
    signature: (base64) => `a=::,sig1=:${base64}:`,
  }),
  "with names of headers in capitals": () => ({
    lines: (lines) => lines.map((line) => line.replace(/^[^:]+/, (name) => name.toUpperCase())),
  }),
  "with white space around the values": () => ({
    lines: (lines) =>
      lines.map((line) => line.replace(/^((?:Content-[DT]|Signature)[^:]+): (.*)$/, "$1: \t $2 \t")),
  }),
  "with another spelling of its media type": () => ({ contentType: 'Application/JSON;charset="UTF-8"' }),
  "with a query": () => ({ start: `POST ${PATH}?shop=1 HTTP/1.1` }),
  "with a body that is not JSON": () => ({ body: "hello" }),
  "with a body that is not UTF-8": () => ({ body: Buffer.from('{"uti":"\xff"}', "latin1") }),
  "with an empty body": () => ({ body: "" }),
  "in one chunk": () => inChunks(record(), 4096),
  "in chunks of one byte": () => inChunks(record(), 1),
  "in chunks, without a body": () => inChunks("", 1),
  "with a list for a record": () => ({ body: "[]" }),
  "with a record that is nested deeply": () => ({ body: `${"[".repeat(30_000)}${"]".repeat(30_000)}` }),
  "with a long string": () => ({ body: record({ merchantName: '\\"é'.repeat(10_000) }) }),
  "with a number of many digits": () => ({ body: record().replace("10.5", `1${"0".repeat(50_000)}.5`) }),
  "with a number of a large exponent": () => ({ body: record().replace("10.5", "1e999999999") }),
  "with fields of every wrong type": () => ({
    body: JSON.stringify(Object.fromEntries(Object.keys({ uti: 1, ...RECORD }).map((name) => [name, [{}]]))),
  }),
};

/** Signed as they are sent, where that is possible: a verifier that is not strict would accept them. */
const REFUSED: Readonly<Record<string, () => Changes>> = {
  "signs less": () => ({ covered: '"content-digest" "content-type"' }),
  "signs nothing": () => ({ covered: "" }),
  "signs more": () => ({ covered: `${COVERED} "host"` }),
  "signs in another order": () => ({ covered: '"content-type" "content-digest" "content-length"' }),
  "signs a member of the digest only": () => ({
    covered: COVERED.replace('"content-digest"', '"content-digest";key="sha-256"'),
  }),
  "separates components by two spaces": () => ({
    input: (list, rest) => `sig1=(${list.replaceAll(" ", "  ")})${rest}`,
  }),
  "has a parameter twice": () => ({ parameters: `;created=${now()};created=${now()}` }),
  "has a nonce": () => ({ parameters: `${created()};nonce="n"` }),
  "has expires": () => ({ parameters: `${created()};expires=${now() + 60}` }),
  "has created with a fraction": () => ({ parameters: `;created=${now()}.0` }),
  "has created with leading zeros": () => ({ parameters: `;created=00${now()}` }),
  "has a negative created": () => ({ parameters: ";created=-1" }),
  "has created of 16 digits": () => ({ parameters: ";created=1000000000000000" }),
  "has created without a value": () => ({ parameters: ";created" }),
  "has created as text": () => ({ parameters: `;created="${now()}"` }),
  "has a keyid that is a token": () => ({ parameters: ";keyid=k" }),
  "has a keyid outside ASCII": () => ({ parameters: ';keyid="\u00e9"' }),
  "has an alg of JOSE": () => ({ parameters: ';alg="RS256"' }),
  "is signed by HMAC with the public key": () => ({
    parameters: ';alg="hmac-sha256"',
    signature: () => `sig1=:${createHmac("sha256", KEYS.publicPem).update("").digest("base64")}:`,
  }),
  "is too old": () => ({ parameters: `;created=${now() - 400}` }),
  "is from the future": () => ({ parameters: `;created=${now() + 120}` }),
  "counts milliseconds": () => ({ parameters: `;created=${Date.now()}` }),
  "has sig1 twice on one line": () => ({
    input: (list, rest) => `sig1=(${list})${rest}, sig1=(${list})${rest}`,
  }),
  "has sig1 twice in two lines": () => ({ lines: plus("Signature-Input: sig1=()") }),
  "has two signatures sig1": () => ({ lines: plus("Signature: sig1=:AAAA:") }),
  "has a keyid that could be a second signature": () => ({ parameters: ';keyid="k, sig1=()"' }),
  "has a signature of another label alone": () => ({
    input: (list, rest) => `sig2=(${list})${rest}`,
    signature: (base64) => `sig2=:${base64}:`,
  }),
  "has a label in capitals": () => ({ input: (list, rest) => `SIG1=(${list})${rest}` }),
  "has a signature without its end": () => ({ signature: (base64) => `sig1=:${base64}` }),
  "has an empty signature": () => ({ signature: () => "sig1=::" }),
  "has a short signature": () => ({ signature: (base64) => `sig1=:${base64.slice(0, 100)}:` }),
  "has a signature of zeros": () => ({ signature: () => `sig1=:${"A".repeat(342)}==:` }),
  "has a signature with too much padding": () => ({ signature: (base64) => `sig1=:${base64}==:` }),
  "has a signature without padding": () => ({
    signature: (base64) => `sig1=:${base64.replaceAll("=", "")}:`,
  }),
  "has a signature with a space": () => ({
    signature: (base64) => `sig1=:${base64.slice(0, 8)} ${base64.slice(8)}:`,
  }),
  "has a signature in the alphabet of URLs": () => ({ signature: () => `sig1=:${"-_".repeat(171)}==:` }),
  "has a signature that is a string": () => ({ signature: (base64) => `sig1="${base64}"` }),
  "has many parameters": () => ({ parameters: ';keyid="k"'.repeat(700) }),
  "has SHA-512 only": () => ({ digest: `sha-512=:${"A".repeat(86)}==:` }),
  "has a second digest": () => ({ digest: `sha-256=:${"A".repeat(43)}=:, sha-512=:${"A".repeat(86)}==:` }),
  "has no digest of its body": () => ({ digest: `sha-256=:${"A".repeat(43)}=:` }),
  "has a second line of its media type": () => ({
    lines: plus("Content-Type: application/json; charset=utf-8"),
  }),
  "has a second line of its digest, in capitals": () => ({ lines: plus("CONTENT-DIGEST: sha-256=:AAAA:") }),
  "has two lines of its length": () => ({ lines: plus("Content-Length: 1") }),
  "spells a header with an underscore": () => ({ lines: edited(/^Content-Digest/, "Content_Digest") }),
  "has a space before a colon": () => ({ lines: edited(/^Content-Digest:/, "Content-Digest :") }),
  "writes its length with zeros": () => ({ length: "0010", body: "0123456789" }),
  "writes its length with a sign": () => ({ length: "+10", body: "0123456789" }),
  "is larger than a body may be, in chunks": () =>
    inChunks(record({ merchantName: "x".repeat(64 * 1024) }), 4096),
  "has an encoded body": () => ({ lines: plus("Content-Encoding: gzip") }),
  "has a body that was encoded twice": () => ({
    lines: plus("Content-Encoding: identity", "Content-Encoding: gzip"),
  }),
  "has another media type": () => ({ contentType: "text/plain" }),
  "has another media type with the same beginning": () => ({ contentType: "application/json-seq" }),
  "is sent with PUT": () => ({ start: `PUT ${PATH} HTTP/1.1` }),
  "is sent with GET": () => ({ start: `GET ${PATH} HTTP/1.1` }),
  "is sent to another path": () => ({ start: "POST /webhooks HTTP/1.1" }),
  "is sent below the path": () => ({ start: `POST ${PATH}/x HTTP/1.1` }),
  "is larger than a body may be": () => ({ body: record({ merchantName: "x".repeat(64 * 1024) }) }),
};

/** The text of the amount, and the other fields, of payments that pay the order: 10.00 EUR for INV-1001. */
const PAYS: readonly [amount: string, changes?: object][] = [
  ["10"],
  ["10.0"],
  ["10.00"],
  ["1e1"],
  ["1.000E+1"],
  ["1000e-2"],
  ['"10.00"'],
  ["10", { transCurrencyCode: "eur", status: "COMPLETE" }],
  ["10", { status: undefined, transPartiallyApproved: undefined }],
  ["10", { transType: "SALE" }],
  // A part that is all of it.
  ["10", { transPartiallyApproved: true }],
  // Of what it does not ask for, the type does not matter.
  ["10", { terminalId: 1 }],
  ["10", { status: null, transPartiallyApproved: null, loyalty: { amountTrans: 9 } }],
];

const DOES_NOT_PAY: readonly [amount: string, changes?: object][] = [
  ["9.99"],
  ["10.001"],
  // The nearest floating-point number is 10.
  ["10.000000000000000001"],
  ["-10"],
  ["1e2"],
  ["1e1000000"],
  ['""'],
  ['" 10"'],
  ['"0x0A"'],
  ["null"],
  ["[10]"],
  ["10", { transCurrencyCode: "USD" }],
  ["10", { transCurrencyCode: undefined }],
  ["10", { transApproved: false }],
  ["10", { transApproved: "true" }],
  ["10", { transApproved: undefined }],
  ["10", { transCancelled: true }],
  ["10", { transCancelled: undefined }],
  ["10", { transPartiallyApproved: "false" }],
  ["10", { transType: "AUTH" }],
  ["10", { transType: "pre-auth" }],
  ["10", { transType: "VERIFICATION" }],
  ["10", { status: "Pending" }],
  ["10", { status: "" }],
  ["10", { uti: undefined }],
  ["10", { uti: "" }],
  ["10", { reference: "INV-1002" }],
  ["10", { reference: undefined }],
  ["10", { reference: "toString" }],
  ["10", { reference: 'A-1\nAPPROVED, "INV-1001" booked' }],
];

const payment = (amount: string, changes: object = {}): string =>
  record({ ...changes, amountTrans: "AMOUNT" }).replace('"AMOUNT"', amount);

const SECONDS = 90_000;

/** What every receiver says where it has no key, or what it has is none. */
const KEY_NEEDED = /set PAYLINK_WEBHOOK_KEY .*this is n/i;

const spki = (pem: string): string => createPublicKey(pem).export({ type: "spki", format: "pem" }).toString();

interface KeySource {
  readonly id: string;
  readonly text?: string;
  readonly base64?: string;
  readonly json?: object;
  readonly thumbprints: readonly string[];
  /** The languages that take every key of it. The others refuse it at their start. */
  readonly receivers?: "all" | readonly string[];
}

const { sources, private_keys: signers } = vectorFile<{
  sources: readonly KeySource[];
  private_keys: readonly { thumbprint: string; pem: string }[];
}>("key-sources");

const bytesOfSource = ({ text, base64 = "", json }: KeySource): Buffer =>
  json === undefined && text === undefined
    ? Buffer.from(base64, "base64")
    : Buffer.from(text ?? JSON.stringify(json));

describe.each(Object.entries(LANGUAGES))(
  "the receiver in %s",
  (language, { file, probe, compile, run, clock, terminals, orders, unsent = [], readsKeyLate = false }) => {
    const folder = mkdtempSync(join(tmpdir(), "paylink-receiver-"));
    const app = join(folder, "app");
    const isInstalled = spawnSync(probe[0] ?? "", probe.slice(1)).status === 0;
    /** Its exit code, or what it answers where it has no key. */
    const REFUSES_KEY = readsKeyLate ? 500 : 1;
    let server: Awaited<ReturnType<typeof launch>>;

    /** Starts it at a free port with these variables: what it answers and says, and its exit code when it ends. */
    async function launch(variables: Readonly<Record<string, string>>, cwd = app) {
      const port = await freePort();
      const [command = "", ...args] = run(port);
      const none = { PAYLINK_WEBHOOK_KEY: "", PAYLINK_WEBHOOK_KEY_FILE: "" };
      const env = { ...process.env, PORT: port, TMPDIR: folder, ...none, ...variables };
      const child = spawn(command, args, { cwd, env, stdio: ["ignore", "ignore", "pipe"] });
      let text = "";
      child.stderr.setEncoding("utf8").on("data", (more: string) => void (text += more));
      const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
      const status = (bytes: Uint8Array) => statusOf(Number(port), bytes);
      return {
        port,
        status,
        /** As `status`, once it listens. */
        firstStatus: (bytes: Uint8Array) => vi.waitFor(() => status(bytes), { timeout: SECONDS }),
        ended,
        text: () => text,
        stop: async (): Promise<void> => {
          child.kill("SIGKILL");
          await ended;
        },
      };
    }

    const listening = async (cwd = app) => {
      const one = await launch({ PAYLINK_WEBHOOK_KEY: KEYS.publicPem }, cwd);
      await one.firstStatus(webhook({ start: "GET / HTTP/1.1" }));
      return one;
    };

    /** Runs it until it ends or, with a key that it takes, has answered a webhook: its exit code or its answer, and what it says. */
    async function firstWords(variables: Readonly<Record<string, string>>) {
      const one = await launch(variables);
      const answering = one.firstStatus(webhook());
      answering.catch(() => undefined);
      const status = await Promise.race([answering, one.ended]);
      await one.stop();
      return { status, text: one.text() };
    }

    function install(cwd: string, change: (source: string) => string): void {
      mkdirSync(cwd);
      writeFileSync(join(cwd, file), change(readFileSync(join(FILES, file), "utf8")));
      const [compiler, ...args] = compile ?? [];
      if (compiler !== undefined) execFileSync(compiler, args, { cwd });
    }

    let accepted = 0;
    async function post(changes: Changes): Promise<number> {
      const status = await server.status(webhook(changes));
      if (status === 200) accepted += 1;
      return status;
    }

    /** 0 for a connection that was closed without an answer. */
    async function answersTo(cases: Readonly<Record<string, () => Changes>>): Promise<[string, number][]> {
      const answers: [string, number][] = [];
      for (const [one, changes] of Object.entries(cases).filter(([one]) => !unsent.includes(one)))
        answers.push([one, await post(changes()).catch(() => 0)]);
      return answers;
    }

    /** How often it has said that it booked the order. What it prints may arrive after its answer. */
    async function bookings(): Promise<number> {
      await expect.poll(() => server.text().match(/\b200: /g)?.length ?? 0).toBe(accepted);
      return server.text().match(/INV-1001.? booked$/gm)?.length ?? 0;
    }

    /** Posts it, and resolves with the number of bookings that it led to. */
    async function booked(body: string): Promise<number> {
      const before = await bookings();
      expect([body, await post({ body })]).toEqual([body, 200]);
      return (await bookings()) - before;
    }

    beforeAll(async () => {
      if (!isInstalled) return;
      install(app, (source) => source);
      server = await listening();
    }, 2 * SECONDS);

    beforeEach((test) =>
      test.skip(!isInstalled, `${basename(probe[0] ?? "")} is not installed, or lacks what ${file} needs`),
    );

    afterAll(async () => {
      if (isInstalled) await server.stop();
      rmSync(folder, { recursive: true, force: true });
    });

    it("passes paylink check", async () => {
      const key = join(folder, "private.pem");
      writeFileSync(key, KEYS.privatePem);
      const { code, stdout } = await runPaylink(
        ["check", `http://127.0.0.1:${server.port}${PATH}`, "--sign-with", key, "--json"],
        { home: folder },
      );
      const { cases } = JSON.parse(stdout) as { cases: { name: string; ok: boolean; statuses: number[] }[] };
      accepted += cases.flatMap(({ statuses }) => statuses).filter((status) => status === 200).length;
      // The service does not sign derived components, and the receivers take what it signs.
      const failed = cases.filter(({ ok }) => !ok).map((one) => one.name);
      expect({ code, failed }).toEqual({ code: 0, failed: ["derived", "derived-no-created"] });
    });

    it("accepts what the service signs, and an authentic record of any form", async () => {
      expect((await answersTo(ACCEPTED)).filter(([, status]) => status !== 200)).toEqual([]);
    });

    it("answers Expect: 100-continue, or says in its file that its server does not", async () => {
      const bytes = webhook({ lines: plus("Expect: 100-continue") });
      const head = bytes.subarray(0, Buffer.from(bytes).indexOf("\r\n\r\n") + 4);
      const socket = connect(Number(server.port), "127.0.0.1").setEncoding("latin1");
      const first = new Promise<string>((resolve) => {
        socket.once("data", resolve);
        setTimeout(() => resolve("nothing"), 1_500);
      });
      socket.write(head);
      const isAnswered = (await first).startsWith("HTTP/1.1 100");
      socket.destroy();
      const says = /does not: such a sender waits/.test(readFileSync(join(FILES, file), "utf8"));
      expect({ isAnswered, says }).toEqual({ isAnswered: !says, says });
    });

    it("refuses everything else, and keeps running", async () => {
      const answers = await answersTo(REFUSED);
      expect(answers.filter(([, status]) => status < 400 || status >= 500)).toEqual([]);
      expect(Object.fromEntries(answers)).toMatchObject({
        "has another media type": 415,
        "is sent with PUT": 405,
        "is sent to another path": 404,
        "is larger than a body may be": 413,
      });
      expect(await post({})).toBe(200);
    });

    it("refuses every negative vector, at its time and with its key", async () => {
      const cwd = join(folder, "vectors");
      install(cwd, (source) => source.replaceAll(...clock));
      const atTheirTime = await listening(cwd);
      expect(await atTheirTime.status(webhook({ parameters: ";created=1700000000" }))).toBe(200);
      const accepted: string[] = [];
      for (const [id, bytes] of NEGATIVE_VECTORS)
        if ((await atTheirTime.status(bytes).catch(() => 0)) === 200) accepted.push(id);
      expect(accepted).toEqual([]);
      await atTheirTime.stop();
    });

    it("books only payments of its terminals, if it names some", async () => {
      const cwd = join(folder, "terminals");
      install(cwd, (source) => source.replace(...terminals));
      const one = await listening(cwd);
      for (const terminalId of ["T-2", "t-1", 1, null, undefined, "T-1"])
        expect(await one.status(webhook({ body: record({ amountTrans: 10, terminalId }) }))).toBe(200);
      await expect.poll(() => one.text()).toMatch(/ booked$/m);
      expect(one.text().match(/INV-1001.? booked$/gm)).toHaveLength(1);
      expect(one.text().match(/is not one of our orders/g)).toHaveLength(5);
      await one.stop();
    });

    it("judges each delivery as listen does", async () => {
      const cwd = join(folder, "deliveries");
      const { public_key_pem: key = "" } = deliveryCases()[0]?.context ?? {};
      install(cwd, (source) => source.replaceAll(...clock));
      const one = await launch({ PAYLINK_WEBHOOK_KEY: spki(key) }, cwd);
      await one.firstStatus(webhook({ start: "GET / HTTP/1.1" }));
      const answers: [string, number, boolean][] = [];
      for (const vector of deliveryCases()) {
        const before = one.text().length;
        const status = await one.status(rawRequest(vector)).catch(() => 0);
        if (status === 200) await expect.poll(() => one.text().slice(before)).toMatch(/\b200: .*$/m);
        answers.push([vector.id, status, /INV-1001.? booked$/m.test(one.text().slice(before))]);
      }
      await one.stop();
      expect(answers).toEqual(
        deliveryCases().map(({ id, expected }) => [
          id,
          expected.http_status,
          expected.outcome === "APPROVED",
        ]),
      );
    });

    it("books what pays the order exactly, and nothing else", async () => {
      for (const [amount, changes] of PAYS) {
        const body = payment(amount, changes);
        expect([body, await booked(body)]).toEqual([body, 1]);
      }
      for (const [amount, changes] of DOES_NOT_PAY) {
        const body = payment(amount, changes);
        expect([body, await booked(body)]).toEqual([body, 0]);
      }
      const spaced = JSON.stringify(JSON.parse(payment("10")), undefined, "\t");
      expect(await booked(spaced)).toBe(1);
    });

    it("books each history of orders as it stands, with two keys", async () => {
      const cwd = join(folder, "orders");
      const [sample, others] = orders;
      const known = histories.map(({ number: id, shop: { due } }) => ({
        number: id,
        amount: String(due.amount),
        currency: due.currency,
      }));
      install(cwd, (source) => source.replace(sample, () => others(known)));
      const one = await launch({ PAYLINK_WEBHOOK_KEY: KEYS.publicPem + OTHER_KEYS.publicPem }, cwd);
      await one.firstStatus(webhook({ start: "GET / HTTP/1.1" }));
      const found: [string, boolean][] = [];
      for (const history of histories) {
        let done = "";
        for (const event of history.events) {
          const before = one.text().length;
          // How a shop finds an order whose number is spelled otherwise is its own affair.
          const set = { ...event.set, ...(history.number === "RE 7" ? { reference: "RE 7" } : {}) };
          const key = event.key === 2 ? OTHER_KEYS.privateKey : KEYS.privateKey;
          expect(await one.status(webhook({ body: bodyOf({ ...event, set }, history), key }))).toBe(200);
          await expect.poll(() => one.text().slice(before)).toMatch(/\b200: .*$/m);
          done += one.text().slice(before);
        }
        found.push([history.name, done.includes(history.number) && / booked$/m.test(done)]);
      }
      await one.stop();
      expect(found).toEqual(histories.map(({ name, shop }) => [name, shop.books]));
    });

    it("takes each key of a source, or refuses the source at its start without printing it", async () => {
      const found: [string, readonly string[] | number | null][] = [];
      for (const source of sources) {
        writeFileSync(join(folder, "keys.pem"), bytesOfSource(source));
        const one = await launch({ PAYLINK_WEBHOOK_KEY_FILE: join(folder, "keys.pem") });
        const answering = one.firstStatus(webhook());
        answering.catch(() => undefined);
        const first = await Promise.race([answering, one.ended]);
        const isRefused = first === REFUSES_KEY;
        const taken: string[] = [];
        if (!isRefused)
          for (const { thumbprint, pem } of signers)
            if ((await one.status(webhook({ key: createPrivateKey(pem) }))) === 200) taken.push(thumbprint);
        await one.stop();
        found.push([source.id, isRefused ? first : taken.toSorted()]);
        if (isRefused)
          expect([source.id, one.text()]).toEqual([source.id, expect.stringMatching(KEY_NEEDED)]);
        expect(one.text()).not.toMatch(/PRIVATE KEY-|MII[\w+/]{20}/);
      }
      expect(found).toEqual(
        sources.map(({ id, thumbprints, receivers = [] }) => [
          id,
          receivers === "all" || receivers.includes(language) ? thumbprints.toSorted() : REFUSES_KEY,
        ]),
      );
    });

    it("takes what the old key and the new one sign, while its file changes from one to the other", async () => {
      const file = join(folder, "service.pem");
      const [old, next] = [OTHER_KEYS, KEYS];
      const during = async (text: string, ...signing: Keys[]): Promise<void> => {
        writeFileSync(file, text);
        const one = await launch({ PAYLINK_WEBHOOK_KEY_FILE: file });
        await one.firstStatus(webhook({ start: "GET / HTTP/1.1" }));
        for (const { privateKey: key } of signing) expect(await one.status(webhook({ key }))).toBe(200);
        await one.stop();
      };
      await during(old.publicPem, old);
      await during(old.publicPem + next.publicPem, old, next);
      await during(next.publicPem, next);
    });

    it("tells the sender what it may know, and never which check failed", async () => {
      const told = async (init: RequestInit, path = PATH): Promise<string> => {
        const url = `http://127.0.0.1:${server.port}${path}`;
        const reply = await fetch(url, { method: "POST", body: "{}", ...init });
        expect(reply.headers.get("content-type")).toContain("text/plain");
        return `${reply.status} ${(await reply.text()).trim()}`;
      };
      const json = { "Content-Type": "application/json" };
      const signed = { ...json, Signature: "sig1=:AAAA:" };
      const inText = ({ status, code, detail }: PublicProblem): string => `${status} ${code}: ${detail}`;
      expect({
        unsigned: await told({ headers: json }),
        forged: await told({ headers: signed }),
        put: await told({ headers: json, method: "PUT" }),
        text: await told({ headers: { "Content-Type": "text/plain" } }),
        compressed: await told({ headers: { ...json, "Content-Encoding": "gzip" } }),
        large: await told({ headers: json, body: " ".repeat(64 * 1024 + 1) }),
        elsewhere: await told({ headers: json }, "/webhooks/other"),
      }).toEqual({
        unsigned: inText(publicProblem("unsigned")),
        forged: inText(publicProblem("signature_invalid")),
        put: inText(publicProblem("method_not_allowed")),
        text: inText(publicProblem("unsupported_media_type")),
        compressed: inText(publicProblem("unsupported_content_coding")),
        large: inText(publicProblem("body_too_large")),
        elsewhere: inText(publicProblem("not_found")),
      });
      expect(readFileSync(join(FILES, file), "utf8")).toContain(
        inText(publicProblem("internal_error")).slice(4),
      );
    });

    it("says that it needs a key, and which file is not there", async () => {
      for (const [variables, reason] of [
        [{}, KEY_NEEDED],
        [{ PAYLINK_WEBHOOK_KEY_FILE: "missing.pem" }, /missing\.pem/],
      ] as const) {
        const { status, text } = await firstWords(variables);
        expect(text).toMatch(reason);
        expect(status).toBe(REFUSES_KEY);
        if (!readsKeyLate) expect(text.trim().split("\n").length).toBe(1);
      }
    });

    it("accepts a key whose line ends are written as \\n in its variable", async () => {
      const { status } = await firstWords({ PAYLINK_WEBHOOK_KEY: KEYS.publicPem.replaceAll("\n", "\\n") });
      expect(status).toBe(200);
    });
  },
);
