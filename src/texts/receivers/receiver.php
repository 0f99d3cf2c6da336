<?php
/** Receives the payment service's webhooks: PHP 8.2 or later, with the openssl extension.
 *     PAYLINK_WEBHOOK_KEY_FILE=service.pem php -S 127.0.0.1:3000 receiver.php
 * service.pem has the service's public key (PEM) or certificate. Before it changes, put both in (cat old.pem new.pem);
 * later the new one alone. In production, run it with PHP-FPM behind your web server, which terminates TLS and answers
 * "Expect: 100-continue" (php -S does not: such a sender waits a second or so before it sends the body).
 * Replace find_order() and book() with your own database, and test the result with a key of your own:
 *     openssl genrsa -out test-key.pem 2048 && openssl rsa -in test-key.pem -pubout -out service.pem
 *     paylink check http://127.0.0.1:3000/webhooks/paylink --sign-with test-key.pem
 */
declare(strict_types=1);

const PATH = '/webhooks/paylink', MAX_BODY = 64 * 1024;
const MAX_AGE = 5 * 60, CLOCK_SKEW = 60; // Seconds. Allow more if webhooks are repeated with their first signature.
const TERMINALS = []; // ['T-1']: one key may sign for several shops, and payments of others are not booked. Empty: any.
// They verify a card, or reserve money that a SALE takes later: to book reservations, change it here.
const TAKES_NOTHING = ['VERIFICATION', 'AUTH', 'PRE-AUTH'];
// What each payment took, since PHP forgets everything: use your database. Nobody else may write to its folder.
const PAYMENTS = __DIR__ . '/payments.jsonl';
// What the service signs, and how (RFC 9421). Everything else is refused, even if it would be safe.
const COVERED = ['content-digest', 'content-length', 'content-type'];
const SIGNED = '#^sig1=(\("content-digest" "content-length" "content-type"\)'
    . '((?:;(?:created=(?:0|[1-9][0-9]{0,14})|keyid="[ !\#-+\--:<-\[\]-~]*"|alg="rsa-v1_5-sha256"))*))$#D';
const SIGNATURE = '#^sig1=:((?:[A-Za-z0-9+/]{4})+(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?):$#D';
// Codings that change no byte of a body: identity, or the name of a charset.
const NO_CODING = '#^(?:[ \t,]|identity|(?:us-)?ascii|(?:utf|iso|latin|windows|cp)[-_]?[0-9][-_0-9]*)*$#Di';
const BLOCK = '/-----BEGIN [^-]+-----[^-]+-----END [^-]+-----/';

// PHP would answer 200 to a request that it failed to handle, and show the sender why.
http_response_code(500);
ini_set('display_errors', '0');
[$status, $told] = explode(' ', receive(), 2);
http_response_code((int) $status);
header('Content-Type: text/plain');
echo $told;

/** Your order lookup here. A payment through a reusable link has the reference "<invoiceId>-<9 characters>". */
function find_order(string $reference): ?array {
    return ['INV-1001' => ['10.00', 'EUR']][$reference] ?? null;
}

/** Keeps what a payment took, and returns what all of its order did. Of one uti, the last record counts. */
function take(string $uti, string $reference, int $amount): int|float {
    $line = json_encode([$reference, $uti, $amount]) . "\n";
    file_put_contents(PAYMENTS, $line, FILE_APPEND | LOCK_EX) || throw new RuntimeException('cannot write ' . PAYMENTS);
    foreach (array_map('json_decode', file(PAYMENTS)) as [$of, $one, $paid]) {
        $taken[$one] = $of === $reference ? $paid : $taken[$one] ?? 0;
    }
    return array_sum($taken);
}

/** False if it is booked already. Your database here; uti and reference unique (check --books tests it):
 * INSERT INTO bookings (uti, reference) VALUES (?, ?) ON CONFLICT DO NOTHING */
function book(string $uti, string $reference): bool {
    return true;
}

