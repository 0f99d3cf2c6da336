"""Receives the payment service's webhooks: Python 3.11 or later; pip install cryptography (apt: python3-cryptography).
    PORT=3000 PAYLINK_WEBHOOK_KEY_FILE=service.pem python3 receiver.py
service.pem has the service's public key (PEM) or certificate. Before it changes, put both in (cat old.pem new.pem) and
restart; later the new one alone. In production, run it behind your web server, which terminates TLS.
Replace find_order() and book() with your own database, and test the result with a key of your own:
    openssl genrsa -out test-key.pem 2048 && openssl rsa -in test-key.pem -pubout -out service.pem
    paylink check http://127.0.0.1:3000/webhooks/paylink --sign-with test-key.pem
"""

import base64, hashlib, json, logging, os, re, sys, time
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import load_pem_public_key
from cryptography.x509 import load_pem_x509_certificate

PATH, MAX_BODY = "/webhooks/paylink", 64 * 1024
MAX_AGE, CLOCK_SKEW = 5 * 60, 60  # Seconds. Allow more if the service repeats webhooks with their first signature.
TERMINALS = []  # ["T-1"]: one key may sign for several shops, and payments of others are not booked. Empty: any.
# What each payment took, by order and uti. This receiver has no database, and forgets it when it ends: use yours.
TAKEN, LOCK = {}, Lock()
# They verify a card, or reserve money that a SALE takes later: to book reservations, change it here.
TAKES_NOTHING = ("VERIFICATION", "AUTH", "PRE-AUTH")
# What the service signs, and how (RFC 9421). Everything else is refused, even if it would be safe.
COVERED = ("content-digest", "content-length", "content-type")
SIGNED = re.compile(r'sig1=(\("content-digest" "content-length" "content-type"\)'
                    r'((?:;(?:created=(?:0|[1-9][0-9]{0,14})|keyid="[ !#-+\--:<-\[\]-~]*"|alg="rsa-v1_5-sha256"))*))')
# Codings that change no byte of a body: identity, or the name of a charset.
NO_CODING = re.compile(r"(?i)(?:[ \t,]|identity|(?:us-)?ascii|(?:utf|iso|latin|windows|cp)[-_]?[0-9][-_0-9]*)*")
BLOCK = "-----BEGIN [^-]+-----[^-]+-----END [^-]+-----"

def find_order(reference):
    """Your order lookup here. A payment through a reusable link has the reference "<invoiceId>-<9 characters>"."""
    return {"INV-1001": (Decimal("10.00"), "EUR")}.get(reference)

def book(uti, reference):
    """False if it is booked already. Your database here; uti and reference unique (check --books tests it):
    INSERT INTO bookings (uti, reference) VALUES (?, ?) ON CONFLICT DO NOTHING"""
    return True

def process(body):
    """Called for every authentic webhook. Returns what was done, for the log."""
    try:  # One byte order mark is skipped. Numbers stay text: floats do not hold amounts exactly.
        record = json.loads(body.decode("utf-8-sig"), parse_float=str, parse_int=str, parse_constant=str)
    except (ValueError, RecursionError):
        record = None
    record = record if isinstance(record, dict) else {}
    outcome, kind = outcome_of(record), str(record.get("transType", "")).strip().upper()
    uti, reference, amount = record.get("uti"), record.get("reference"), str(record.get("amountTrans"))
    is_ours = isinstance(reference, str) and (not TERMINALS or record.get("terminalId") in TERMINALS)
    order = find_order(reference) if is_ours and isinstance(uti, str) and uti != "" else None
    takes = outcome.endswith("APPROVED") and kind not in TAKES_NOTHING
    is_amount = re.fullmatch(r"[0-9]{1,30}(\.[0-9]{1,30})?([eE][+-]?[0-9]{1,2})?", amount)
    is_payment = takes and order and is_amount and str(record.get("transCurrencyCode")).upper() == order[1]
    taken = Decimal(amount) if is_payment else Decimal(0)
    if order:  # Of the records of one uti, the last counts. A booking stays.
        TAKEN.setdefault(reference, {})[uti] = taken
    total = sum(TAKEN.get(reference, {}).values()) if order else taken
    named = f"{outcome} {kind}".strip() + (", more than the order asks for" if order and total > order[0] else "")
    if order and order[0] in (taken, total):  # It is paid once one payment is its price, or all of them add up to it.
        return f"{named}, {reference!r} " + ("booked" if book(uti, reference) else "is already booked")
    if not takes:
        return f"{named}, nothing to book"
    return f"{named}, but {reference!r} is not one of our orders for this amount and currency, or not paid in whole"

