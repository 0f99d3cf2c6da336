/** The text of `paylink help decisions`: what paylink does where the specification of the service is silent. */

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
    "Shown as UNCLEAR, and reported as a violation of the specification.",
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
