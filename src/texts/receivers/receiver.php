<?php

/**
 * Receives the payment service's webhooks: PHP 8.2 or later, with the extension openssl.
 *
 *     PAYLINK_WEBHOOK_KEY_FILE=service.pem php -S 127.0.0.1:3000 receiver.php
 *
 * service.pem is the service's public key. Replace find_order() and book() by your own database, and test the result with a
 * key of your own, whose public part is then service.pem:
 *
 *     openssl genrsa -out test-key.pem 2048 && openssl rsa -in test-key.pem -pubout -out service.pem
 *     paylink check http://127.0.0.1:3000/webhooks/paylink --sign-with test-key.pem
 *
 * In production, run it with PHP-FPM behind your web server, which ends TLS and closes slow connections.
 */

declare(strict_types=1);

const PATH = '/webhooks/paylink';
const MAX_BODY = 1024 * 1024;
// Seconds. If the service repeats a webhook with its first signature, allow as long as it repeats.
const MAX_AGE = 5 * 60;
const CLOCK_SKEW = 60;
// What the service signs. A signature over less does not protect the payment.
const COVERED = ['content-digest', 'content-length', 'content-type'];
const KEY_NEEDED = 'Set PAYLINK_WEBHOOK_KEY to the service\'s public RSA key (PEM, at least 2048 bits), '
    . 'or PAYLINK_WEBHOOK_KEY_FILE to the file that holds it';

// PHP would answer 200 to a request that it failed to handle, and show the sender why.
http_response_code(500);
ini_set('display_errors', '0');
http_response_code(receive());

// --- Your application ---------------------------------------------------------------------------

/**
 * Your order lookup here: what this order costs, as exact decimal text. Null if there is no such order.
 * A payment through a reusable link has the reference "<invoiceId>-<9 characters>".
 *
 * @return array{string, string}|null
 */
function find_order(string $reference): ?array
{
    return ['INV-1001' => ['10.00', 'EUR']][$reference] ?? null;
}

/**
 * Books a payment, durably. False if it is booked already: then do not deliver the goods again.
 *
 * Your database here: INSERT INTO bookings (uti, reference) VALUES (?, ?), where uti is the primary key, is all of this.
 * Until then, each booking is a file. It is complete on disk before it gets its name, which only one request can give it.
 */
function book(string $uti, string $reference): bool
{
    // Not in the folder of this file: your web server may show that one.
    $folder = dirname(__DIR__) . '/bookings';
    is_dir($folder) || @mkdir($folder, 0700) || is_dir($folder) || throw new RuntimeException("cannot make $folder");
    $booking = json_encode(['uti' => $uti, 'reference' => $reference]);
    $draft = $folder . '/' . bin2hex(random_bytes(16)) . '.draft';
    $file = fopen($draft, 'x');
    if ($file === false || fwrite($file, $booking) !== strlen($booking) || !fsync($file)) {
        throw new RuntimeException("cannot write $draft");
    }
    $path = $folder . '/' . hash('sha256', $uti) . '.json';
    $added = @link($draft, $path);
    // The second time, for the name.
    $kept = fsync($file) && is_file($path);
    unlink($draft);
    return $kept ? $added : throw new RuntimeException("cannot write $path");
}

/**
 * Called for every authentic webhook. Says what was done, for the log.
 *
 * @param array<mixed>|null $record
 */
function process(?array $record): string
{
    $outcome = outcome_of($record);
    if ($outcome !== 'APPROVED') {
        return "$outcome, nothing to book";
    }
    $uti = $record['uti'] ?? null;
    $reference = $record['reference'] ?? null;
    if (!is_string($uti) || $uti === '' || !is_string($reference)) {
        return 'APPROVED, but without uti or reference: look into it';
    }
    $order = find_order($reference);
    $amount = decimal_of($record['amountTrans'] ?? null);
    $currency = $record['transCurrencyCode'] ?? null;
    if (
        $order === null || $amount === null || $amount !== decimal_of($order[0])
        || !is_string($currency) || strtoupper($currency) !== $order[1]
    ) {
        return 'APPROVED, but ' . json_encode($reference) . ' is no order of this amount and currency: look into it';
    }
    return book($uti, $reference)
        ? 'APPROVED, ' . json_encode($reference) . ' booked'
        : 'APPROVED, ' . json_encode($uti) . ' is booked already';
}

// --- The record: read only after its signature is verified --------------------------------------

/**
 * Null if the body is not a JSON object. Numbers become text: floats do not hold amounts exactly.
 *
 * @return array<mixed>|null
 */
function read_record(string $body): ?array
{
    // The pattern skips strings, and finds numbers only in what json_decode has understood before.
    $number = '/"(?:[^"\\\\]++|\\\\.)*+"(*SKIP)(*FAIL)|-?[0-9][0-9.eE+-]*+/';
    if (json_decode($body) === null) {
        return null;
    }
    $record = json_decode((string) preg_replace($number, '"$0"', $body), true);
    // An empty list is no record either.
    return is_array($record) && !array_is_list($record) ? $record : null;
}

