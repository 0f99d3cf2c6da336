"""Receives the payment service's webhooks: Python 3.11 or later, with the package cryptography.

    pip install cryptography        (on Debian: apt install python3-cryptography)
    PORT=3000 PAYLINK_WEBHOOK_KEY_FILE=service.pem python3 receiver.py

service.pem is the service's public key. Replace find_order() and book() by your own database, and test the result with a
key of your own, whose public part is then service.pem:

    openssl genrsa -out test-key.pem 2048 && openssl rsa -in test-key.pem -pubout -out service.pem
    paylink check http://127.0.0.1:3000/webhooks/paylink --sign-with test-key.pem

In production, run it behind your web server, which ends TLS and closes slow connections.
"""

import base64
import hashlib
import hmac
import json
import logging
import os
import re
import sqlite3
import sys
import time
from contextlib import closing
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import load_pem_public_key

PATH = "/webhooks/paylink"
MAX_BODY = 1024 * 1024
# Seconds. If the service repeats a webhook with its first signature, allow as long as it repeats.
MAX_AGE = 5 * 60
CLOCK_SKEW = 60
# What the service signs. A signature over less does not protect the payment.
COVERED = ["content-digest", "content-length", "content-type"]
BOOKINGS = "bookings.db"
KEY_NEEDED = (
    "Set PAYLINK_WEBHOOK_KEY to the service's public RSA key (PEM, at least 2048 bits), "
    "or PAYLINK_WEBHOOK_KEY_FILE to the file that holds it"
)


# --- Your application ---------------------------------------------------------------------------


def find_order(reference):
    """Your order lookup here: what this order costs, as exact decimal text. None if there is no such order.

    A payment through a reusable link has the reference "<invoiceId>-<9 characters>".
    """
    orders = {"INV-1001": ("10.00", "EUR")}
    return orders.get(reference)


def open_bookings():
    """Your database here. The primary key is what makes a repeated webhook harmless."""
    database = sqlite3.connect(BOOKINGS)
    database.execute("CREATE TABLE IF NOT EXISTS bookings (uti TEXT PRIMARY KEY, reference TEXT NOT NULL)")
    return database


def book(uti, reference):
    """Books a payment, durably. False if it is booked already: then do not deliver the goods again."""
    with closing(open_bookings()) as database, database:
        added = database.execute("INSERT OR IGNORE INTO bookings VALUES (?, ?)", (uti, reference))
        return added.rowcount == 1


def process(record):
    """Called for every authentic webhook. Says what was done, for the log."""
    outcome = outcome_of(record)
    if outcome != "APPROVED":
        return f"{outcome}, nothing to book"
    uti, reference = record.get("uti"), record.get("reference")
    if not (isinstance(uti, str) and uti and isinstance(reference, str)):
        return "APPROVED, but without uti or reference: look into it"
    order = find_order(reference)
    paid = (decimal_of(record.get("amountTrans")), str(record.get("transCurrencyCode")).upper())
    if order is None or paid != (Decimal(order[0]), order[1]):
        return f"APPROVED, but {reference!r} is no order of this amount and currency: look into it"
    return f"APPROVED, {reference!r} booked" if book(uti, reference) else f"APPROVED, {uti!r} is booked already"


# --- The record: read only after its signature is verified --------------------------------------


def read_record(body):
    """None if the body is not a JSON object. Numbers stay text: floats do not hold amounts exactly."""
    try:
        record = json.loads(body.decode("utf-8"), parse_float=str, parse_int=str, parse_constant=str)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None


def outcome_of(record):
    """Only APPROVED pays an order. UNCLEAR is authentic, but does not say what happened."""
    if record is None:
        return "UNCLEAR"
    approved, cancelled = record.get("transApproved"), record.get("transCancelled")
    if not isinstance(approved, bool) or not isinstance(cancelled, bool) or (approved and cancelled):
        return "UNCLEAR"
    status = record.get("status")
    if status is not None and not (isinstance(status, str) and status.lower() == "complete"):
        return "UNCLEAR"
    if not approved:
        return "CANCELLED" if cancelled else "DECLINED"
    partially = record.get("transPartiallyApproved")
    if partially is not None and not isinstance(partially, bool):
        return "UNCLEAR"
    return "PARTIALLY_APPROVED" if partially else "APPROVED"