/** Called for every authentic webhook. Returns what was done, for the log. */
function process(array $record): string {
    $textOf = fn (string $name): string => is_string($record[$name] ?? null) ? $record[$name] : '';
    [$outcome, $kind] = [outcome_of($record), strtoupper(trim($textOf('transType')))];
    [$uti, $reference, $currency] = [$textOf('uti'), $textOf('reference'), strtoupper($textOf('transCurrencyCode'))];
    $isOurs = $uti !== '' && (TERMINALS === [] || in_array($textOf('terminalId'), TERMINALS, true));
    [$price, $code] = ($isOurs ? find_order($reference) : null) ?? [null, null];
    $takes = in_array($outcome, ['APPROVED', 'PARTIALLY_APPROVED'], true) && !in_array($kind, TAKES_NOTHING, true);
    $amount = $takes && $currency === $code ? units_of($record['amountTrans'] ?? null) ?? 0 : 0;
    [$price, $order] = [units_of($price), json_encode($reference)];
    $total = $price === null ? 0 : take($uti, $reference, $amount);
    $named = trim("$outcome $kind") . ($price !== null && $total > $price ? ', more than the order asks for' : '');
    // It is paid once one payment is its price, or all of them add up to it.
    if ($price !== null && ($amount === $price || $total === $price)) {
        return "$named, $order " . (book($uti, $reference) ? 'booked' : 'is already booked');
    }
    $why = $takes ? "but $order is not one of our orders for this amount, or not paid in whole" : 'nothing to book';
    return "$named, $why";
}

/** APPROVED and PARTIALLY_APPROVED take money. UNCLEAR is authentic, but does not say what happened. Of a member that
 * is there twice, the last one counts: only the service can sign such a record. */
function outcome_of(array $record): string {
    [$approved, $cancelled] = [$record['transApproved'] ?? null, $record['transCancelled'] ?? null];
    [$partially, $status] = [$record['transPartiallyApproved'] ?? false, $record['status'] ?? 'Complete'];
    $isComplete = is_string($status) && strtolower($status) === 'complete';
    $areFlags = is_bool($approved) && is_bool($cancelled) && is_bool($partially);
    if (!$areFlags || !$isComplete || ($approved && $cancelled)) {
        return 'UNCLEAR';
    }
    return $approved ? ($partially ? 'PARTIALLY_APPROVED' : 'APPROVED') : ($cancelled ? 'CANCELLED' : 'DECLINED');
}

/** Empty if the body is not JSON. One byte order mark is skipped. Numbers become text: floats are not exact. */
function read_record(string $body): array {
    $body = str_starts_with($body, "\u{FEFF}") ? substr($body, 3) : $body;
    // The pattern skips strings, and finds numbers only in what json_decode has accepted.
    $number = '/"(?:[^"\\\\]++|\\\\.)*+"(*SKIP)(*FAIL)|-?[0-9][0-9.eE+-]*+/';
    return (array) json_decode(json_decode($body) === null ? '' : (string) preg_replace($number, '"$0"', $body), true);
}

/** 100000 for 10, 10.00 and 1e1: in units of 0.0001, which no currency divides. Null if it cannot be an amount. */
function units_of(mixed $text): ?int {
    $pattern = '/^([0-9]{1,30})(?:\.([0-9]{1,30}))?(?:[eE]([+-]?[0-9]{1,2}))?$/D';
    if (!is_string($text) || !preg_match($pattern, $text, $parts)) {
        return null;
    }
    [, $whole, $fraction, $exponent] = $parts + ['', '', '', '0'];
    $digits = rtrim($whole . $fraction, '0');
    $zeros = strlen($whole) + (int) $exponent + 4 - strlen($digits);
    $units = ltrim($digits, '0') . str_repeat('0', max(0, $zeros));
    return $zeros < 0 || strlen($units) > 18 ? null : (int) $units;
}

/** The webhook is not authentic. The reason is for your log, never for the sender. */
final class Refused extends Exception {}

/** Throws Refused unless the service signed exactly these bytes, a short time ago. */
function verify(array $headers, string $body, array $keys, int $now): void {
    $fields = [];
    foreach (COVERED as $name) {
        // Gateways drop the length, which the digest makes up for. Of two lines, programs might read different ones.
        $lines = $headers[$name] ?? ($name === 'content-length' ? [(string) strlen($body)] : []);
        $fields[$name] = count($lines) === 1 ? $lines[0] : throw new Refused("not one line $name");
    }
    $digest = 'sha-256=:' . base64_encode(hash('sha256', $body, true)) . ':';
    [$fields['content-digest'], $fields['content-length']] === [$digest, (string) strlen($body)]
        || throw new Refused('Content-Digest and Content-Length are not those of the body');
    $input = sig1_of($headers['signature-input'] ?? []);
    preg_match(SIGNED, $input, $signed) && preg_match(SIGNATURE, sig1_of($headers['signature'] ?? []), $bytes)
        || throw new Refused('the signature has another form, or covers other fields');
    preg_match_all('/;([a-z]+)=([^;]*)/', $signed[2], $found);
    $parameters = array_combine($found[1], $found[2]);
    $age = $now - (int) ($parameters['created'] ?? $now); // The service does not promise created.
    count($parameters) === count($found[1]) && $age >= -CLOCK_SKEW && $age <= MAX_AGE + CLOCK_SKEW
        || throw new Refused('the signature is too old, from the future, or has a parameter twice');
    $base = implode('', array_map(fn (string $name): string => "\"$name\": $fields[$name]\n", COVERED))
        . "\"@signature-params\": $signed[1]";
    $matches = fn (OpenSSLAsymmetricKey $key): bool =>
        openssl_verify($base, base64_decode($bytes[1]), $key, OPENSSL_ALGO_SHA256) === 1; // -1: OpenSSL failed.
    array_filter($keys, $matches) !== [] || throw new Refused('forged, or PAYLINK_WEBHOOK_KEY has other keys');
}

