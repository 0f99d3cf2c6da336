// Receives the payment service's webhooks: Go 1.19 or later, with nothing but its standard library.
//
//	PORT=3000 PAYLINK_WEBHOOK_KEY_FILE=service.pem go run receiver.go
//
// service.pem is the service's public key. Replace findOrder and book by your own database, and test the result with a key
// of your own, whose public part is then service.pem:
//
//	openssl genrsa -out test-key.pem 2048 && openssl rsa -in test-key.pem -pubout -out service.pem
//	paylink check http://127.0.0.1:3000/webhooks/paylink --sign-with test-key.pem
//
// In production, run it behind your web server, which ends TLS.
package main

import (
	"crypto"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/subtle"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

const (
	path    = "/webhooks/paylink"
	maxBody = 1 << 20
	// If the service repeats a webhook with its first signature, allow as long as it repeats.
	maxAge    = 5 * time.Minute
	clockSkew = time.Minute
	// Where book keeps the bookings.
	bookings  = "bookings"
	keyNeeded = "set PAYLINK_WEBHOOK_KEY to the service's public RSA key (PEM, at least 2048 bits), " +
		"or PAYLINK_WEBHOOK_KEY_FILE to the file that holds it"
)

// What the service signs. A signature over less does not protect the payment.
var covered = []string{"content-digest", "content-length", "content-type"}

// --- Your application ---------------------------------------------------------------------------

type order struct{ amount, currency string }

// findOrder: your order lookup here. It says what an order costs, as exact decimal text.
// A payment through a reusable link has the reference "<invoiceId>-<9 characters>".
func findOrder(reference string) (order, bool) {
	orders := map[string]order{"INV-1001": {"10.00", "EUR"}}
	found, ok := orders[reference]
	return found, ok
}

// book books a payment, durably. False if it is booked already: then do not deliver the goods again.
//
// Your database here: INSERT INTO bookings (uti, reference) VALUES (?, ?), where uti is the primary key, is all of this.
// Until then, each booking is a file. It is complete on disk before it gets its name, which only one request can give it.
func book(uti, reference string) (bool, error) {
	draft, err := os.CreateTemp(bookings, "draft-*")
	if err != nil {
		return false, err
	}
	defer os.Remove(draft.Name())
	defer draft.Close()
	if err := json.NewEncoder(draft).Encode(map[string]string{"uti": uti, "reference": reference}); err != nil {
		return false, err
	}
	if err := draft.Sync(); err != nil {
		return false, err
	}
	name := filepath.Join(bookings, fmt.Sprintf("%x.json", sha256.Sum256([]byte(uti))))
	err = os.Link(draft.Name(), name)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return false, err
	}
	folder, openErr := os.Open(bookings)
	if openErr != nil {
		return false, openErr
	}
	defer folder.Close()
	return err == nil, folder.Sync()
}

// process is called for every authentic webhook. It says what was done, for the log.
func process(record map[string]json.RawMessage) (string, error) {
	outcome := outcomeOf(record)
	if outcome != "APPROVED" {
		return outcome + ", nothing to book", nil
	}
	uti, reference := textOf(record["uti"]), textOf(record["reference"])
	if uti == "" || reference == "" {
		return "APPROVED, but without uti or reference: look into it", nil
	}
	order, known := findOrder(reference)
	amount, price := decimalOf(record["amountTrans"]), decimalOf(json.RawMessage(order.amount))
	currency := strings.ToUpper(textOf(record["transCurrencyCode"]))
	if !known || amount == nil || price == nil || amount.Cmp(price) != 0 || currency != order.currency {
		return fmt.Sprintf("APPROVED, but %q is no order of this amount and currency: look into it", reference), nil
	}
	added, err := book(uti, reference)
	if err != nil || added {
		return fmt.Sprintf("APPROVED, %q booked", reference), err
	}
	return fmt.Sprintf("APPROVED, %q is booked already", uti), nil
}

// --- The record: read only after its signature is verified --------------------------------------