def decimal_of(text):
    """10, 10.00 and 1e1 are equal. None if it is not a number that an amount can be."""
    if not isinstance(text, str) or not re.fullmatch(r"-?[0-9]{1,30}(\.[0-9]{1,30})?([eE][+-]?[0-9]{1,2})?", text):
        return None
    return Decimal(text)


# --- The signature: RFC 9421, in the form in which this service sends it -------------------------


class Refused(Exception):
    """The webhook is not authentic. The reason is for your log, never for the sender."""


# The grammar of RFC 8941. The fields can have further signatures, which relays add: they must be well-formed.
KEY = r"[a-z*][a-z0-9_.*-]*"
STRING = r'"(?:[ !#-\[\]-~]|\\["\\])*"'
BYTES = r":[A-Za-z0-9+/]*={0,2}:"
VALUE = rf"(?:-?[0-9]{{1,15}}(?:\.[0-9]{{1,3}})?|{STRING}|{BYTES}|\?[01]|[A-Za-z*][\w!#$%&'*+.^`|~:/-]*)"
PARAMETER = rf"; *({KEY})(?:=({VALUE}))?"
PARAMETERS = rf"(?:; *{KEY}(?:={VALUE})?)*"
ITEM = STRING + PARAMETERS
INPUT = rf"({KEY})=\( *((?:{ITEM}(?: +{ITEM})*)?) *\)({PARAMETERS})"
SIGNATURE = rf"({KEY})=({BYTES}){PARAMETERS}"

INTEGER = r"0|[1-9][0-9]{0,14}"
SIGNATURE_PARAMETERS = {
    "created": INTEGER,
    "expires": INTEGER,
    "keyid": STRING,
    "nonce": STRING,
    "tag": STRING,
    # The receiver decides on the algorithm, never the message.
    "alg": '"rsa-v1_5-sha256"',
}


def verify(headers, body, key, now):
    """Raises Refused unless the service signed exactly these bytes, a short time ago."""
    fields = {f'"{name}"': single_line(headers, name) for name in COVERED}
    if fields['"content-length"'] != str(len(body)):
        raise Refused("Content-Length is not the length of the body")
    digest = re.fullmatch(r"sha-256=:([A-Za-z0-9+/]{43}=?):", fields['"content-digest"'])
    if not digest or not hmac.compare_digest(base64_of(digest[1]), hashlib.sha256(body).digest()):
        raise Refused("Content-Digest is not the SHA-256 of the body")

    inputs = dictionary(headers, "Signature-Input", INPUT)
    signatures = dictionary(headers, "Signature", SIGNATURE)
    if inputs.keys() != signatures.keys() or "sig1" not in inputs:
        raise Refused("there is no signature sig1, or the two fields name different signatures")
    names, parameters = inputs["sig1"]
    covered = names.split()
    if sorted(covered) != sorted(fields):
        raise Refused(f"the signature covers {names}")
    # In the canonical form, whatever spaces the header has: that is what was signed.
    lines = [f"{name}: {fields[name]}" for name in covered]
    lines.append(f'"@signature-params": ({" ".join(covered)}){check_parameters(parameters, now)}')
    signature = base64_of(signatures["sig1"][0].strip(":"))
    try:
        key.verify(signature, "\n".join(lines).encode("ascii"), padding.PKCS1v15(), SHA256())
    except (InvalidSignature, UnicodeEncodeError):
        raise Refused("the signature does not match: it is forged, or PAYLINK_WEBHOOK_KEY is another key") from None


def check_parameters(text, now):
    """Returns the parameters in their canonical form."""
    found = re.findall(PARAMETER, text)
    values = dict(found)
    if len(values) != len(found):
        raise Refused("a parameter of the signature is given twice")
    for name, value in found:
        if not re.fullmatch(SIGNATURE_PARAMETERS.get(name, r"(?!)"), value):
            raise Refused(f"the parameter {name} of the signature is unknown, or has a value that it cannot have")
    # The service does not promise created: its absence is no reason to lose a payment.
    if "created" in values and not -CLOCK_SKEW <= now - int(values["created"]) <= MAX_AGE + CLOCK_SKEW:
        raise Refused("the signature is too old, or from the future")
    if "expires" in values and now > int(values["expires"]):
        raise Refused("the signature has expired")
    return "".join(f";{name}={value}" for name, value in found)


