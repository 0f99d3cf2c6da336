// Receives the payment service's webhooks: Java 17 or later, with nothing but its standard library.
//
//     PORT=3000 PAYLINK_WEBHOOK_KEY_FILE=service.pem java Receiver.java
//
// service.pem is the service's public key. Replace findOrder and book by your own database, and test the result with a key
// of your own, whose public part is then service.pem:
//
//     openssl genrsa -out test-key.pem 2048 && openssl rsa -in test-key.pem -pubout -out service.pem
//     paylink check http://127.0.0.1:3000/webhooks/paylink --sign-with test-key.pem
//
// In production, run it behind your web server, which ends TLS.

import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.MessageDigest;
import java.security.PublicKey;
import java.security.Signature;
import java.security.interfaces.RSAPublicKey;
import java.security.spec.InvalidKeySpecException;
import java.security.spec.X509EncodedKeySpec;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

public class Receiver {
    static final String PATH = "/webhooks/paylink";
    static final int MAX_BODY = 1024 * 1024;
    /** If the service repeats a webhook with its first signature, allow as long as it repeats. */
    static final Duration MAX_AGE = Duration.ofMinutes(5);
    static final Duration CLOCK_SKEW = Duration.ofMinutes(1);
    /** What the service signs. A signature over less does not protect the payment. */
    static final List<String> COVERED = List.of("content-digest", "content-length", "content-type");
    static final Path BOOKINGS = Path.of("bookings");
    static final String KEY_NEEDED = "Set PAYLINK_WEBHOOK_KEY to the service's public RSA key (PEM, at least 2048 bits), "
            + "or PAYLINK_WEBHOOK_KEY_FILE to the file that holds it";

    // --- Your application -----------------------------------------------------------------------

    record Order(BigDecimal amount, String currency) {}

    /**
     * Your order lookup here: what this order costs. Null if there is no such order.
     * A payment through a reusable link has the reference "<invoiceId>-<9 characters>".
     */
    static Order findOrder(String reference) {
        return Map.of("INV-1001", new Order(new BigDecimal("10.00"), "EUR")).get(reference);
    }

    /**
     * Books a payment, durably. False if it is booked already: then do not deliver the goods again.
     *
     * <p>Your database here: INSERT INTO bookings (uti, reference) VALUES (?, ?), where uti is the primary key, is all of
     * this. Until then, each booking is a file. It is complete on disk before it gets its name, which only one request can
     * give it.
     */
    static boolean book(String uti, String reference) throws IOException {
        Path draft = Files.createTempFile(BOOKINGS, "draft", null);
        try {
            Files.writeString(draft, uti + "\n" + reference + "\n", StandardOpenOption.DSYNC);
            String name = HexFormat.of().formatHex(sha256(uti.getBytes(StandardCharsets.UTF_8)));
            boolean added = linked(BOOKINGS.resolve(name), draft);
            // The name is on disk too, whichever request gave it.
            try (FileChannel folder = FileChannel.open(BOOKINGS)) {
                folder.force(true);
            }
            return added;
        } finally {
            Files.delete(draft);
        }
    }

    static boolean linked(Path name, Path file) throws IOException {
        try {
            Files.createLink(name, file);
            return true;
        } catch (FileAlreadyExistsException already) {
            return false;
        }
    }

    /** Called for every authentic webhook. Says what was done, for the log. */
    static String process(Map<String, Object> record) throws IOException {
        String outcome = outcomeOf(record);
        if (!outcome.equals("APPROVED")) return outcome + ", nothing to book";
        if (!(record.get("uti") instanceof String uti) || uti.isEmpty()
                || !(record.get("reference") instanceof String reference))
            return "APPROVED, but without uti or reference: look into it";
        Order order = findOrder(reference);
        BigDecimal amount = decimalOf(record.get("amountTrans"));
        String currency = String.valueOf(record.get("transCurrencyCode"));
        if (order == null || amount == null || amount.compareTo(order.amount()) != 0
                || !order.currency().equalsIgnoreCase(currency))
            return "APPROVED, but " + quoted(reference) + " is no order of this amount and currency: look into it";
        return book(uti, reference)
                ? "APPROVED, " + quoted(reference) + " booked"
                : "APPROVED, " + quoted(uti) + " is booked already";
    }