def outcome_of(record):
    """APPROVED and PARTIALLY_APPROVED take money. UNCLEAR is authentic, but does not say what happened. Of a member
    that is there twice, the last one counts: only the service can sign such a record."""
    approved, cancelled = record.get("transApproved"), record.get("transCancelled")
    partially, status = record.get("transPartiallyApproved"), record.get("status")
    if not isinstance(approved, bool) or not isinstance(cancelled, bool) or (approved and cancelled):
        return "UNCLEAR"
    if partially not in (None, True, False) or str("Complete" if status is None else status).lower() != "complete":
        return "UNCLEAR"
    if not approved:
        return "CANCELLED" if cancelled else "DECLINED"
    return "PARTIALLY_APPROVED" if partially else "APPROVED"

def verify(headers, body, keys, now):
    """Raises InvalidSignature, for your log alone, unless the service signed exactly these bytes, a short time ago."""
    fields = {}
    for name in COVERED:
        # Gateways drop the length, which the digest makes up for. Of two lines, programs might read different ones.
        lines = headers.get_all(name, [str(len(body))] if name == "content-length" else [])
        if len(lines) != 1:
            raise InvalidSignature(f"there are {len(lines)} lines {name}")
        fields[name] = lines[0].strip(" \t")
    digest = base64.b64encode(hashlib.sha256(body).digest()).decode()
    if fields["content-digest"] != f"sha-256=:{digest}:" or fields["content-length"] != str(len(body)):
        raise InvalidSignature("Content-Digest and Content-Length are not those of the body")
    signed = SIGNED.fullmatch(sig1_of(headers, "signature-input"))
    signature = re.fullmatch(r"sig1=:([A-Za-z0-9+/]+={0,2}):", sig1_of(headers, "signature"))
    if signed is None or signature is None or len(signature[1]) % 4 != 0:
        raise InvalidSignature("the signature has another form, or covers other fields")
    pairs = [parameter.split("=", 1) for parameter in signed[2].split(";")[1:]]
    parameters = dict(pairs)
    age = now - int(parameters.get("created", now))  # The service does not promise created.
    if len(parameters) != len(pairs) or not -CLOCK_SKEW <= age <= MAX_AGE + CLOCK_SKEW:
        raise InvalidSignature("the signature is too old, from the future, or has a parameter twice")
    base = "".join(f'"{name}": {fields[name]}\n' for name in COVERED) + f'"@signature-params": {signed[1]}'
    for key in keys:
        try:
            return key.verify(base64.b64decode(signature[1]), base.encode("latin-1"), padding.PKCS1v15(), SHA256())
        except InvalidSignature:
            continue
    raise InvalidSignature("the signature matches no key: it is forged, or PAYLINK_WEBHOOK_KEY has other keys")

def sig1_of(headers, name):
    """The one member sig1: a relay may have added other signatures, on the same line or on another."""
    members = re.split(r"[ \t]*,[ \t]*", ",".join(headers.get_all(name, [])).strip(" \t"))
    found = [member for member in members if member.startswith("sig1=")]
    return found[0] if len(found) == 1 else ""