// readRecord returns nil if the body is not a JSON object. A struct would take members in any case for its fields.
func readRecord(body []byte) map[string]json.RawMessage {
	var record map[string]json.RawMessage
	if !utf8.Valid(body) || json.Unmarshal(body, &record) != nil {
		return nil
	}
	return record
}

// outcomeOf: only APPROVED pays an order. UNCLEAR is authentic, but does not say what happened.
func outcomeOf(record map[string]json.RawMessage) string {
	is := func(name, value string) bool { return string(record[name]) == value }
	isFlag := func(name string) bool { return is(name, "true") || is(name, "false") }
	isAbsent := func(name string) bool { return record[name] == nil || is(name, "null") }
	approved, cancelled := is("transApproved", "true"), is("transCancelled", "true")
	switch {
	case !isFlag("transApproved") || !isFlag("transCancelled") || approved && cancelled:
		return "UNCLEAR"
	case !isAbsent("status") && !strings.EqualFold(textOf(record["status"]), "Complete"):
		return "UNCLEAR"
	case cancelled:
		return "CANCELLED"
	case !approved:
		return "DECLINED"
	case is("transPartiallyApproved", "true"):
		return "PARTIALLY_APPROVED"
	case !is("transPartiallyApproved", "false") && !isAbsent("transPartiallyApproved"):
		return "UNCLEAR"
	}
	return "APPROVED"
}

// textOf returns "" for anything but a string.
func textOf(value json.RawMessage) string {
	var text string
	if json.Unmarshal(value, &text) != nil {
		return ""
	}
	return text
}

var decimalPattern = regexp.MustCompile(`^"?(-?[0-9]{1,30}(?:\.[0-9]{1,30})?(?:[eE][+-]?[0-9]{1,2})?)"?$`)

// decimalOf reads a number, or the text of one, exactly: floats do not hold amounts exactly. Nil if it is no amount.
func decimalOf(value json.RawMessage) *big.Rat {
	match := decimalPattern.FindSubmatch(value)
	if match == nil {
		return nil
	}
	decimal, _ := new(big.Rat).SetString(string(match[1]))
	return decimal
}

// --- The signature: RFC 9421, in the form in which this service sends it -------------------------

// The grammar of RFC 8941. The fields can have further signatures, which relays add: they must be well-formed.
const (
	labelText  = `[a-z*][a-z0-9_.*-]*`
	stringText = `"(?:[ !#-\[\]-~]|\\["\\])*"`
	bytesText  = `:[A-Za-z0-9+/]*={0,2}:`
	valueText  = `(?:-?[0-9]{1,15}(?:\.[0-9]{1,3})?|` + stringText + `|` + bytesText + `|\?[01]|[A-Za-z*][\w!#$%&'*+.^|~:/` + "`" + `-]*)`
	parameters = `(?:; *` + labelText + `(?:=` + valueText + `)?)*`
	item       = stringText + parameters
	input      = `(` + labelText + `)=\( *((?:` + item + `(?: +` + item + `)*)?) *\)(` + parameters + `)`
	signature  = `(` + labelText + `)=(` + bytesText + `)` + parameters
)

var (
	digestPattern    = regexp.MustCompile(`^sha-256=:([A-Za-z0-9+/]{43}=?):$`)
	parameterPattern = regexp.MustCompile(`; *(` + labelText + `)(?:=(` + valueText + `))?`)
	integerPattern   = regexp.MustCompile(`^(?:0|[1-9][0-9]{0,14})$`)
	stringPattern    = regexp.MustCompile(`^` + stringText + `$`)
	knownParameters  = map[string]*regexp.Regexp{
		"created": integerPattern,
		"expires": integerPattern,
		"keyid":   stringPattern,
		"nonce":   stringPattern,
		"tag":     stringPattern,
		// The receiver decides on the algorithm, never the message.
		"alg": regexp.MustCompile(`^"rsa-v1_5-sha256"$`),
	}
	inputs     = fieldOf("Signature-Input", input)
	signatures = fieldOf("Signature", signature)
)