    /** For the log: on one line, whatever it holds. */
    static String quoted(String text) {
        return '"' + text.replaceAll("\\p{C}", "?") + '"';
    }

    // --- The record: read only after its signature is verified ----------------------------------

    /** Null if the body is not a JSON object. */
    static Map<String, Object> readRecord(byte[] body) {
        try {
            String text = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(body)).toString();
            return new Json(text).document() instanceof JsonObject object ? object.members() : null;
        } catch (CharacterCodingException | IllegalArgumentException malformed) {
            return null;
        }
    }

    /** Only APPROVED pays an order. UNCLEAR is authentic, but does not say what happened. */
    static String outcomeOf(Map<String, Object> record) {
        if (record == null
                || !(record.get("transApproved") instanceof Boolean approved)
                || !(record.get("transCancelled") instanceof Boolean cancelled)
                || approved && cancelled) return "UNCLEAR";
        Object status = record.get("status");
        if (status != null && !(status instanceof String text && text.equalsIgnoreCase("Complete"))) return "UNCLEAR";
        if (!approved) return cancelled ? "CANCELLED" : "DECLINED";
        Object partially = record.get("transPartiallyApproved");
        if (partially != null && !(partially instanceof Boolean)) return "UNCLEAR";
        return Boolean.TRUE.equals(partially) ? "PARTIALLY_APPROVED" : "APPROVED";
    }

    /** A number, or the text of one. Null if it is no amount. */
    static BigDecimal decimalOf(Object value) {
        String text = value instanceof JsonNumber number ? number.text() : value instanceof String string ? string : "";
        boolean isAmount = text.matches("-?[0-9]{1,30}(\\.[0-9]{1,30})?([eE][+-]?[0-9]{1,2})?");
        return isAmount ? new BigDecimal(text) : null;
    }

    record JsonObject(Map<String, Object> members) {}

    /** Numbers stay text: double does not hold amounts exactly. */
    record JsonNumber(String text) {}

    /** Java has no reader of JSON. If you use Jackson, enable USE_BIG_DECIMAL_FOR_FLOATS and leave this out. */
    static final class Json {
        private static final Pattern STRING = Pattern.compile("\"((?:[^\"\\\\\\x00-\\x1f]|\\\\(?:[\"\\\\/bfnrt]|u[0-9a-fA-F]{4}))*+)\"");
        private static final Pattern NUMBER = Pattern.compile("-?(?:0|[1-9][0-9]*+)(?:\\.[0-9]++)?(?:[eE][+-]?[0-9]++)?");
        private static final Pattern ESCAPE = Pattern.compile("\\\\(?:u(....)|(.))");
        private static final int MAX_DEPTH = 100;
        private final String text;
        private int at = 0;

        Json(String text) {
            this.text = text;
        }

        Object document() {
            Object value = value(0);
            if (at != text.length()) throw new IllegalArgumentException("more than one value");
            return value;
        }

        private Object value(int depth) {
            if (depth > MAX_DEPTH) throw new IllegalArgumentException("nested too deeply");
            space();
            Object value = switch (at < text.length() ? text.charAt(at) : ' ') {
                case '{' -> object(depth);
                case '[' -> array(depth);
                case '"' -> string();
                case 't' -> word("true", true);
                case 'f' -> word("false", false);
                case 'n' -> word("null", null);
                default -> new JsonNumber(next(NUMBER).group());
            };
            space();
            return value;
        }

        private JsonObject object(int depth) {
            Map<String, Object> members = new HashMap<>();
            at++;
            space();
            if (skip('}')) return new JsonObject(members);
            do {
                space();
                String name = string();
                space();
                if (!skip(':')) throw new IllegalArgumentException("no colon");
                members.put(name, value(depth + 1));
            } while (skip(','));
            if (!skip('}')) throw new IllegalArgumentException("an object without end");
            return new JsonObject(members);
        }

        private List<Object> array(int depth) {
            List<Object> values = new ArrayList<>();
            at++;
            space();
            if (skip(']')) return values;
            do values.add(value(depth + 1));
            while (skip(','));
            if (!skip(']')) throw new IllegalArgumentException("a list without end");
            return values;
        }

        private String string() {
            return ESCAPE.matcher(next(STRING).group(1)).replaceAll(escape -> Matcher.quoteReplacement(
                    escape.group(1) != null
                            ? String.valueOf((char) Integer.parseInt(escape.group(1), 16))
                            : switch (escape.group(2)) {
                                case "b" -> "\b";
                                case "f" -> "\f";
                                case "n" -> "\n";
                                case "r" -> "\r";
                                case "t" -> "\t";
                                default -> escape.group(2);
                            }));
        }

        private Object word(String word, Object value) {
            if (!text.startsWith(word, at)) throw new IllegalArgumentException("not a value");
            at += word.length();
            return value;
        }

        private Matcher next(Pattern pattern) {
            Matcher found = pattern.matcher(text).region(at, text.length());
            if (!found.lookingAt()) throw new IllegalArgumentException("not a value");
            at = found.end();
            return found;
        }

        private boolean skip(char expected) {
            if (at == text.length() || text.charAt(at) != expected) return false;
            at++;
            return true;
        }

        private void space() {
            while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) at++;
        }
    }

    // --- The signature: RFC 9421, in the form in which this service sends it --------------------

    /** The webhook is not authentic. The reason is for your log, never for the sender. */
    static final class Refused extends Exception {
        Refused(String reason) {
            super(reason);
        }
    }

    // The grammar of RFC 8941. The fields can have further signatures, which relays add: they must be well-formed.
    // Possessive repetitions (*+) need no stack, however long a field is.
    static final String LABEL = "[a-z*][a-z0-9_.*-]*+";
    static final String STRING = "\"(?:[ !#-\\[\\]-~]|\\\\[\"\\\\])*+\"";
    static final String BYTES = ":[A-Za-z0-9+/]*+={0,2}:";
    static final String VALUE = "(?:-?[0-9]{1,15}(?:\\.[0-9]{1,3})?|" + STRING + "|" + BYTES
            + "|\\?[01]|[A-Za-z*][\\w!#$%&'*+.^`|~:/-]*+)";
    static final String PARAMETERS = "(?:; *" + LABEL + "(?:=" + VALUE + ")?)*+";
    static final String ITEM = STRING + PARAMETERS;
    static final String INPUT =
            "(" + LABEL + ")=\\( *((?:" + ITEM + "(?: +" + ITEM + ")*+)?) *\\)(" + PARAMETERS + ")";
    static final String SIGNATURE = "(" + LABEL + ")=(" + BYTES + ")" + PARAMETERS;
    static final Pattern PARAMETER = Pattern.compile("; *(" + LABEL + ")(?:=(" + VALUE + "))?");
    static final Pattern DIGEST = Pattern.compile("sha-256=:([A-Za-z0-9+/]{43}=?):");

    static final String INTEGER = "0|[1-9][0-9]{0,14}";
    static final Map<String, String> SIGNATURE_PARAMETERS = Map.of(
            "created", INTEGER,
            "expires", INTEGER,
            "keyid", STRING,
            "nonce", STRING,
            "tag", STRING,
            // The receiver decides on the algorithm, never the message.
            "alg", "\"rsa-v1_5-sha256\"");

    /** Throws Refused unless the service signed exactly these bytes, a short time ago. */
    static void verify(Headers headers, byte[] body, PublicKey key, Instant now)
            throws Refused, GeneralSecurityException {
        Map<String, String> fields = new HashMap<>();
        for (String name : COVERED) fields.put('"' + name + '"', singleLine(headers, name));
        if (!fields.get("\"content-length\"").equals(String.valueOf(body.length)))
            throw new Refused("Content-Length is not the length of the body");
        Matcher digest = DIGEST.matcher(fields.get("\"content-digest\""));
        if (!digest.matches() || !MessageDigest.isEqual(bytesOf(digest.group(1)), sha256(body)))
            throw new Refused("Content-Digest is not the SHA-256 of the body");

        Map<String, Matcher> inputs = dictionary(headers, "Signature-Input", INPUT);
        Map<String, Matcher> signatures = dictionary(headers, "Signature", SIGNATURE);
        if (!inputs.containsKey("sig1") || !inputs.keySet().equals(signatures.keySet()))
            throw new Refused("there is no signature sig1, or the two fields name different signatures");
        List<String> covered = Arrays.stream(inputs.get("sig1").group(2).split(" ")).filter(name -> !name.isEmpty()).toList();
        if (covered.size() != fields.size() || !Set.copyOf(covered).equals(fields.keySet()))
            throw new Refused("the signature covers " + inputs.get("sig1").group(2));
        // In the canonical form, whatever spaces the header has: that is what was signed.
        StringBuilder base = new StringBuilder();
        for (String name : covered) base.append(name).append(": ").append(fields.get(name)).append('\n');
        base.append("\"@signature-params\": (").append(String.join(" ", covered)).append(')');
        base.append(checkParameters(inputs.get("sig1").group(3), now));

        Signature rsa = Signature.getInstance("SHA256withRSA");
        rsa.initVerify(key);
        rsa.update(base.toString().getBytes(StandardCharsets.ISO_8859_1));
        byte[] signature = bytesOf(signatures.get("sig1").group(2).replace(":", ""));
        if (!matches(rsa, signature))
            throw new Refused("the signature does not match: it is forged, or PAYLINK_WEBHOOK_KEY is another key");
    }

    /** A signature of another length is an exception in Java. */
    static boolean matches(Signature rsa, byte[] signature) {
        try {
            return rsa.verify(signature);
        } catch (GeneralSecurityException otherLength) {
            return false;
        }
    }

    /** Returns the parameters in their canonical form. */
    static String checkParameters(String text, Instant now) throws Refused {
        Map<String, String> values = new LinkedHashMap<>();
        for (Matcher found = PARAMETER.matcher(text); found.find(); ) {
            String name = found.group(1);
            String value = found.group(2) == null ? "" : found.group(2);
            if (!value.matches(SIGNATURE_PARAMETERS.getOrDefault(name, "(?!)")))
                throw new Refused(
                        "the parameter " + name + " of the signature is unknown, or has a value that it cannot have");
            if (values.put(name, value) != null)
                throw new Refused("the parameter " + name + " of the signature is given twice");
        }
        // The service does not promise created: its absence is no reason to lose a payment.
        if (values.containsKey("created")) {
            Duration age = Duration.between(Instant.ofEpochSecond(Long.parseLong(values.get("created"))), now);
            if (age.compareTo(MAX_AGE.plus(CLOCK_SKEW)) > 0 || age.compareTo(CLOCK_SKEW.negated()) < 0)
                throw new Refused("the signature is too old, or from the future");
        }
        if (values.containsKey("expires") && now.getEpochSecond() > Long.parseLong(values.get("expires")))
            throw new Refused("the signature has expired");
        StringBuilder canonical = new StringBuilder();
        values.forEach((name, value) -> canonical.append(';').append(name).append('=').append(value));
        return canonical.toString();
    }

    /** Two programs may each read another one of two lines. */
    static String singleLine(Headers headers, String name) throws Refused {
        List<String> lines = headers.getOrDefault(name, List.of());
        if (lines.size() != 1) throw new Refused("there are " + lines.size() + " lines " + name);
        return lines.get(0).strip();
    }

    /** The members by name; several lines of these two fields are one list. */
    static Map<String, Matcher> dictionary(Headers headers, String name, String member) throws Refused {
        String text = String.join(", ", headers.getOrDefault(name, List.of()));
        if (text.length() > 8192 || !text.matches(member + "(?:[ \\t]*,[ \\t]*" + member + ")*+"))
            throw new Refused(name + " is missing or malformed");
        Map<String, Matcher> members = new HashMap<>();
        Pattern pattern = Pattern.compile(member);
        for (int at = 0; at < text.length(); ) {
            Matcher found = pattern.matcher(text);
            if (!found.find(at)) break;
            if (members.put(found.group(1), found) != null)
                throw new Refused(name + " has the signature " + found.group(1) + " twice");
            at = found.end();
        }
        return members;
    }

    /** Padding may be left out (RFC 8941 4.2.7), but not be too much. */
    static byte[] bytesOf(String text) throws Refused {
        try {
            return Base64.getDecoder().decode(text);
        } catch (IllegalArgumentException malformed) {
            throw new Refused("a byte sequence is malformed");
        }
    }

    static byte[] sha256(byte[] bytes) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(bytes);
        } catch (GeneralSecurityException everyJavaHasIt) {
            throw new IllegalStateException(everyJavaHasIt);
        }
    }

    /** Throws IllegalArgumentException without a key: without one, nothing can be verified. */
    static PublicKey readKey() throws GeneralSecurityException {
        // Tools that set variables may leave \n where a line ends.
        String pem = System.getenv().getOrDefault("PAYLINK_WEBHOOK_KEY", "").replace("\\n", "\n");
        try {
            if (pem.isEmpty()) pem = Files.readString(Path.of(System.getenv().getOrDefault("PAYLINK_WEBHOOK_KEY_FILE", "")));
        } catch (IOException unreadable) {
            throw new IllegalArgumentException(KEY_NEEDED + ": the file cannot be read: " + unreadable);
        }
        Matcher found = Pattern.compile("-----BEGIN PUBLIC KEY-----([^-]+)-----END PUBLIC KEY-----").matcher(pem);
        if (!found.find()) throw new IllegalArgumentException(KEY_NEEDED + ": this is no public key in PEM.");
        X509EncodedKeySpec der = new X509EncodedKeySpec(Base64.getMimeDecoder().decode(found.group(1)));
        try {
            RSAPublicKey key = (RSAPublicKey) KeyFactory.getInstance("RSA").generatePublic(der);
            if (key.getModulus().bitLength() < 2048 || key.getPublicExponent().compareTo(BigInteger.TWO) <= 0)
                throw new InvalidKeySpecException("too weak");
            return key;
        } catch (InvalidKeySpecException another) {
            throw new IllegalArgumentException(KEY_NEEDED + ": this is another kind of key.");
        }
    }

    // --- HTTP ------------------------------------------------------------------------------------

    static int receive(HttpExchange exchange, PublicKey key) {
        Headers headers = exchange.getRequestHeaders();
        if (!PATH.equals(exchange.getRequestURI().getRawPath())) return 404;
        if (!exchange.getRequestMethod().equals("POST")) return 405;
        String contentType = headers.getFirst("Content-Type");
        if (contentType == null || !contentType.split(";")[0].strip().equalsIgnoreCase("application/json")) return 415;
        try {
            byte[] body = exchange.getRequestBody().readNBytes(MAX_BODY + 1);
            if (body.length > MAX_BODY) return 413;
            verify(headers, body, key, Instant.now());
            System.err.println("200: " + process(readRecord(body)));
            return 200;
        } catch (Refused refused) {
            System.err.println("401: " + refused.getMessage());
            return 401;
        } catch (IOException | GeneralSecurityException | RuntimeException error) {
            // Not kept, so not 200: the service sends the webhook again.
            System.err.println("500: " + error);
            return 500;
        }
    }

    public static void main(String[] arguments) {
        String port = System.getenv().getOrDefault("PORT", "3000");
        try {
            start(Integer.parseInt(port), readKey());
        } catch (IOException | GeneralSecurityException | IllegalArgumentException error) {
            System.err.println("Not started at port " + port + ": " + error.getMessage());
            System.exit(1);
        }
    }

    static void start(int port, PublicKey key) throws IOException {
        Files.createDirectories(BOOKINGS);
        // Seconds that a request may take to arrive: it occupies a thread.
        System.setProperty("sun.net.httpserver.maxReqTime", "10");
        HttpServer server = HttpServer.create(new InetSocketAddress(port), 0);
        server.setExecutor(Executors.newFixedThreadPool(16));
        server.createContext("/", exchange -> {
            try (exchange) {
                int status = receive(exchange, key);
                if (status == 405) exchange.getResponseHeaders().set("Allow", "POST");
                exchange.sendResponseHeaders(status, -1);
            }
        });
        server.start();
        System.err.println("Receiving webhooks at port " + server.getAddress().getPort() + ", path " + PATH);
    }
}
