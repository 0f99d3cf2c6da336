// Receives the payment service's webhooks: Java 17 or later, with only its standard library.
//     PORT=3000 PAYLINK_WEBHOOK_KEY_FILE=service.pem java Receiver.java
// service.pem is the service's public key. In production, run it behind your web server, which terminates TLS.
// Replace findOrder and book with your own database, and test it with a key of your own:
//     openssl genrsa -out test-key.pem 2048 && openssl rsa -in test-key.pem -pubout -out service.pem
//     paylink check http://127.0.0.1:3000/webhooks/paylink --sign-with test-key.pem

import com.sun.net.httpserver.*;
import java.io.IOException;
import java.math.BigDecimal;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.security.*;
import java.security.interfaces.RSAPublicKey;
import java.security.spec.X509EncodedKeySpec;
import java.util.*;
import java.util.concurrent.Executors;
import java.util.regex.*;

public class Receiver {
    static final String PATH = "/webhooks/paylink";
    static final int MAX_BODY = 64 * 1024;
    /** Seconds. If the service repeats webhooks with their first signature, allow for as long as it repeats them. */
    static final long MAX_AGE = 5 * 60, CLOCK_SKEW = 60;
    // Payments of other terminals are not booked: one key may sign for several shops. Empty: those of any.
    static final Set<String> TERMINALS = Set.of(); // Set.of("T-1"), or compare merchantId
    // What the service signs, and how (RFC 9421). Everything else is refused, even if it would be safe.
    static final Pattern SIGNED = Pattern.compile("sig1=(\\(\"content-digest\" \"content-length\" \"content-type\"\\)"
            + "((?:;(?:created=(?:0|[1-9][0-9]{0,14})|keyid=\"[ !#-+\\--:<-\\[\\]-~]*\"|alg=\"rsa-v1_5-sha256\"))*))");
    static final Pattern SIGNATURE = Pattern.compile("sig1=:([A-Za-z0-9+/]{4,}={0,2}):");
    /** What changes no byte of a body: no coding, identity, or the name of a charset. */
    static final Pattern NO_CODING = Pattern.compile("(?i)([ \\t,]|identity|(us-)?ascii|(utf|iso|latin|windows|cp)[-_]?[0-9][-_0-9]*+)*+");
    static final Pattern TOKEN = Pattern.compile("\\s*+(\"(?:[^\"\\\\]|\\\\.)*+\"|[{}\\[\\]:,]|[\\w.+-]++)\\s*+");
    static final String KEY_NEEDED = "Set PAYLINK_WEBHOOK_KEY to the service's RSA public key in PEM, or PAYLINK_WEBHOOK_KEY_FILE to its file";
    record Order(BigDecimal amount, String currency) {}
    /** Your order lookup here. A payment through a reusable link has the reference "<invoiceId>-<9 characters>". */
    static Order findOrder(String reference) {
        return Map.of("INV-1001", new Order(new BigDecimal("10.00"), "EUR")).get(reference);
    }

    /** By order: its parts, and what else was approved. This receiver has no database, and forgets them when it ends: use yours. */
    static final Map<String, Map<String, BigDecimal>> PARTS = new HashMap<>(), OTHERS = new HashMap<>();
    /** Keeps a payment or a part, which arrive in any order. Returns the uti that pays the whole order, or the rest of it. */
    static synchronized String paying(String uti, String reference, String outcome, BigDecimal amount, BigDecimal price) {
        Map<String, BigDecimal> parts = PARTS.computeIfAbsent(reference, none -> new HashMap<>());
        Map<String, BigDecimal> others = OTHERS.computeIfAbsent(reference, none -> new HashMap<>());
        (outcome.equals("APPROVED") ? others : parts).put(uti, amount);
        if (others.containsKey(uti) && amount.compareTo(price) == 0) return uti;
        BigDecimal rest = parts.values().stream().reduce(price, BigDecimal::subtract);
        return others.keySet().stream().filter(one -> !parts.isEmpty() && others.get(one).compareTo(rest) == 0).findFirst().orElse("");
    }

    // False if it is booked. Your database here; uti and reference unique (check --books tests it): INSERT INTO bookings (uti, reference) VALUES (?, ?) ON CONFLICT DO NOTHING
    static boolean book(String uti, String reference) throws IOException {
        return true;
    }