/**
 * Only APPROVED pays an order. UNCLEAR is authentic, but does not say what happened.
 *
 * @param array<mixed>|null $record
 */
function outcome_of(?array $record): string
{
    $approved = $record['transApproved'] ?? null;
    $cancelled = $record['transCancelled'] ?? null;
    $status = $record['status'] ?? 'Complete';
    $partially = $record['transPartiallyApproved'] ?? false;
    if (!is_bool($approved) || !is_bool($cancelled) || ($approved && $cancelled)) {
        return 'UNCLEAR';
    }
    if (!is_string($status) || strtolower($status) !== 'complete') {
        return 'UNCLEAR';
    }
    if (!$approved) {
        return $cancelled ? 'CANCELLED' : 'DECLINED';
    }
    if (!is_bool($partially)) {
        return 'UNCLEAR';
    }
    return $partially ? 'PARTIALLY_APPROVED' : 'APPROVED';
}

/** The same text for 10, 10.00 and 1e1. Null if it is not a number that an amount can be. */
function decimal_of(mixed $text): ?string
{
    $pattern = '/^(-?)([0-9]{1,30})(?:\.([0-9]{1,30}))?(?:[eE]([+-]?[0-9]{1,2}))?$/D';
    if (!is_string($text) || !preg_match($pattern, $text, $parts)) {
        return null;
    }
    [, $sign, $whole, $fraction, $exponent] = $parts + ['', '', '', '', '0'];
    $digits = rtrim($whole . $fraction, '0');
    $shift = (int) $exponent + strlen($whole) - strlen($digits);
    $digits = ltrim($digits, '0');
    return $digits === '' ? '0' : "$sign{$digits}e$shift";
}

// --- The signature: RFC 9421, in the form in which this service sends it -------------------------

/** The webhook is not authentic. The reason is for your log, never for the sender. */
final class Refused extends Exception
{
}

/**
 * Throws Refused unless the service signed exactly these bytes, a short time ago.
 *
 * @param array<string, list<string>> $headers
 */
function verify(array $headers, string $body, OpenSSLAsymmetricKey $key, int $now): void
{
    $fields = [];
    foreach (COVERED as $name) {
        $fields["\"$name\""] = single_line($headers, $name);
    }
    if ($fields['"content-length"'] !== (string) strlen($body)) {
        throw new Refused('Content-Length is not the length of the body');
    }
    $hash = hash('sha256', $body, true);
    if (
        !preg_match('#^sha-256=:([A-Za-z0-9+/]{43}=?):$#D', $fields['"content-digest"'], $digest)
        || !hash_equals($hash, base64_of($digest[1]))
    ) {
        throw new Refused('Content-Digest is not the SHA-256 of the body');
    }

    // The grammar of RFC 8941. The fields can have further signatures, which relays add: they must be well-formed.
    $label = '[a-z*][a-z0-9_.*-]*';
    $string = '"(?:[ !\#-\[\]-~]|\\\\["\\\\])*+"';
    $bytes = ':[A-Za-z0-9+/]*={0,2}:';
    $value = "(?:-?[0-9]{1,15}(?:\\.[0-9]{1,3})?|$string|$bytes|\\?[01]|[A-Za-z*][\\w!\\#$%&'*+.^`|~:/-]*)";
    $parameters = "(?:; *$label(?:=$value)?)*";
    $item = $string . $parameters;
    $inputs = dictionary($headers, 'signature-input', "($label)=\\( *((?:$item(?: +$item)*)?) *\\)($parameters)");
    $signatures = dictionary($headers, 'signature', "($label)=($bytes)$parameters");
    ksort($inputs);
    ksort($signatures);
    if (!isset($inputs['sig1']) || array_keys($inputs) !== array_keys($signatures)) {
        throw new Refused('there is no signature sig1, or the two fields name different signatures');
    }
    [$names, $given] = $inputs['sig1'];
    $covered = preg_split('/ +/', $names, -1, PREG_SPLIT_NO_EMPTY);
    if (count($covered) !== count($fields) || array_diff(array_keys($fields), $covered) !== []) {
        throw new Refused("the signature covers $names");
    }
    preg_match_all("#; *($label)(?:=($value))?#", $given, $found, PREG_SET_ORDER);
    // In the canonical form, whatever spaces the header has: that is what was signed.
    $lines = array_map(fn (string $name): string => "$name: $fields[$name]", $covered);
    $lines[] = '"@signature-params": (' . implode(' ', $covered) . ')' . check_parameters($found, $string, $now);
    $signature = base64_of(trim($signatures['sig1'][0], ':'));
    // 0 means that it does not match, and -1 that OpenSSL failed.
    if (openssl_verify(implode("\n", $lines), $signature, $key, OPENSSL_ALGO_SHA256) !== 1) {
        throw new Refused('the signature does not match: it is forged, or PAYLINK_WEBHOOK_KEY is another key');
    }
}

