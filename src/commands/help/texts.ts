/** The texts of the topics of `paylink help`. */
import express from "./recipes/express.mjs?raw";
import fastify from "./recipes/fastify.mjs?raw";
import hono from "./recipes/hono.mjs?raw";
import next from "./recipes/next.mjs?raw";
import node from "./recipes/node.mjs?raw";
import bookings from "./recipes/orders.mjs?raw";

/** Titled parts of a text. They are not wrapped: people copy files and scripts from them. */
export type Guide = Readonly<Record<string, { readonly title: string; readonly text: string }>>;

/** How to test payments in continuous integration. */
export const CI: Guide = {
  test: {
    title: "Around your own tests",
    text: `\
paylink test --forward-to 3000/webhooks -- npm test

Your tests run with a sandbox and a receiver of their own, on free ports, which are
deleted afterwards. Both are found through the environment: PAYLINK_BASE_URL,
PAYLINK_TOKEN, PAYLINK_TERMINAL_ID, PAYLINK_WEBHOOK_KEY and PAYLINK_CALLBACK_URL.
paylink create and paylink pay need no further flags there. Each verified webhook is
forwarded to your application. The exit code is that of your command.`,
  },
  github: {
    title: "GitHub Actions",
    text: `\
      - uses: actions/setup-node@v5
        with: { node-version: 24 }
      - run: npm ci
      - run: npm install --global --ignore-scripts paylink
      - run: paylink test --forward-to 3000/webhooks -- npm test

The repository has an action, .github/actions/paylink, for the last two steps: its
input "run" is the command, and "forward-to" the address of your application.`,
  },
  check: {
    title: "Reports on your endpoint",
    text: `\
paylink check http://127.0.0.1:3000/webhooks --junit webhooks.xml

It posts webhooks that your endpoint must accept and others that it must refuse.
--junit writes JUnit XML for the reports of your CI, --tap prints TAP, and --json
prints JSON. The exit code is 7 if the endpoint fails.`,
  },
  script: {
    title: "A script that starts every part itself",
    text: `\
set -eu
export PAYLINK_HOME=$(mktemp -d) # settings and data of this run alone
callback=http://127.0.0.1:4000/

# The file of an earlier run would look as if this one were ready.
rm -f sandbox.jsonl events.jsonl

paylink sandbox --port 4010 --json > sandbox.jsonl &
sandbox=$!
until grep -qs '"ready"' sandbox.jsonl; do kill -0 $sandbox; sleep 0.1; done

paylink listen --port 4000 --expect approved:2 --expect declined:1 --timeout 30s --json > events.jsonl &
listener=$!
until grep -qs '"ready"' events.jsonl; do kill -0 $listener; sleep 0.1; done

for outcome in approved approved declined; do
  link=$(paylink create --amount 10 --currency EUR \\
    --callback-url $callback --quiet)
  paylink pay "$link" --outcome $outcome
done

wait $listener # 0: all arrived and verified; 7: one did not verify; 8: timed out
kill $sandbox`,
  },
  codes: {
    title: "Exit codes, prompts and time",
    text: `\
paylink create --wait --timeout 60s ends with the outcome of its own payment: 0 if it
was approved, 9 if it was declined or cancelled, 8 if it timed out. paylink help
errors lists every exit code. With --json a failure is one JSON document on stderr,
whose error.code is more specific than the exit code.

There are no prompts in CI. To test expiries and retries without waiting, stop the clock
with paylink sandbox --clock 2026-01-31T12:00:00Z, and move it with
paylink sandbox advance 2h.`,
  },
};

