// Receives the payment service's webhooks: Java 17 or later, with only its standard library.
//     PORT=3000 PAYLINK_WEBHOOK_KEY_FILE=service.pem java Receiver.java
// service.pem has the service's public key (PEM) or certificate. Before it changes, put both in (cat old.pem new.pem) and restart; later the new
// one alone. In production, run it behind your web server, which terminates TLS.
// Replace findOrder and book with your own database, and test it with a key of your own:
//     openssl genrsa -out test-key.pem 2048 && openssl rsa -in test-key.pem -pubout -out service.pem
//     paylink check http://127.0.0.1:3000/webhooks/paylink --sign-with test-key.pem
import com.sun.net.httpserver.*;
import java.io.*;
import java.math.BigDecimal;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.security.*;
import java.security.cert.*;
import java.security.interfaces.RSAPublicKey;
import java.security.spec.X509EncodedKeySpec;
import java.util.*;
import java.util.concurrent.Executors;
import java.util.regex.*;

public class Receiver {
    static final String PATH = "/webhooks/paylink";
    static final int MAX_BODY = 64 * 1024;
    static final long MAX_AGE = 5 * 60, CLOCK_SKEW = 60; // Seconds. If the service repeats webhooks with their first signature, allow for as long as it repeats them.
    static final Set<String> TERMINALS = Set.of(); // Set.of("T-1"): payments of others are not booked, since one key may sign for several shops. Empty: those of any.
    // What the service signs, and how (RFC 9421). Everything else is refused, even if it would be safe.
    static final Pattern SIGNED = Pattern.compile("sig1=(\\(\"content-digest\" \"content-length\" \"content-type\"\\)"
            + "((?:;(?:created=(?:0|[1-9][0-9]{0,14})|keyid=\"[ !#-+\\--:<-\\[\\]-~]*\"|alg=\"rsa-v1_5-sha256\"))*))");
    static final Pattern SIGNATURE = Pattern.compile("sig1=:([A-Za-z0-9+/]{4,}={0,2}):");
    static final Pattern NO_CODING = Pattern.compile("(?i)([ \\t,]|identity|(us-)?ascii|(utf|iso|latin|windows|cp)[-_]?[0-9][-_0-9]*+)*+"); // Or the name of a charset: no byte of a body changes.
    static final Pattern TOKEN = Pattern.compile("\\s*+(\"(?:[^\"\\\\]|\\\\.)*+\"|[{}\\[\\]:,]|[\\w.+-]++)\\s*+");
    static final Pattern BLOCK = Pattern.compile("-----BEGIN ([^-]+)-----([^-]+)-----END [^-]+-----");
    static final Set<String> TAKES_NOTHING = Set.of("VERIFICATION", "AUTH", "PRE-AUTH"); // They verify a card, or reserve money that a SALE takes later: to book reservations, change it here.
    static final Map<Integer, String> TOLD = Map.of(200, "", // What the sender is told, which is never the check that failed.
            401, "not_verified: the webhook does not verify", 404, "not_found: webhooks are received at " + PATH,
            405, "method_not_allowed: webhooks use POST", 413, "body_too_large: a body has 64 KiB at most",
            415, "unsupported_media_type: webhooks are application/json, without a coding", 500, "internal_error: the payment was not booked, so send the webhook again");
    /** What each payment took, by order and uti. This receiver has no database, and forgets it when it ends: use yours. */
    static final Map<String, Map<String, BigDecimal>> TAKEN = new HashMap<>();
    record Order(BigDecimal amount, String currency) {}
    /** Your order lookup here. A payment through a reusable link has the reference "<invoiceId>-<9 characters>". */
    static Order findOrder(String reference) {
        return Map.of("INV-1001", new Order(new BigDecimal("10.00"), "EUR")).get(reference);
    }
    // False if it is booked. Your database here; uti and reference unique (check --books tests it): INSERT INTO bookings (uti, reference) VALUES (?, ?) ON CONFLICT DO NOTHING
    static boolean book(String uti, String reference) throws IOException {
        return true;
    }
    /** Called for every authentic webhook. Returns what was done, for the log. */
    static synchronized String process(Map<String, String> record) throws IOException {
        String outcome = outcomeOf(record), kind = textOf(record.get("transType")).strip().toUpperCase();
        String uti = textOf(record.get("uti")), reference = textOf(record.get("reference"));
        boolean isOurs = !uti.isEmpty() && (TERMINALS.isEmpty() || TERMINALS.contains(textOf(record.get("terminalId"))));
        Order order = isOurs ? findOrder(reference) : null;
        String amount = record.getOrDefault("amountTrans", "").replaceFirst("^\"(.*)\"$", "$1");
        boolean isAmount = amount.matches("[0-9]{1,30}(\\.[0-9]{1,30})?([eE][+-]?[0-9]{1,2})?");
        boolean takes = outcome.endsWith("APPROVED") && !TAKES_NOTHING.contains(kind);
        boolean isPayment = takes && isAmount && order != null && order.currency().equalsIgnoreCase(textOf(record.get("transCurrencyCode")));
        BigDecimal taken = isPayment ? new BigDecimal(amount) : BigDecimal.ZERO, total = BigDecimal.ZERO;
        if (order != null) TAKEN.computeIfAbsent(reference, none -> new HashMap<>()).put(uti, taken); // Of the records of one uti, the last counts.
        for (BigDecimal one : TAKEN.getOrDefault(reference, Map.of()).values()) total = total.add(one);
        String named = (outcome + " " + kind).strip() + (order != null && total.compareTo(order.amount()) > 0 ? ", more was paid than the order asks for: look into it" : "");
        // It is paid once one payment is its price, or all of them add up to it. Where a later record takes a payment back, its booking stays.
        if (order != null && (taken.compareTo(order.amount()) == 0 || total.compareTo(order.amount()) == 0))
            return named + ", \"" + reference + (book(uti, reference) ? "\" booked" : "\" is already booked");
        return !takes ? named + ", nothing to book" : named + ", but \"" + reference + "\" is not one of our orders for this amount and currency, or its rest is not paid yet: look into it";
    }
    /** Only APPROVED pays an order. UNCLEAR is authentic, but does not say what happened. Of a member that is there twice, the last one counts: only the service can sign such a record. */
    static String outcomeOf(Map<String, String> record) {
        String approved = record.getOrDefault("transApproved", ""), cancelled = record.getOrDefault("transCancelled", "");
        String partially = record.getOrDefault("transPartiallyApproved", "null"), status = record.getOrDefault("status", "null");
        if (!approved.matches("true|false") || !cancelled.matches("true|false") || !partially.matches("true|false|null")
                || !status.equals("null") && !status.equalsIgnoreCase("\"Complete\"")
                || approved.equals("true") && cancelled.equals("true")) return "UNCLEAR";
        if (approved.equals("false")) return cancelled.equals("true") ? "CANCELLED" : "DECLINED";
        return partially.equals("true") ? "PARTIALLY_APPROVED" : "APPROVED";
    }
    /** Java has no JSON parser. This finds the members of the record that are single values, as they are spelled; none in other text. */
    static Map<String, String> membersOf(byte[] body) {
        Map<String, String> members = new HashMap<>();
        String text = new String(body, StandardCharsets.UTF_8), name = "", last = "";
        Matcher token = TOKEN.matcher(text.startsWith("\uFEFF") ? text.substring(1) : text); // One byte order mark is skipped.
        int depth = 0;
        for (; token.lookingAt() && (depth > 0 || last.isEmpty()); token.region(token.end(), token.regionEnd())) {
            String found = token.group(1);
            if ("{[".contains(found)) depth++;
            else if ("}]".contains(found)) depth--;
            else if (found.equals(":") && depth == 1) name = textOf(last);
            else if (last.equals(":") && depth == 1) members.put(name, found);
            last = found;
        }
        return depth == 0 && token.regionStart() == token.regionEnd() && Arrays.equals(body, text.getBytes(StandardCharsets.UTF_8)) ? members : Map.of();
    }
    /** The text in quotes; empty for anything else, and for what has an escape, which no uti and no currency has. */
    static String textOf(String json) {
        return json != null && json.matches("\"[^\"\\\\\\p{C}]*\"") ? json.substring(1, json.length() - 1) : "";
    }
    /** Throws SignatureException, for your log alone, unless the service signed exactly these bytes, a short time ago. */
    static void verify(Headers headers, byte[] body, List<PublicKey> keys, long now) throws GeneralSecurityException {
        Map<String, String> fields = new HashMap<>();
        String base = "";
        for (String name : List.of("content-digest", "content-length", "content-type")) {
            // Gateways drop the length, which the digest makes up for. Of two lines, programs might read different ones.
            List<String> none = name.equals("content-length") ? List.of(String.valueOf(body.length)) : List.of();
            List<String> lines = headers.getOrDefault(name, none);
            if (lines.size() != 1) throw new SignatureException("there are " + lines.size() + " lines " + name);
            fields.put(name, lines.get(0).strip());
            base += '"' + name + "\": " + fields.get(name) + "\n";
        }
        String digest = "sha-256=:" + Base64.getEncoder().encodeToString(MessageDigest.getInstance("SHA-256").digest(body)) + ":";
        if (!fields.get("content-digest").equals(digest) || !fields.get("content-length").equals(String.valueOf(body.length)))
            throw new SignatureException("Content-Digest and Content-Length are not those of the body");
        Matcher signed = SIGNED.matcher(sig1Of(headers, "signature-input"));
        Matcher signature = SIGNATURE.matcher(sig1Of(headers, "signature"));
        if (!signed.matches() || !signature.matches() || signature.group(1).length() % 4 != 0)
            throw new SignatureException("the signature has another form, or covers other fields");
        Map<String, String> parameters = new HashMap<>();
        for (String parameter : signed.group(2).replaceFirst(";", "").split(";"))
            if (parameters.put(parameter.split("=")[0], parameter) != null) throw new SignatureException("it has a parameter twice");
        String created = parameters.getOrDefault("created", "created=" + now); // The service does not promise created.
        long age = now - Long.parseLong(created.substring("created=".length()));
        if (age < -CLOCK_SKEW || age > MAX_AGE + CLOCK_SKEW) throw new SignatureException("it is too old, or from the future");
        byte[] bytes = Base64.getDecoder().decode(signature.group(1));
        for (PublicKey key : keys) {
            Signature rsa = Signature.getInstance("SHA256withRSA");
            rsa.initVerify(key);
            rsa.update((base + "\"@signature-params\": " + signed.group(1)).getBytes(StandardCharsets.ISO_8859_1));
            if (bytes.length == (((RSAPublicKey) key).getModulus().bitLength() + 7) / 8 && rsa.verify(bytes)) return;
        }
        throw new SignatureException("it matches no key: it is forged, or PAYLINK_WEBHOOK_KEY has other keys");
    }
    /** The one member sig1, two of which match nothing: a relay may have added other signatures, on the same line or on another. */
    static String sig1Of(Headers headers, String name) {
        String joined = String.join(",", headers.getOrDefault(name, List.of()));
        return Arrays.stream(joined.split("[ \\t]*,[ \\t]*")).filter(member -> member.startsWith("sig1=")).reduce("", String::concat);
    }
    /** Ends the program if there is no key, or what is none: without one, nothing can be verified. */
    static List<PublicKey> readKeys() {
        String file = System.getenv().getOrDefault("PAYLINK_WEBHOOK_KEY_FILE", ""), text = System.getenv().getOrDefault("PAYLINK_WEBHOOK_KEY", "").replace("\\n", "\n"); // Some tools leave \n where a line ends.
        List<PublicKey> keys = new ArrayList<>();
        boolean isChain = false;
        try {
            text = text.isEmpty() ? Files.readString(Path.of(file)) : text;
            for (MatchResult block : BLOCK.matcher(text).results().toList()) {
                byte[] der = Base64.getMimeDecoder().decode(block.group(2));
                if (block.group(1).endsWith("CERTIFICATE")) {
                    X509Certificate one = (X509Certificate) CertificateFactory.getInstance("X.509").generateCertificate(new ByteArrayInputStream(der));
                    isChain |= !one.getIssuerX500Principal().equals(one.getSubjectX500Principal());
                    keys.add(one.getPublicKey());
                } else keys.add(KeyFactory.getInstance("RSA").generatePublic(new X509EncodedKeySpec(der)));
            }
            boolean areUsable = keys.stream().allMatch(key -> key instanceof RSAPublicKey rsa && rsa.getModulus().bitLength() >= 2048 && rsa.getPublicExponent().bitLength() > 1);
            if (areUsable && !keys.isEmpty() && text.split("-----BEGIN ", -1).length == keys.size() + 1 && !(isChain && keys.size() > 1)) return keys;
        } catch (GeneralSecurityException | IOException | IllegalArgumentException error) { /* Said below. */ }
        System.err.println("Set PAYLINK_WEBHOOK_KEY to the service's RSA public keys in PEM, or PAYLINK_WEBHOOK_KEY_FILE to their file (" + file + "): "
                + "this is not, or not only, public keys (BEGIN PUBLIC KEY) and certificates of RSA keys of 2048 bits or more, or a chain: give its first certificate alone");
        System.exit(1);
        return null;
    }