/**
 * Returns the parameters in their canonical form.
 *
 * @param list<array<string>> $found
 */
function check_parameters(array $found, string $string, int $now): string
{
    $integer = '0|[1-9][0-9]{0,14}';
    $allowed = [
        'created' => $integer,
        'expires' => $integer,
        'keyid' => $string,
        'nonce' => $string,
        'tag' => $string,
        // The receiver decides on the algorithm, never the message.
        'alg' => '"rsa-v1_5-sha256"',
    ];
    $values = [];
    $canonical = '';
    foreach ($found as $parameter) {
        [, $name, $value] = $parameter + ['', '', ''];
        if (isset($values[$name])) {
            throw new Refused("the parameter $name of the signature is given twice");
        }
        if (!isset($allowed[$name]) || !preg_match("#^(?:$allowed[$name])$#D", $value)) {
            throw new Refused("the parameter $name of the signature is unknown, or has a value that it cannot have");
        }
        $values[$name] = $value;
        $canonical .= ";$name=$value";
    }
    // The service does not promise created: its absence is no reason to lose a payment.
    $age = $now - (int) ($values['created'] ?? $now);
    if ($age < -CLOCK_SKEW || $age > MAX_AGE + CLOCK_SKEW) {
        throw new Refused('the signature is too old, or from the future');
    }
    if ($now > (int) ($values['expires'] ?? $now)) {
        throw new Refused('the signature has expired');
    }
    return $canonical;
}

/**
 * Two programs may each read another one of two lines.
 *
 * @param array<string, list<string>> $headers
 */
function single_line(array $headers, string $name): string
{
    $lines = $headers[$name] ?? [];
    return count($lines) === 1 ? $lines[0] : throw new Refused('there are ' . count($lines) . " lines $name");
}

/**
 * The members by name; several lines of these two fields are one list.
 *
 * @param array<string, list<string>> $headers
 * @return array<string, list<string>>
 */
function dictionary(array $headers, string $name, string $member): array
{
    $text = implode(', ', $headers[$name] ?? []);
    if (strlen($text) > 8192 || !preg_match("#^$member(?:[ \\t]*,[ \\t]*$member)*\$#D", $text)) {
        throw new Refused("$name is missing or malformed");
    }
    preg_match_all("#$member#", $text, $found, PREG_SET_ORDER);
    $members = [];
    foreach ($found as $parts) {
        if (isset($members[$parts[1]])) {
            throw new Refused("$name has the signature $parts[1] twice");
        }
        $members[$parts[1]] = array_slice($parts, 2);
    }
    return $members;
}

/** Padding may be left out (RFC 8941 4.2.7), but not be too much. */
function base64_of(string $text): string
{
    $bytes = base64_decode($text, true);
    return $bytes === false ? throw new Refused('a byte sequence is malformed') : $bytes;
}

/** Throws without a key: without one, nothing can be verified. */
function read_key(): OpenSSLAsymmetricKey
{
    // Tools that set variables may leave \n where a line ends.
    $pem = str_replace('\n', "\n", (string) getenv('PAYLINK_WEBHOOK_KEY'));
    $file = (string) getenv('PAYLINK_WEBHOOK_KEY_FILE');
    if ($pem === '' && ($file === '' || ($pem = @file_get_contents($file)) === false)) {
        throw new RuntimeException(KEY_NEEDED . ($file === '' ? '' : ": $file cannot be read"));
    }
    $key = openssl_pkey_get_public($pem);
    $details = $key === false ? [] : openssl_pkey_get_details($key);
    // An RSA key with the exponent 1 would let everybody sign.
    if (($details['bits'] ?? 0) < 2048 || in_array($details['rsa']['e'] ?? "\1", ["\1", ''], true)) {
        throw new RuntimeException(KEY_NEEDED . ': this is no such key');
    }
    return $key;
}

// --- HTTP ----------------------------------------------------------------------------------------

function receive(): int
{
    if (parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH) !== PATH) {
        return 404;
    }
    if ($_SERVER['REQUEST_METHOD'] !== 'POST') {
        header('Allow: POST');
        return 405;
    }
    $headers = [];
    foreach (getallheaders() as $name => $value) {
        $headers[strtolower((string) $name)][] = trim($value, " \t");
    }
    if (!preg_match('#^application/json[ \t]*(?:;|$)#Di', $headers['content-type'][0] ?? '')) {
        return 415;
    }
    // Behind a proxy, two ways to end a body can be two bodies.
    if (isset($headers['transfer-encoding'])) {
        return 411;
    }
    $body = (string) file_get_contents('php://input', length: MAX_BODY + 1);
    if (strlen($body) > MAX_BODY) {
        return 413;
    }
    try {
        verify($headers, $body, read_key(), time());
        error_log('200: ' . process(read_record($body)));
        return 200;
    } catch (Refused $refused) {
        error_log('401: ' . $refused->getMessage());
        return 401;
    } catch (Throwable $error) {
        // Not kept, so not 200: the service sends the webhook again.
        error_log("500: $error");
        return 500;
    }
}