// verify returns an error unless the service signed exactly these bytes, a short time ago. The error is for your log,
// never for the sender.
func verify(header http.Header, body []byte, key *rsa.PublicKey, now time.Time) error {
	fields := map[string]string{}
	for _, name := range covered {
		lines := header.Values(name)
		// Two programs may each read another one of two lines.
		if len(lines) != 1 {
			return fmt.Errorf("there are %d lines %s", len(lines), name)
		}
		fields[`"`+name+`"`] = strings.Trim(lines[0], " \t")
	}
	if fields[`"content-length"`] != strconv.Itoa(len(body)) {
		return errors.New("Content-Length is not the length of the body")
	}
	sum := sha256.Sum256(body)
	digest := digestPattern.FindStringSubmatch(fields[`"content-digest"`])
	if digest == nil || subtle.ConstantTimeCompare(bytesOf(digest[1]), sum[:]) != 1 {
		return errors.New("Content-Digest is not the SHA-256 of the body")
	}

	given, err := inputs.read(header)
	if err != nil {
		return err
	}
	values, err := signatures.read(header)
	if err != nil {
		return err
	}
	for label := range given {
		if values[label] == nil {
			return fmt.Errorf("Signature has no %s", label)
		}
	}
	if given["sig1"] == nil || len(given) != len(values) {
		return errors.New("there is no signature sig1, or the two fields name different signatures")
	}
	// In the canonical form, whatever spaces the header has: that is what was signed.
	var base strings.Builder
	names := strings.Fields(given["sig1"][0])
	signed := map[string]bool{}
	for _, name := range names {
		signed[name] = true
		fmt.Fprintf(&base, "%s: %s\n", name, fields[name])
	}
	for name := range fields {
		if !signed[name] || len(names) != len(fields) {
			return fmt.Errorf("the signature covers %s", given["sig1"][0])
		}
	}
	canonical, err := checkParameters(given["sig1"][1], now)
	if err != nil {
		return err
	}
	fmt.Fprintf(&base, `"@signature-params": (%s)%s`, strings.Join(names, " "), canonical)
	hash := sha256.Sum256([]byte(base.String()))
	if rsa.VerifyPKCS1v15(key, crypto.SHA256, hash[:], bytesOf(strings.Trim(values["sig1"][0], ":"))) != nil {
		return errors.New("the signature does not match: it is forged, or PAYLINK_WEBHOOK_KEY is another key")
	}
	return nil
}

// checkParameters returns the parameters in their canonical form.
func checkParameters(text string, now time.Time) (string, error) {
	var canonical strings.Builder
	times := map[string]time.Time{}
	seen := map[string]bool{}
	for _, found := range parameterPattern.FindAllStringSubmatch(text, -1) {
		name, value := found[1], found[2]
		if seen[name] {
			return "", fmt.Errorf("the parameter %s of the signature is given twice", name)
		}
		seen[name] = true
		if allowed := knownParameters[name]; allowed == nil || !allowed.MatchString(value) {
			return "", fmt.Errorf("the parameter %s of the signature is unknown, or has a value that it cannot have", name)
		}
		if seconds, err := strconv.ParseInt(value, 10, 64); err == nil {
			times[name] = time.Unix(seconds, 0)
		}
		fmt.Fprintf(&canonical, ";%s=%s", name, value)
	}
	// The service does not promise created: its absence is no reason to lose a payment.
	if created, ok := times["created"]; ok && (created.Before(now.Add(-maxAge-clockSkew)) || created.After(now.Add(clockSkew))) {
		return "", errors.New("the signature is too old, or from the future")
	}
	if expires, ok := times["expires"]; ok && now.After(expires) {
		return "", errors.New("the signature has expired")
	}
	return canonical.String(), nil
}

type field struct {
	name          string
	whole, member *regexp.Regexp
}

func fieldOf(name, member string) field {
	whole := `^` + member + `(?:[ \t]*,[ \t]*` + member + `)*$`
	return field{name, regexp.MustCompile(whole), regexp.MustCompile(member)}
}