def single_line(headers, name):
    """Two programs may each read another one of two lines."""
    lines = headers.get_all(name, [])
    if len(lines) != 1:
        raise Refused(f"there are {len(lines)} lines {name}")
    return lines[0].strip(" \t")


def dictionary(headers, name, member):
    """The members by name; several lines of these two fields are one list."""
    text = ", ".join(line.strip(" \t") for line in headers.get_all(name, []))
    if len(text) > 8192 or not re.fullmatch(rf"{member}(?:[ \t]*,[ \t]*{member})*", text, re.ASCII):
        raise Refused(f"{name} is missing or malformed")
    members = re.findall(member, text, re.ASCII)
    if len({label for label, *_ in members}) != len(members):
        raise Refused(f"{name} has a signature twice")
    return {label: rest for label, *rest in members}


def base64_of(text):
    """Padding may be left out (RFC 8941 4.2.7), but not be too much."""
    bare = text.rstrip("=")
    if len(bare) % 4 == 1 or (bare != text and len(text) % 4 != 0):
        raise Refused("a byte sequence is malformed")
    return base64.b64decode(bare + "=" * (-len(bare) % 4), validate=True)


def read_key():
    """Ends the program without a key: without one, nothing can be verified."""
    # Tools that set variables may leave \n where a line ends.
    pem = os.environ.get("PAYLINK_WEBHOOK_KEY", "").replace("\\n", "\n").encode()
    try:
        if not pem:
            with open(os.environ.get("PAYLINK_WEBHOOK_KEY_FILE", ""), "rb") as file:
                pem = file.read()
        key = load_pem_public_key(pem)
    except OSError as error:
        sys.exit(f"{KEY_NEEDED}: {error}")
    except (ValueError, UnsupportedAlgorithm):
        sys.exit(f"{KEY_NEEDED}: this is no public key in PEM.")
    if not isinstance(key, rsa.RSAPublicKey) or key.key_size < 2048 or key.public_numbers().e < 3:
        sys.exit(f"{KEY_NEEDED}: this is another kind of key.")
    return key


# --- HTTP ----------------------------------------------------------------------------------------


class Receiver(BaseHTTPRequestHandler):
    # Seconds without a byte. Each connection is for one request, and keeps a thread.
    timeout = 10
    server_version = "receiver"
    sys_version = ""

    def do_POST(self):
        self.answer(self.receive())

    def refuse_method(self):
        self.read_body()
        self.answer(405)

    do_GET = do_HEAD = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = refuse_method

    def receive(self):
        body = self.read_body()
        if self.path.split("?")[0] != PATH:
            return 404
        if self.headers.get_content_type() != "application/json":
            return 415
        if body is None:
            return 413
        try:
            verify(self.headers, body, self.server.key, time.time())
        except Refused as refused:
            logging.warning("401: %s", refused)
            return 401
        try:
            logging.info("200: %s", process(read_record(body)))
        except Exception:  # Not kept, so not 200: the service sends the webhook again.
            logging.exception("500")
            return 500
        return 200

    def read_body(self):
        """Read before any answer, so that the sender sees it. None if it is longer than it may be, or of unknown length."""
        length = self.headers.get("Content-Length", "0").strip(" \t")
        if "Transfer-Encoding" in self.headers or not re.fullmatch(r"[0-9]{1,7}", length) or int(length) > MAX_BODY:
            return None
        return self.rfile.read(int(length))

    def answer(self, status):
        self.send_response(status)
        if status == 405:
            self.send_header("Allow", "POST")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        """What was done is logged already."""


class Server(ThreadingHTTPServer):
    # Connections that wait for a thread: webhooks may arrive many at a time.
    request_queue_size = 128
    key = None


def listen(port):
    """Ends the program if the port is in use or invalid."""
    try:
        return Server(("", int(port)), Receiver)
    except (OSError, ValueError, OverflowError) as error:
        sys.exit(f"Cannot listen at port {port}: {error}")


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    webhook_key = read_key()
    open_bookings().close()
    server = listen(os.environ.get("PORT", "3000"))
    server.key = webhook_key
    logging.info("Receiving webhooks at port %s, path %s", server.server_port, PATH)
    server.serve_forever()
