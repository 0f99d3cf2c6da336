<?php
/** Receives the payment service's webhooks: PHP 8.2 or later, with the openssl extension.
 *     PAYLINK_WEBHOOK_KEY_FILE=service.pem php -S 127.0.0.1:3000 receiver.php
 * service.pem has the service's public key (PEM) or certificate. Before it changes, put both in (cat old.pem new.pem); later the new one alone.
 * In production, run it with PHP-FPM behind your web server, which terminates TLS and answers "Expect: 100-continue"
 * (php -S does not: such a sender waits a second or so before it sends the body).
 * Replace find_order() and book() with your own database, and test the result with a key of your own:
 *     openssl genrsa -out test-key.pem 2048 && openssl rsa -in test-key.pem -pubout -out service.pem
 *     paylink check http://127.0.0.1:3000/webhooks/paylink --sign-with test-key.pem
 */
declare(strict_types=1);

const PATH = '/webhooks/paylink';
const MAX_BODY = 64 * 1024;
const MAX_AGE = 5 * 60, CLOCK_SKEW = 60; // Seconds. If the service repeats webhooks with their first signature, allow for as long as it repeats them.
const TERMINALS = []; // ['T-1']: payments of others are not booked, since one key may sign for several shops. Empty: those of any.
// They verify a card, or reserve money that a SALE takes later: to book reservations, change it here.
const TAKES_NOTHING = ['VERIFICATION', 'AUTH', 'PRE-AUTH'];
// What each payment took. PHP forgets everything after a request, and this receiver has no database: use yours. Nobody else may write to its folder.
const PAYMENTS = __DIR__ . '/payments.jsonl';
// What the service signs, and how (RFC 9421). Everything else is refused, even if it would be safe.
const COVERED = ['content-digest', 'content-length', 'content-type'];
const SIGNED = '#^sig1=(\("content-digest" "content-length" "content-type"\)'
    . '((?:;(?:created=(?:0|[1-9][0-9]{0,14})|keyid="[ !\#-+\--:<-\[\]-~]*"|alg="rsa-v1_5-sha256"))*))$#D';
const SIGNATURE = '#^sig1=:((?:[A-Za-z0-9+/]{4})+(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?):$#D';
const NO_CODING = '#^(?:[ \t,]|identity|(?:us-)?ascii|(?:utf|iso|latin|windows|cp)[-_]?[0-9][-_0-9]*)*$#Di'; // Or the name of a charset: no byte of a body changes.
const TOLD = [ // What the sender is told, which is never the check that failed.
    200 => '', 401 => 'not_verified: the webhook does not verify', 404 => 'not_found: webhooks are received at ' . PATH, 405 => 'method_not_allowed: webhooks use POST',
    413 => 'body_too_large: a body has 64 KiB at most', 415 => 'unsupported_media_type: webhooks are application/json, without a coding',
    500 => 'internal_error: the payment was not booked, so send the webhook again',
];

// PHP would answer 200 to a request that it failed to handle, and show the sender why.
http_response_code(500);
ini_set('display_errors', '0');
$status = receive();
http_response_code($status);
header('Content-Type: text/plain');
echo $status === 401 && !isset($_SERVER['HTTP_SIGNATURE']) && !isset($_SERVER['HTTP_SIGNATURE_INPUT'])
    ? 'unsigned: there is neither Signature nor Signature-Input' : TOLD[$status];

/** Your order lookup here. A payment through a reusable link has the reference "<invoiceId>-<9 characters>". */
function find_order(string $reference): ?array {
    return ['INV-1001' => ['10.00', 'EUR']][$reference] ?? null;
}

/** Keeps what a payment took, and returns what all of its order did. Of the records of one uti, the last counts; a booking stays. */
function take(string $uti, string $reference, int $amount): int|float {
    file_put_contents(PAYMENTS, json_encode([$reference, $uti, $amount]) . "\n", FILE_APPEND | LOCK_EX) || throw new RuntimeException('cannot write ' . PAYMENTS);
    foreach (array_map('json_decode', file(PAYMENTS)) as [$of, $one, $paid]) {
        $taken[$one] = $of === $reference ? $paid : $taken[$one] ?? 0;
    }
    return array_sum($taken);
}