    /** Called for every authentic webhook. Returns what was done, for the log. */
    static String process(Map<String, String> record) throws IOException {
        String outcome = outcomeOf(record);
        if (!outcome.endsWith("APPROVED")) return outcome + ", nothing to book";
        String uti = textOf(record.get("uti")), reference = textOf(record.get("reference"));
        Order order = findOrder(reference);
        String amount = record.getOrDefault("amountTrans", "").replaceFirst("^\"(.*)\"$", "$1");
        boolean isAmount = amount.matches("[0-9]{1,30}(\\.[0-9]{1,30})?([eE][+-]?[0-9]{1,2})?");
        boolean isOurs = TERMINALS.isEmpty() || TERMINALS.contains(textOf(record.get("terminalId")));
        boolean isOrder = isOurs && !uti.isEmpty() && order != null && isAmount
                && order.currency().equalsIgnoreCase(textOf(record.get("transCurrencyCode")));
        String paid = isOrder ? paying(uti, reference, outcome, new BigDecimal(amount), order.amount()) : "";
        if (paid.isEmpty()) return outcome + ", but \"" + reference + "\" is not one of our orders for this amount and currency, or its rest is not paid yet: look into it";
        return outcome + ", \"" + reference + (book(paid, reference) ? "\" booked" : "\" is already booked");
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
        boolean isWhole = depth == 0 && token.regionStart() == token.regionEnd();
        return isWhole && Arrays.equals(body, text.getBytes(StandardCharsets.UTF_8)) ? members : Map.of();
    }

    /** The text in quotes; empty for anything else, and for what has an escape, which no uti and no currency has. */
    static String textOf(String json) {
        return json != null && json.matches("\"[^\"\\\\\\p{C}]*\"") ? json.substring(1, json.length() - 1) : "";
    }

    /** Throws SignatureException, for your log alone, unless the service signed exactly these bytes, a short time ago. */
    static void verify(Headers headers, byte[] body, PublicKey key, long now) throws GeneralSecurityException {
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
        byte[] hash = MessageDigest.getInstance("SHA-256").digest(body);
        if (!fields.get("content-digest").equals("sha-256=:" + Base64.getEncoder().encodeToString(hash) + ":")
                || !fields.get("content-length").equals(String.valueOf(body.length)))
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
        Signature rsa = Signature.getInstance("SHA256withRSA");
        rsa.initVerify(key);
        rsa.update((base + "\"@signature-params\": " + signed.group(1)).getBytes(StandardCharsets.ISO_8859_1));
        if (!rsa.verify(Base64.getDecoder().decode(signature.group(1))))
            throw new SignatureException("it does not match: it is forged, or PAYLINK_WEBHOOK_KEY is another key");
    }

    /** The one member sig1, two of which match nothing: a relay may have added other signatures, on the same line or on another. */
    static String sig1Of(Headers headers, String name) {
        String[] members = String.join(",", headers.getOrDefault(name, List.of())).split("[ \\t]*,[ \\t]*");
        return Arrays.stream(members).filter(member -> member.startsWith("sig1=")).reduce("", String::concat);
    }

    /** Ends the program without a key: without one, nothing can be verified. */
    static PublicKey readKey() {
        String file = System.getenv().getOrDefault("PAYLINK_WEBHOOK_KEY_FILE", "");
        String text = System.getenv().getOrDefault("PAYLINK_WEBHOOK_KEY", "").replace("\\n", "\n"); // Some tools leave \n where a line ends.
        try {
            String pem = text.isEmpty() ? Files.readString(Path.of(file)) : text;
            byte[] der = Base64.getMimeDecoder().decode(pem.replaceAll("-----(BEGIN|END) PUBLIC KEY-----", ""));
            RSAPublicKey key = (RSAPublicKey) KeyFactory.getInstance("RSA").generatePublic(new X509EncodedKeySpec(der));
            if (key.getModulus().bitLength() >= 2048 && key.getPublicExponent().intValue() != 1) return key;
            throw new InvalidKeyException("too weak");
        } catch (GeneralSecurityException | IOException | IllegalArgumentException error) {
            System.err.println(KEY_NEEDED + ": this is not an RSA public key of 2048 bits or more (" + file + ")");
            System.exit(1);
            return null;
        }
    }

    static int receive(HttpExchange exchange, PublicKey key) {
        Headers headers = exchange.getRequestHeaders();
        if (!PATH.equals(exchange.getRequestURI().getRawPath())) return 404;
        if (!exchange.getRequestMethod().equals("POST")) return 405;
        String contentType = headers.getFirst("Content-Type");
        if (contentType == null || !contentType.split(";")[0].strip().equalsIgnoreCase("application/json")
                || !NO_CODING.matcher(String.join(",", headers.getOrDefault("Content-Encoding", List.of()))).matches()) return 415;
        try {
            byte[] body = exchange.getRequestBody().readNBytes(MAX_BODY + 1);
            if (body.length > MAX_BODY) return 413;
            verify(headers, body, key, System.currentTimeMillis() / 1000);
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
        PublicKey key = readKey();
        System.setProperty("sun.net.httpserver.maxReqTime", "10"); // Seconds: meanwhile a request occupies a thread.
        HttpServer server = HttpServer.create(new InetSocketAddress(Integer.parseInt(System.getenv().getOrDefault("PORT", "3000"))), 0);
        server.setExecutor(Executors.newFixedThreadPool(16));
        server.createContext("/", exchange -> {
            try (exchange) {
                exchange.sendResponseHeaders(receive(exchange, key), -1);
            }
        });
        server.start();
        System.err.println("Receiving webhooks on port " + server.getAddress().getPort() + ", path " + PATH);
    }
}