/** How to run `listen` as a service of a machine or in a container. */
export const PRODUCTION: Guide = {
  listen: {
    title: "listen in production",
    text: `\
paylink listen answers 200 once a webhook is verified and stored. Put it behind
your proxy or load balancer, and give the address that the service posts to as
--public-url: signatures are checked against that address, not against Host.
The proxy must not change the body or the headers that are signed.

200 means that the event is on disk. If it cannot be stored, the answer is 503
and the service sends it again. A second delivery of a record gets 200, is marked
as repeated, and is not forwarded again once your application has accepted it.

--admin serves /healthz, /readyz and /metrics (Prometheus). Keep that address
private. On SIGTERM /readyz answers 503 at once, and webhooks are still received
for the time of --drain. On SIGHUP keys and certificates are read again. The
exit code after SIGTERM is 143.`,
  },
  systemd: {
    title: "systemd: /etc/systemd/system/paylink.service",
    text: `\
[Unit]
Description=Receiver of payment webhooks
Wants=network-online.target
After=network-online.target

[Service]
ExecStart=/usr/bin/env paylink listen --json --port 4000 --key /etc/paylink/service.pem --public-url https://shop.example/webhooks --forward-to 3000/webhooks --ack stored --sign-with %S/paylink/forward.pem --admin 127.0.0.1:9100 --drain 20s
ExecReload=/bin/kill -HUP $MAINPID
# PAYLINK_DB and PGPASSWORD; root owns the file, with mode 0600.
EnvironmentFile=-/etc/paylink/env
Environment=PAYLINK_HOME=%S/paylink
StateDirectory=paylink
DynamicUser=yes
Restart=on-failure
SuccessExitStatus=143
KillMode=mixed
# Longer than --drain and the 30 s that your application has to answer.
TimeoutStopSec=60

[Install]
WantedBy=multi-user.target`,
  },
  container: {
    title: "Containerfile",
    text: `\
FROM docker.io/library/node:24-slim
RUN npm install --global --omit=optional paylink
RUN install --directory --owner=node /data
USER node
ENV PAYLINK_HOME=/data
VOLUME /data
EXPOSE 4000 9100
STOPSIGNAL SIGTERM
ENTRYPOINT ["paylink", "listen", "--json", "--host", "0.0.0.0", "--port", "4000", "--admin", "0.0.0.0:9100", "--drain", "20s"]
# Arguments of the container: --key /keys/service.pem --public-url https://…`,
  },
  probes: {
    title: "Probes, as Kubernetes spells them",
    text: `\
livenessProbe:
  httpGet: { path: /healthz, port: 9100 }
readinessProbe:
  httpGet: { path: /readyz, port: 9100 }
  periodSeconds: 5
  failureThreshold: 2
# --drain has to outlast two failed probes, and this time has to outlast --drain
# and the 30 s that your application has to answer.
terminationGracePeriodSeconds: 60`,
  },
  stores: {
    title: "Several receivers, and an application that is down",
    text: `\
Events are kept in a file of PAYLINK_HOME: keep it on a disk that survives the
container. Several receivers share one PostgreSQL instead:
  PAYLINK_DB=postgres://paylink@db.example/paylink
The password comes from PGPASSWORD or .pgpass, never from a flag. A connection
pool such as PgBouncer may stand in between, also with pool_mode = transaction.

With --forward-to, the service gets your application's answer, and delivers again
what was not accepted. With --ack stored, the service gets 200 as soon as the
event is stored, and paylink forwards by itself: first attempts in order of
arrival, and retries after the delays of --retry, also after a restart. Only one of
several receivers forwards at a time, and another takes over within 30 s if it ends.
After a crash an event may be forwarded twice: recognise it by its uti.
  paylink events list --failed                 lists the events that failed
  paylink events replay --all --failed --to 3000/webhooks --sign-with forward.pem
                                               sends them again`,
  },
  signing: {
    title: "Retries that your application accepts hours later",
    text: `\
A verifier refuses a signature that is older than its limit, usually 5 minutes, and
the service signs once. With --sign-with, listen and events replay sign each attempt
anew with your own private key, over what the service's signature covers. The
service's signature stays in the store: only what it verified is signed.

  paylink listen --forward-to 3000/webhooks --ack stored --sign-with forward.pem

A file that does not exist is made, with mode 0600, and forward.pem.pub beside it.
Your application verifies with forward.pem.pub in place of the service's key:
  createVerifier({ key: "forward.pem.pub" })
Several receivers need the same private key. Without --sign-with, your verifier
needs a longer limit: its tolerance.`,
  },
};

/** What paylink does where the specification of the service is silent. */
export const DECISIONS: Readonly<Record<string, string>> = {
  "access token":
    "OAuth 2.0 client credentials as form fields, multipart form data or HTTP Basic. The sandbox serves POST /oauth/token; its tokens are valid for an hour.",
  "reading a transaction": "GET /v1/transactions/{uti}, or the address in the setting transactionUrl.",
  "verification key":
    "The one that you configure: PEM, certificate, JWK, JWKS or the URL of one. The sandbox serves /.well-known/jwks.json.",
  "signature cover":
    "The sandbox signs content-digest, content-length and content-type, or what --cover names. The receiver accepts any cover that satisfies its policy.",
  "created, keyid and alg of a signature":
    "The sandbox sends them. The receiver does not require them; --require-created requires created.",
  "SHA-512 digests": "Accepted, as RFC 9530 allows, with a warning: the service supports SHA-256 only.",
  "error bodies":
    "The sandbox answers application/problem+json (RFC 9457) with errors, and with the code and message of the service. The client reads any common shape, and --json gives the service's code in error.details.",
  "link status":
    "active, viewed, attempted, paid (after an accepted payment), expired or cancelled. A reusable link never becomes paid.",
  "a declined or cancelled one-time link":
    "It becomes attempted. It can still be paid or cancelled, but no longer updated.",
  "retries of a webhook":
    "Any 2xx within 10 s means delivered. Otherwise the sandbox tries again after 5 s, 30 s, 2 min, 10 min and 1 h, each time with a fresh signature. Then the delivery has failed, and can be sent again from the dashboard. Deliveries survive a kill of the sandbox and arrive at least once.",
  "two links with one invoiceId":
    "The sandbox accepts both. With --duplicate-invoices refuse it answers 422 to the second at a terminal.",
  "where the sandbox posts": "To loopback and the hosts of --allow-host, unless --allow-remote is given.",
  "reference of a reusable link":
    "<invoiceId>-<9 of A-Z0-9>. The reader accepts one hyphen or two between them.",
  "amount 0 of a one-time SALE": "Sent, with a warning.",
  "bounds as string or number": "Sent as strings; both are read.",
  "names of the address fields": "Sent as in the field list (address1, postalcode); both spellings are read.",
  "a record with both outcome flags true":
    "Shown as UNCLEAR, with the reason; so is a missing flag, a flag of another type, or a status other than Complete.",
  "negative amounts": "Read like any other number: the specification says number.",
  "a rotated signing key": "The sandbox serves it for another 24 h.",
  "a sandbox with --clock":
    "The clock moves payments, expiries and retries. The created time of a signature is that of the machine: receivers would refuse any other.",
  "--reference of listen and events": "Matches every reference that contains the text.",
  "a request that may have arrived":
    "Never sent again by itself, unless idempotencyHeader is set: the command ends with exit code 6. After a refused connection, a DNS or TLS failure, 429 or 503, the request is sent again up to three times.",
  secrets:
    "Stored in the settings file, which only its owner can read (mode 0600). They are in no argument, output or log. A token is sent over https only, except to this machine, and never to the target of a redirect.",
  "the sandbox's own access":
    "It binds to loopback and checks Host. The controls of its dashboard work only at the address that it prints, which contains a secret.",
  "a long Retry-After":
    "Not waited for if it is longer than the rest of --timeout (30 s by default): the command ends with exit code 5 and says so. bulk waits as long as the service asks.",
  "a list that bulk has sent":
    "Recognised at one service by what its rows ask for (customer, amount and invoice, but not expiry or callback), however the address of the service is spelled. No row is sent twice without --again.",
};