/** False if it is booked. Your database here; uti and reference unique (check --books tests it): INSERT INTO bookings (uti, reference) VALUES (?, ?) ON CONFLICT DO NOTHING */
function book(string $uti, string $reference): bool {
    return true;
}

/** Called for every authentic webhook. Returns what was done, for the log. */
function process(mixed $record): string {
    $record = is_array($record) ? $record : [];
    [$outcome, $kind] = [outcome_of($record), is_string($record['transType'] ?? null) ? strtoupper(trim($record['transType'])) : ''];
    [$uti, $reference, $currency] = [$record['uti'] ?? null, $record['reference'] ?? null, $record['transCurrencyCode'] ?? null];
    $isOurs = is_string($reference) && is_string($uti) && $uti !== '' && (TERMINALS === [] || in_array($record['terminalId'] ?? null, TERMINALS, true));
    [$price, $code] = ($isOurs ? find_order($reference) : null) ?? [null, null];
    $takes = in_array($outcome, ['APPROVED', 'PARTIALLY_APPROVED'], true) && !in_array($kind, TAKES_NOTHING, true);
    $amount = $takes && is_string($currency) && strtoupper($currency) === $code ? units_of($record['amountTrans'] ?? null) ?? 0 : 0;
    $price = units_of($price);
    $total = $price === null ? 0 : take($uti, $reference, $amount);
    $named = trim("$outcome $kind") . ($price !== null && $total > $price ? ', more was paid than the order asks for: look into it' : '');
    // It is paid once one payment is its price, or all of them add up to it.
    if ($price !== null && ($amount === $price || $total === $price)) {
        return "$named, " . json_encode($reference) . (book($uti, $reference) ? ' booked' : ' is already booked');
    }
    return $takes
        ? "$named, but " . json_encode($reference) . ' is not one of our orders for this amount and currency, or its rest is not paid yet: look into it'
        : "$named, nothing to book";
}

/** Only APPROVED pays an order. UNCLEAR is authentic, but does not say what happened. Of a member that is there twice, the last one counts: only the service can sign such a record. */
function outcome_of(array $record): string {
    [$approved, $cancelled] = [$record['transApproved'] ?? null, $record['transCancelled'] ?? null];
    [$partially, $status] = [$record['transPartiallyApproved'] ?? false, $record['status'] ?? 'Complete'];
    $isComplete = is_string($status) && strtolower($status) === 'complete';
    if (!is_bool($approved) || !is_bool($cancelled) || !is_bool($partially) || !$isComplete || ($approved && $cancelled)) {
        return 'UNCLEAR';
    }
    return $approved ? ($partially ? 'PARTIALLY_APPROVED' : 'APPROVED') : ($cancelled ? 'CANCELLED' : 'DECLINED');
}