// read returns the members by name; several lines of such a field are one list.
func (f field) read(header http.Header) (map[string][]string, error) {
	text := strings.Join(header.Values(f.name), ", ")
	if len(text) > 8192 || !f.whole.MatchString(text) {
		return nil, fmt.Errorf("%s is missing or malformed", f.name)
	}
	members := map[string][]string{}
	for _, found := range f.member.FindAllStringSubmatch(text, -1) {
		if members[found[1]] != nil {
			return nil, fmt.Errorf("%s has the signature %s twice", f.name, found[1])
		}
		members[found[1]] = found[2:]
	}
	return members, nil
}

// bytesOf: padding may be left out (RFC 8941 4.2.7), but not be too much. Nil if it is malformed, which matches nothing.
func bytesOf(text string) []byte {
	bare := strings.TrimRight(text, "=")
	decoded, err := base64.RawStdEncoding.DecodeString(bare)
	if err != nil || bare != text && len(text)%4 != 0 {
		return nil
	}
	return decoded
}

func readKey() (*rsa.PublicKey, error) {
	// Tools that set variables may leave \n where a line ends.
	text := []byte(strings.ReplaceAll(os.Getenv("PAYLINK_WEBHOOK_KEY"), `\n`, "\n"))
	if len(text) == 0 {
		var err error
		if text, err = os.ReadFile(os.Getenv("PAYLINK_WEBHOOK_KEY_FILE")); err != nil {
			return nil, fmt.Errorf("%s: %w", keyNeeded, err)
		}
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, errors.New(keyNeeded + ": this is no PEM")
	}
	parsed, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		parsed, err = x509.ParsePKCS1PublicKey(block.Bytes)
	}
	key, ok := parsed.(*rsa.PublicKey)
	if err != nil || !ok || key.N.BitLen() < 2048 || key.E < 3 {
		return nil, errors.New(keyNeeded + ": this is another kind of key")
	}
	return key, nil
}

// --- HTTP ----------------------------------------------------------------------------------------

func receive(key *rsa.PublicKey) http.HandlerFunc {
	return func(response http.ResponseWriter, request *http.Request) {
		if request.Method != http.MethodPost {
			response.Header().Set("Allow", http.MethodPost)
			response.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		mediaType, _, _ := strings.Cut(request.Header.Get("Content-Type"), ";")
		if !strings.EqualFold(strings.Trim(mediaType, " \t"), "application/json") {
			response.WriteHeader(http.StatusUnsupportedMediaType)
			return
		}
		body, err := io.ReadAll(http.MaxBytesReader(response, request.Body, maxBody))
		if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
			response.WriteHeader(http.StatusRequestEntityTooLarge)
			return
		}
		if err != nil {
			response.WriteHeader(http.StatusBadRequest)
			return
		}
		if err := verify(request.Header, body, key, time.Now()); err != nil {
			log.Printf("401: %v", err)
			response.WriteHeader(http.StatusUnauthorized)
			return
		}
		done, err := process(readRecord(body))
		if err != nil {
			// Not kept, so not 200: the service sends the webhook again.
			log.Printf("500: %v", err)
			response.WriteHeader(http.StatusInternalServerError)
			return
		}
		log.Printf("200: %s", done)
		response.WriteHeader(http.StatusOK)
	}
}

func main() {
	key, err := readKey()
	if err != nil {
		log.Fatal(err)
	}
	if err := os.MkdirAll(bookings, 0o700); err != nil {
		log.Fatal(err)
	}
	port := os.Getenv("PORT")
	if port == "" {
		port = "3000"
	}
	routes := http.NewServeMux()
	routes.HandleFunc(path, receive(key))
	listener, err := net.Listen("tcp", ":"+port)
	if err != nil {
		log.Fatal(err)
	}
	server := &http.Server{
		Handler:        routes,
		ReadTimeout:    10 * time.Second,
		MaxHeaderBytes: 64 << 10,
	}
	log.Printf("Receiving webhooks at port %s, path %s", port, path)
	log.Fatal(server.Serve(listener))
}