/** Verification in an application, with a recipe for each framework. */
export const WEBHOOKS_INTRODUCTION = [
  "paylink/webhooks verifies webhooks in your application, by the same rules as listen and verify. Install it with: npm install --ignore-scripts paylink",
  "verifyWebhook(request, options) verifies one webhook, and createVerifier(options) returns a function that verifies many. Both resolve with { outcome, transaction, amounts, violations, verdict, raw, record } if the webhook is authentic. Otherwise they throw a WebhookError: do not act on the request, and answer with error.status. A mistaken option or request is a TypeError, which says what to pass.",
  "outcome is APPROVED, PARTIALLY_APPROVED (which does not pay the order), DECLINED, CANCELLED or UNCLEAR. transaction has the fields of the specification, with a type for each outcome: a field that is missing or has another type is undefined, and in violations. amounts has the text of each amount, its currency, and its minorUnits, a bigint to compare with the order; minorUnits is undefined if it cannot be told. record is the whole record as parsed, with the members that the specification does not have, and raw the bytes of the body.",
  "Before you book a payment, compare amount and currency with the order, and book each uti once: orders.mjs below does both for every recipe.",
  "request is a Web Request, the request of Node, Express, Fastify or Hono, or { method, url, headers, body } with the body as bytes. A body that was parsed before is refused (body_parsed): its bytes are gone.",
];

export const WEBHOOK_OPTIONS: Readonly<Record<string, string>> = {
  key: "the service's public key: anything that --key accepts, a JWK, a KeyObject, or a list of them; a URL is fetched again after ten minutes, or as its Cache-Control says, and when a key is not known",
  publicUrl:
    "the address that the service posts to; needed only if the signature covers it (@authority, @target-uri, …)",
  tolerance: "how old a signature may be: seconds or a duration; 5m by default",
  require: "a list of components that must be signed besides content-digest",
  requireCreated: "true refuses signatures without a creation time",
  recordAt: "the JSON Pointer to the record, if the service wraps it",
  strict:
    "true refuses a record that breaks the specification (422), and gives each transaction its full type",
  now: "the time to verify at, for tests",
};

export const WEBHOOKS_NOTES = [
  "The rules: the signature has the label sig1 and is made with rsa-v1_5-sha256 and an RSA key of at least 2048 bits. It covers content-digest, which matches the bytes of the body. created, if given, is at most 5 minutes old and not in the future, with 60 seconds for clocks that differ; expires, if given, has not passed. Nothing in the message can change a rule: neither its alg nor Host nor a forwarding header.",
  "listen answers 401 if a rule is broken, and gives the reason only to you. A record that breaks the specification is authentic: listen shows each violation, and refuses it only with --strict.",
  "The key of the sandbox: export PAYLINK_WEBHOOK_KEY=$(paylink config get webhookKey -p sandbox). Without a key, createVerifier ends the application at its start.",
  "For tests, sampleTransaction(outcome, changes) makes a transaction and signWebhook(transaction, { key, url }) signs it: fetch(url, webhook) posts it. paylink check tests the whole endpoint.",
  "It runs on Node 20.18 and later, and on Bun and Deno, which have node:crypto. Keys at a URL are fetched with the runtime's fetch; on Node, NODE_USE_ENV_PROXY=1 makes it use HTTPS_PROXY.",
];

export const RECIPES: Readonly<Record<string, string>> = {
  orders: bookings,
  express,
  fastify,
  hono,
  next,
  node,
};