/** Null if the body is not JSON. One byte order mark is skipped. Numbers become text: floats do not hold amounts exactly. */
function read_record(string $body): mixed {
    $body = str_starts_with($body, "\u{FEFF}") ? substr($body, 3) : $body;
    // The pattern skips strings, and finds numbers only in what json_decode has accepted.
    $number = '/"(?:[^"\\\\]++|\\\\.)*+"(*SKIP)(*FAIL)|-?[0-9][0-9.eE+-]*+/';
    return json_decode($body) === null ? null : json_decode((string) preg_replace($number, '"$0"', $body), true);
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

/** Throws Refused unless the service signed exactly these bytes, a short time ago. `$headers` has the lines of each name. */
function verify(array $headers, string $body, array $keys, int $now): void {
    $fields = [];
    foreach (COVERED as $name) {
        // Gateways drop the length, which the digest makes up for. Of two lines, programs might read different ones.
        $lines = $headers[$name] ?? ($name === 'content-length' ? [(string) strlen($body)] : []);
        $fields[$name] = count($lines) === 1 ? $lines[0] : throw new Refused("not one line $name");
    }
    $digest = 'sha-256=:' . base64_encode(hash('sha256', $body, true)) . ':';
    if ($fields['content-digest'] !== $digest || $fields['content-length'] !== (string) strlen($body)) {
        throw new Refused('Content-Digest and Content-Length are not those of the body');
    }
    $input = sig1_of($headers['signature-input'] ?? []);
    if (!preg_match(SIGNED, $input, $signed) || !preg_match(SIGNATURE, sig1_of($headers['signature'] ?? []), $bytes)) {
        throw new Refused('the signature has another form, or covers other fields');
    }
    preg_match_all('/;([a-z]+)=([^;]*)/', $signed[2], $found);
    $parameters = array_combine($found[1], $found[2]);
    // The service does not promise created: its absence is not a reason to lose a payment.
    $age = $now - (int) ($parameters['created'] ?? $now);
    if (count($parameters) !== count($found[1]) || $age < -CLOCK_SKEW || $age > MAX_AGE + CLOCK_SKEW) {
        throw new Refused('the signature is too old, from the future, or has a parameter twice');
    }
    $base = implode('', array_map(fn (string $name): string => "\"$name\": $fields[$name]\n", COVERED))
        . "\"@signature-params\": $signed[1]";
    $matches = fn (OpenSSLAsymmetricKey $key): bool => openssl_verify($base, base64_decode($bytes[1]), $key, OPENSSL_ALGO_SHA256) === 1; // -1: OpenSSL failed.
    array_filter($keys, $matches) !== [] || throw new Refused('the signature matches no key: it is forged, or PAYLINK_WEBHOOK_KEY has other keys');
}

/** The one member sig1: a relay may have added other signatures, on the same line or on another. */
function sig1_of(array $lines): string {
    $members = preg_split('/[ \t]*,[ \t]*/', implode(',', $lines));
    $found = array_values(array_filter($members, fn (string $member): bool => str_starts_with($member, 'sig1=')));
    return count($found) === 1 ? $found[0] : '';
}

/** Throws if there is no key, or what is none: without one, nothing can be verified. */
function read_keys(): array {
    [$text, $file] = [str_replace('\n', "\n", (string) getenv('PAYLINK_WEBHOOK_KEY')), (string) getenv('PAYLINK_WEBHOOK_KEY_FILE')]; // Some tools leave \n where a line ends.
    $text = $text === '' && $file !== '' ? (string) @file_get_contents($file) : $text;
    preg_match_all('/-----BEGIN [^-]+-----[^-]+-----END [^-]+-----/', $text, $blocks);
    [$keys, $isChain] = [[], false];
    foreach ($blocks[0] as $block) {
        $certificate = @openssl_x509_parse($block) ?: ['issuer' => [], 'subject' => []];
        $isChain = $isChain || (count($blocks[0]) > 1 && $certificate['issuer'] !== $certificate['subject']);
        $key = openssl_pkey_get_public($block);
        $details = $key === false ? [] : openssl_pkey_get_details($key);
        if (($details['bits'] ?? 0) >= 2048 && !in_array($details['rsa']['e'] ?? "\1", ["\1", ''], true)) { // With 1, anybody could sign.
            $keys[] = $key;
        }
    }
    if ($isChain || $keys === [] || count($keys) !== substr_count($text, '-----BEGIN ')) {
        throw new RuntimeException("Set PAYLINK_WEBHOOK_KEY to the service's RSA public keys in PEM, or PAYLINK_WEBHOOK_KEY_FILE to their file ($file): "
            . 'this is not, or not only, public keys and certificates of RSA keys of 2048 bits or more, or a chain: give its first certificate alone');
    }
    return $keys;
}

function receive(): int {
    if (parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH) !== PATH || $_SERVER['REQUEST_METHOD'] !== 'POST') {
        return $_SERVER['REQUEST_METHOD'] === 'POST' ? 404 : 405;
    }
    foreach (getallheaders() as $name => $value) {
        $headers[strtolower((string) $name)][] = trim($value, " \t");
    }
    $body = (string) file_get_contents('php://input', length: MAX_BODY + 1);
    if (!preg_match('#^application/json[ \t]*(?:;|$)#Di', $headers['content-type'][0] ?? '') || !preg_match(NO_CODING, implode(',', $headers['content-encoding'] ?? []))) {
        return 415;
    }
    if (strlen($body) > MAX_BODY || isset($headers['transfer-encoding'], $headers['content-length'])) {
        return 413;
    }
    try {
        verify($headers, $body, read_keys(), time());
        error_log('200: ' . process(read_record($body)));
        return 200;
    } catch (Refused $refused) {
        error_log('401: ' . $refused->getMessage());
        return 401;
    } catch (Throwable $error) { // Not booked, so not 200: the service will send the webhook again.
        error_log("500: $error");
        return 500;
    }
}