def read_keys():
    """Ends the program if there is no key, or anything that is not a key: nothing could be verified."""
    text, file = os.environ.get("PAYLINK_WEBHOOK_KEY", ""), os.environ.get("PAYLINK_WEBHOOK_KEY_FILE", "")
    try:  # Some tools leave \n where a line ends.
        text = (text or open(file, encoding="utf-8").read()).replace("\\n", "\n")
        blocks, rest = [block.encode() for block in re.findall(BLOCK, text)], re.sub(BLOCK, "", text)
        certificates = [load_pem_x509_certificate(block) for block in blocks if b"CERTIFICATE" in block]
        keys = [load_pem_public_key(block) for block in blocks if b"CERTIFICATE" not in block]
        keys += [one.public_key() for one in certificates]
        strong = [key for key in keys if isinstance(key, rsa.RSAPublicKey) and key.key_size >= 2048]
        if len(keys) > 1 and any(one.issuer != one.subject for one in certificates):
            raise ValueError("it is a chain: give its first certificate alone")
        if not keys or len(strong) < len(keys) or any(key.public_numbers().e < 3 for key in strong):
            raise ValueError("it is no PEM of RSA keys of 2048 bits or more")
        if "-----BEGIN " in rest or re.search("[A-Za-z0-9+/_]{40}", rest):
            raise ValueError("it is not PEM alone")
        return keys
    except (OSError, ValueError, UnsupportedAlgorithm) as error:
        sys.exit("Set PAYLINK_WEBHOOK_KEY to the service's RSA public keys or certificates in PEM, or"
                 f" PAYLINK_WEBHOOK_KEY_FILE to their file: this is not a key ({str(error).splitlines()[0]}).")

class Receiver(BaseHTTPRequestHandler):
    timeout = 10  # Seconds without a byte. Each connection serves one request, and holds a thread.
    protocol_version = "HTTP/1.1"  # It answers "Expect: 100-continue".
    error_content_type, error_message_format = "text/plain", "%(message)s"

    def do_POST(self):
        status, told = self.receive(self.read_body()).split(" ", 1)
        self.send_error(int(status), told)  # It sends any status, and then closes.

    def read_body(self):
        """None if it is too long, or does not end. It is read before any answer, so that the sender sees the answer."""
        length, coding = self.headers.get("Content-Length", ""), self.headers.get("Transfer-Encoding")
        if coding is None:
            is_known = re.fullmatch(r"[0-9]{0,7}", length) and int(length or 0) <= MAX_BODY
            return self.rfile.read(int(length or 0)) if is_known else None
        if coding.lower() != "chunked" or length != "":  # Chunks have no length.
            return None
        body, size = b"", None
        while size != 0:
            line = re.fullmatch(rb"([0-9A-Fa-f]{1,6})[ \t]*(?:;.*)?\r\n", self.rfile.readline(1000))
            size = int(line[1], 16) if line else MAX_BODY + 1
            if len(body) + size > MAX_BODY:
                return None
            body += self.rfile.read(size + 2)[:size]
        return body

    def receive(self, body):
        """The status, and what the sender is told, which is never the check that failed."""
        if self.command != "POST":
            return "405 method_not_allowed: the method is not POST"
        if self.path.split("?")[0] != PATH:
            return "404 not_found: this path takes no webhooks"
        if self.headers.get_content_type() != "application/json":
            return "415 unsupported_media_type: the media type is not application/json"
        if not NO_CODING.fullmatch(",".join(self.headers.get_all("Content-Encoding", []))):
            return "415 unsupported_content_coding: the body has a Content-Encoding"
        if body is None:
            return "413 body_too_large: the body is larger than the limit"
        if "Signature" not in self.headers and "Signature-Input" not in self.headers:
            return "401 unsigned: there is neither Signature nor Signature-Input"
        try:
            verify(self.headers, body, KEYS, int(time.time()))
            with LOCK:
                logging.info("200: %s", process(body))
            return "200 ok"
        except InvalidSignature as refused:
            logging.warning("401: %s", refused)
            return "401 not_verified: the webhook does not verify"
        except Exception:  # Not booked, so not 200.
            logging.exception("500")
            return "500 internal_error: the receiver itself failed, so the service sends the webhook again"

    do_GET = do_HEAD = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = do_POST
    log_message = lambda *_: None  # What was done is logged already.

if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    KEYS = read_keys()
    server = ThreadingHTTPServer(("", int(os.environ.get("PORT", "3000"))), Receiver)
    logging.info("Receiving webhooks on port %s, path %s", server.server_port, PATH)
    server.serve_forever()