    static int receive(HttpExchange exchange, List<PublicKey> keys) {
        Headers headers = exchange.getRequestHeaders();
        if (!PATH.equals(exchange.getRequestURI().getRawPath())) return 404;
        if (!exchange.getRequestMethod().equals("POST")) return 405;
        if (!headers.getOrDefault("Content-Type", List.of("")).get(0).split(";")[0].strip().equalsIgnoreCase("application/json")
                || !NO_CODING.matcher(String.join(",", headers.getOrDefault("Content-Encoding", List.of()))).matches()) return 415;
        try {
            byte[] body = exchange.getRequestBody().readNBytes(MAX_BODY + 1);
            if (body.length > MAX_BODY) return 413;
            verify(headers, body, keys, System.currentTimeMillis() / 1000);
            System.err.println("200: " + process(membersOf(body)));
            return 200;
        } catch (SignatureException refused) {
            System.err.println("401: " + refused.getMessage());
            return 401;
        } catch (IOException | GeneralSecurityException | RuntimeException error) { // Not booked, so not 200: the service will send the webhook again.
            System.err.println("500: " + error);
            return 500;
        }
    }

    public static void main(String[] arguments) throws IOException {
        List<PublicKey> keys = readKeys();
        System.setProperty("sun.net.httpserver.maxReqTime", "10"); // Seconds: meanwhile a request occupies a thread.
        HttpServer server = HttpServer.create(new InetSocketAddress(Integer.parseInt(System.getenv().getOrDefault("PORT", "3000"))), 0);
        server.setExecutor(Executors.newFixedThreadPool(16));
        server.createContext("/", exchange -> {
            try (exchange) {
                int status = receive(exchange, keys);
                boolean isUnsigned = status == 401 && Collections.disjoint(exchange.getRequestHeaders().keySet(), Set.of("Signature", "Signature-input"));
                byte[] told = (isUnsigned ? "unsigned: there is neither Signature nor Signature-Input" : TOLD.get(status)).getBytes(StandardCharsets.US_ASCII);
                exchange.getResponseHeaders().set("Content-Type", "text/plain");
                exchange.sendResponseHeaders(status, told.length == 0 ? -1 : told.length);
                exchange.getResponseBody().write(told);
            }
        });
        server.start();
    }
}