/** The one member sig1: a relay may have added other signatures, on the same line or on another. */
function sig1_of(array $lines): string {
    $members = preg_split('/[ \t]*,[ \t]*/', implode(',', $lines));
    $found = array_values(array_filter($members, fn (string $member): bool => str_starts_with($member, 'sig1=')));
    return count($found) === 1 ? $found[0] : '';
}

/** Throws if there is no key, or anything that is not a key: nothing could be verified. */
function read_keys(): array {
    $file = (string) getenv('PAYLINK_WEBHOOK_KEY_FILE');
    $text = getenv('PAYLINK_WEBHOOK_KEY') ?: ($file === '' ? '' : (string) @file_get_contents($file));
    preg_match_all(BLOCK, str_replace('\n', "\n", $text), $blocks); // Some tools leave \n where a line ends.
    $certificates = array_filter(array_map(fn (string $block): mixed => @openssl_x509_parse($block), $blocks[0]));
    $isIssued = array_filter($certificates, fn (array $one): bool => $one['issuer'] !== $one['subject']) !== [];
    $keys = array_filter(array_map(openssl_pkey_get_public(...), $blocks[0]));
    $strong = array_filter(array_map(openssl_pkey_get_details(...), $keys), fn (array $key): bool =>
        $key['bits'] >= 2048 && !in_array($key['rsa']['e'] ?? '', ["\1", ''], true)); // With 1, anybody could sign.
    $isOther = preg_match('/-----BEGIN |[A-Za-z0-9+\/_]{40}/', preg_replace(BLOCK, '', $text)) === 1;
    if ($isOther || $keys === [] || count($strong) < count($blocks[0]) || ($isIssued && count($keys) > 1)) {
        throw new RuntimeException("Set PAYLINK_WEBHOOK_KEY to the service's RSA public keys or certificates in PEM, or"
            . " PAYLINK_WEBHOOK_KEY_FILE to their file ($file): this is no key of 2048 bits or more, not PEM alone,"
            . ' or a chain: give its first certificate alone');
    }
    return $keys;
}

/** The status, and what the sender is told, which is never the check that failed. */
function receive(): string {
    foreach (getallheaders() as $name => $value) {
        $headers[strtolower((string) $name)][] = trim($value, " \t");
    }
    $body = (string) file_get_contents('php://input', length: MAX_BODY + 1);
    return match (true) {
        $_SERVER['REQUEST_METHOD'] !== 'POST' => '405 method_not_allowed: the method is not POST',
        parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH) !== PATH => '404 not_found: this path takes no webhooks',
        !preg_match('#^application/json[ \t]*(?:;|$)#Di', $headers['content-type'][0] ?? '') =>
            '415 unsupported_media_type: the media type is not application/json',
        !preg_match(NO_CODING, implode(',', $headers['content-encoding'] ?? [])) =>
            '415 unsupported_content_coding: the body has a Content-Encoding',
        strlen($body) > MAX_BODY || isset($headers['transfer-encoding'], $headers['content-length']) =>
            '413 body_too_large: the body is larger than the limit',
        !isset($headers['signature']) && !isset($headers['signature-input']) =>
            '401 unsigned: there is neither Signature nor Signature-Input',
        default => receive_signed($headers, $body),
    };
}

function receive_signed(array $headers, string $body): string {
    try {
        verify($headers, $body, read_keys(), time());
        error_log('200: ' . process(read_record($body)));
        return '200 ok';
    } catch (Refused $refused) {
        error_log('401: ' . $refused->getMessage());
        return '401 not_verified: the webhook does not verify';
    } catch (Throwable $error) { // Nothing is booked, so not 200.
        error_log("500: $error");
        return '500 internal_error: the receiver itself failed, so the service sends the webhook again';
    }
}
