// Receives the payment service's webhooks: Java 17 or later, with its standard library. Behind a web server, for TLS:
//     PORT=3000 PAYLINK_WEBHOOK_KEY_FILE=service.pem java Receiver.java
// service.pem has the service's public key (PEM) or certificate. Before it changes, put both in (cat old.pem new.pem)
// and restart; later the new one alone. Replace findOrder and book with your database, and test it with your own key:
//     openssl genrsa -out test-key.pem 2048 && openssl rsa -in test-key.pem -pubout -out service.pem
//     paylink check http://127.0.0.1:3000/webhooks/paylink --sign-with test-key.pem
import com.sun.net.httpserver.*;
import java.io.*;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.security.*;
import java.security.cert.*;
import java.security.interfaces.RSAPublicKey;
import java.security.spec.X509EncodedKeySpec;
import java.util.*;
import java.util.regex.*;

public class Receiver {
    static final String PATH = "/webhooks/paylink";
    // The times are in seconds. Allow more if the service repeats webhooks with their first signature.
    static final int MAX_BODY = 64 * 1024, MAX_AGE = 5 * 60, CLOCK_SKEW = 60;
    // Set.of("T-1"): one key may sign for several shops, and payments of others are not booked. Empty: those of any.
    static final Set<String> TERMINALS = Set.of();
    // They verify a card, or reserve money that a SALE takes later: to book reservations, change it here.
    static final Set<String> TAKES_NOTHING = Set.of("VERIFICATION", "AUTH", "PRE-AUTH");
    // What the service signs, and how (RFC 9421). Everything else is refused, even if it would be safe.
    static final Pattern SIGNED = Pattern.compile("sig1=(?!.*;([a-z]+)=.*;\\1=)"
            + "(\\(\"content-digest\" \"content-length\" \"content-type\"\\)"
            + "(?:;(?:created=(0|[1-9][0-9]{0,14})|keyid=\"[ !#-+\\--:<-\\[\\]-~]*\"|alg=\"rsa-v1_5-sha256\"))*)");
    static final Pattern SIGNATURE = Pattern.compile("sig1=:([A-Za-z0-9+/]{4,}={0,2}):");
    static final Pattern TOKEN = Pattern.compile("\\s*+(\"(?:[^\"\\\\]|\\\\.)*+\"|[{}\\[\\]:,]|[\\w.+-]++)\\s*+");
    static final Pattern BLOCK = Pattern.compile("-----BEGIN ([^-]+)-----([^-]+)-----END [^-]+-----");
    static final Pattern OTHER = Pattern.compile("-----BEGIN |[A-Za-z0-9+/_]{40}");
    /** What each payment took, by order and uti. This receiver forgets it when it ends: use your database. */
    static final Map<String, Map<String, BigDecimal>> TAKEN = new HashMap<>();
    record Order(BigDecimal amount, String currency) {}
    /** Your order lookup here. A payment through a reusable link has the reference "<invoiceId>-<9 characters>". */
    static Order findOrder(String reference) {
        return Map.of("INV-1001", new Order(new BigDecimal("10.00"), "EUR")).get(reference);
    }
    /** False if it is booked already. Your database here; uti and reference unique (check --books tests it):
     * INSERT INTO bookings (uti, reference) VALUES (?, ?) ON CONFLICT DO NOTHING */
    static boolean book(String uti, String reference) throws IOException { return true; }
    /** Called for every authentic webhook. Returns what was done, for the log. */
    static synchronized String process(Map<String, String> record) throws IOException {
        String outcome = outcomeOf(record), kind = textOf(record.get("transType")).strip().toUpperCase();
        String uti = textOf(record.get("uti")), reference = textOf(record.get("reference"));
        String terminal = textOf(record.get("terminalId")), currency = textOf(record.get("transCurrencyCode"));
        boolean isOurs = !uti.isEmpty() && (TERMINALS.isEmpty() || TERMINALS.contains(terminal));
        Order order = isOurs ? findOrder(reference) : null;
        String amount = record.getOrDefault("amountTrans", "").replaceFirst("^\"(.*)\"$", "$1");
        boolean isAmount = amount.matches("[0-9]{1,30}(\\.[0-9]{1,30})?([eE][+-]?[0-9]{1,2})?");
        boolean takes = outcome.endsWith("APPROVED") && !TAKES_NOTHING.contains(kind);
        boolean isInCurrency = order != null && order.currency().equalsIgnoreCase(currency);
        BigDecimal taken = takes && isAmount && isInCurrency ? new BigDecimal(amount) : BigDecimal.ZERO;
        String named = (outcome + " " + kind).strip();
        if (order != null) {
            // Of the records of one uti, the last counts. A booking stays.
            TAKEN.computeIfAbsent(reference, none -> new HashMap<>()).put(uti, taken);
            BigDecimal total = TAKEN.get(reference).values().stream().reduce(BigDecimal.ZERO, BigDecimal::add);
            if (total.compareTo(order.amount()) > 0) named += ", more than the order asks for";
            // It is paid once one payment is its price, or all of them add up to it.
            if (taken.compareTo(order.amount()) == 0 || total.compareTo(order.amount()) == 0)
                return named + ", \"" + reference + (book(uti, reference) ? "\" booked" : "\" is already booked");
        }
        if (!takes) return named + ", nothing to book";
        return named + ", but \"" + reference + "\" is not one of our orders for this amount, or not paid in whole";
    }
    /** APPROVED and PARTIALLY_APPROVED take money. UNCLEAR is authentic, but does not say what happened. Of a member
     * that is there twice, the last one counts: only the service can sign such a record. */
    static String outcomeOf(Map<String, String> record) {
        String status = record.getOrDefault("status", "null").toLowerCase().replace("null", "\"complete\"");
        String flags = record.get("transApproved") + " " + record.get("transCancelled") + " "
                + record.getOrDefault("transPartiallyApproved", "null") + " " + status;
        if (flags.matches("true false (false|null) \"complete\"")) return "APPROVED";
        if (flags.matches("true false true \"complete\"")) return "PARTIALLY_APPROVED";
        if (flags.matches("false false (true|false|null) \"complete\"")) return "DECLINED";
        return flags.matches("false true (true|false|null) \"complete\"") ? "CANCELLED" : "UNCLEAR";
    }
    /** Java has no JSON parser. This finds the members that are single values. One byte order mark is skipped. */
    static Map<String, String> membersOf(byte[] body) {
        Map<String, String> members = new HashMap<>();
        String text = new String(body, StandardCharsets.UTF_8), name = "", last = "";
        Matcher token = TOKEN.matcher(text.startsWith("\uFEFF") ? text.substring(1) : text);
        int depth = 0;
        for (; token.lookingAt() && (depth > 0 || last.isEmpty()); token.region(token.end(), token.regionEnd())) {
            String found = token.group(1);
            if ("{[".contains(found)) depth++;
            else if ("}]".contains(found)) depth--;
            else if (found.equals(":") && depth == 1) name = textOf(last);
            else if (last.equals(":") && depth == 1) members.put(name, found);
            last = found;
        }
        boolean isWhole = depth == 0 && token.regionStart() == token.regionEnd();
        return isWhole && Arrays.equals(body, text.getBytes(StandardCharsets.UTF_8)) ? members : Map.of();
    }
    /** The text in quotes; empty for anything else, and for what has an escape, which no uti and no currency has. */
    static String textOf(String json) {
        return json != null && json.matches("\"[^\"\\\\\\p{C}]*\"") ? json.substring(1, json.length() - 1) : "";
    }
    /** Throws SignatureException, for your log alone, unless the service signed these bytes a short time ago. */
    static void verify(Headers headers, byte[] body, List<PublicKey> keys, long now) throws GeneralSecurityException {
        String hash = Base64.getEncoder().encodeToString(MessageDigest.getInstance("SHA-256").digest(body));
        String digest = "sha-256=:" + hash + ":", length = "" + body.length, sent = all(headers, "Content-Length");
        // Gateways drop the length, which the digest makes up for. Of two lines, programs might read different ones.
        if (!all(headers, "Content-Digest").equals(digest) || !sent.isEmpty() && !sent.equals(length))
            throw new SignatureException("Content-Digest and Content-Length are not those of the body");
        Matcher signed = SIGNED.matcher(sig1Of(headers, "Signature-Input"));
        Matcher signature = SIGNATURE.matcher(sig1Of(headers, "Signature"));
        if (!signed.matches() || !signature.matches() || signature.group(1).length() % 4 != 0)
            throw new SignatureException("the signature has another form, a parameter twice, or covers other fields");
        long age = signed.group(3) == null ? 0 : now - Long.parseLong(signed.group(3)); // It is not promised.
        if (age < -CLOCK_SKEW || age > MAX_AGE + CLOCK_SKEW)
            throw new SignatureException("the signature is too old, or from the future");
        String base = "\"content-digest\": " + digest + "\n\"content-length\": " + length + "\n\"content-type\": "
                + all(headers, "Content-Type") + "\n\"@signature-params\": " + signed.group(2);
        byte[] bytes = Base64.getDecoder().decode(signature.group(1));
        for (PublicKey key : keys) {
            Signature rsa = Signature.getInstance("SHA256withRSA");
            rsa.initVerify(key);
            rsa.update(base.getBytes(StandardCharsets.ISO_8859_1));
            if (bytes.length == (((RSAPublicKey) key).getModulus().bitLength() + 7) / 8 && rsa.verify(bytes)) return;
        }
        throw new SignatureException("it matches no key: it is forged, or PAYLINK_WEBHOOK_KEY has other keys");
    }
    /** The one member sig1, two of which match nothing: a relay may have added other signatures. */
    static String sig1Of(Headers headers, String name) {
        String[] members = all(headers, name).split("[ \\t]*,[ \\t]*");
        return Arrays.stream(members).filter(member -> member.startsWith("sig1=")).reduce("", String::concat);
    }
    static String all(Headers in, String name) { return String.join(",", in.getOrDefault(name, List.of())).strip(); }
    /** Ends the program if there is no key, or anything that is not a key: nothing could be verified. */
    static List<PublicKey> readKeys() {
        List<PublicKey> keys = new ArrayList<>();
        String file = System.getenv().getOrDefault("PAYLINK_WEBHOOK_KEY_FILE", "");
        try {
            String text = System.getenv().getOrDefault("PAYLINK_WEBHOOK_KEY", "");
            text = (text.isEmpty() ? Files.readString(Path.of(file)) : text).replace("\\n", "\n"); // For some tools.
            boolean isIssued = false, isOther = OTHER.matcher(BLOCK.matcher(text).replaceAll("")).find();
            KeyFactory rsa = KeyFactory.getInstance("RSA");
            for (MatchResult block : BLOCK.matcher(text).results().toList()) {
                var der = new ByteArrayInputStream(Base64.getMimeDecoder().decode(block.group(2)));
                if (block.group(1).equals("CERTIFICATE")) {
                    var one = (X509Certificate) CertificateFactory.getInstance("X.509").generateCertificate(der);
                    isIssued |= !one.getIssuerX500Principal().equals(one.getSubjectX500Principal());
                    keys.add(one.getPublicKey());
                } else keys.add(rsa.generatePublic(new X509EncodedKeySpec(der.readAllBytes())));
            }
            boolean areStrong = keys.stream().allMatch(key -> key instanceof RSAPublicKey one
                    && one.getModulus().bitLength() >= 2048 && one.getPublicExponent().bitLength() > 1);
            if (areStrong && !keys.isEmpty() && !isOther && !(isIssued && keys.size() > 1)) return keys;
        } catch (GeneralSecurityException | IOException | IllegalArgumentException error) { /* Said below. */ }
        System.err.println("Set PAYLINK_WEBHOOK_KEY to the service's RSA public keys or certificates in PEM, or "
                + "PAYLINK_WEBHOOK_KEY_FILE to their file (" + file + "): this is no key of 2048 bits or more, "
                + "not PEM alone, or a chain: give its first certificate alone");
        System.exit(1);
        return null;
    }
    /** The status, and what the sender is told, which is never the check that failed. */
    static String receive(HttpExchange exchange, List<PublicKey> keys) {
        Headers headers = exchange.getRequestHeaders();
        if (!exchange.getRequestMethod().equals("POST")) return "405 method_not_allowed: the method is not POST";
        if (!PATH.equals(exchange.getRequestURI().getRawPath())) return "404 not_found: this path takes no webhooks";
        if (!all(headers, "Content-Type").matches("(?i)application/json\\s*(;.*)?"))
            return "415 unsupported_media_type: the media type is not application/json";
        if (!all(headers, "Content-Encoding") // The name of a charset is no coding.
                .matches("(?i)([ \\t,]|identity|(us-)?ascii|(utf|iso|latin|windows|cp)[-_]?\\d[-_\\d]*+)*+"))
            return "415 unsupported_content_coding: the body has a Content-Encoding";
        try {
            byte[] body = exchange.getRequestBody().readNBytes(MAX_BODY + 1);
            if (body.length > MAX_BODY) return "413 body_too_large: the body is larger than the limit";
            if ((all(headers, "Signature") + all(headers, "Signature-Input")).isEmpty())
                return "401 unsigned: there is neither Signature nor Signature-Input";
            verify(headers, body, keys, System.currentTimeMillis() / 1000);
            System.err.println("200: " + process(membersOf(body)));
            return "200 ok";
        } catch (IOException | GeneralSecurityException | RuntimeException error) {
            System.err.println(error); // Of 500, nothing is booked.
            return error instanceof SignatureException ? "401 not_verified: the webhook does not verify"
                    : "500 internal_error: the receiver itself failed, so the service sends the webhook again";
        }
    }
    public static void main(String[] arguments) throws IOException {
        List<PublicKey> keys = readKeys();
        System.setProperty("sun.net.httpserver.maxReqTime", "10"); // Seconds: meanwhile a request occupies a thread.
        int port = Integer.parseInt(System.getenv().getOrDefault("PORT", "3000"));
        HttpServer server = HttpServer.create(new java.net.InetSocketAddress(port), 0);
        server.setExecutor(java.util.concurrent.Executors.newFixedThreadPool(16));
        server.createContext("/", exchange -> {
            try (exchange) {
                String[] answer = receive(exchange, keys).split(" ", 2);
                exchange.getResponseHeaders().set("Content-Type", "text/plain");
                exchange.sendResponseHeaders(Integer.parseInt(answer[0]), answer[1].length());
                exchange.getResponseBody().write(answer[1].getBytes());
            }
        });
        server.start();
    }
}
