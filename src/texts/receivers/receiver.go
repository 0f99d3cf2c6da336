// Receives the payment service's webhooks: Go 1.19 or later, with only its standard library.
// To run it: PORT=3000 PAYLINK_WEBHOOK_KEY_FILE=service.pem go run receiver.go
// service.pem is the service's public key. In production, run it behind your web server, which terminates TLS.
// Replace findOrder and book with your own database, and test it with a key of your own:
// openssl genrsa -out test-key.pem 2048 && openssl rsa -in test-key.pem -pubout -out service.pem
// paylink check http://127.0.0.1:3000/webhooks/paylink --sign-with test-key.pem
package main

import (
	"crypto"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"math/big"
	"net/http"
	"os"
	"regexp"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

const path, maxBody = "/webhooks/paylink", 64 << 10
const maxAge, clockSkew = 5 * 60, 60 // Seconds. If the service repeats webhooks with their first signature, allow for as long as it repeats them.

var terminals = map[string]bool{} // {`"T-1"`: true}: one key may sign for several shops. Empty books payments of any.
// What the service signs, and how (RFC 9421). Everything else is refused, even if it would be safe.
var inputForm = regexp.MustCompile(`^sig1=(\("content-digest" "content-length" "content-type"\)` +
	`((?:;(?:created=(0|[1-9][0-9]{0,14})|keyid="[ !#-+\--:<-\[\]-~]*"|alg="rsa-v1_5-sha256"))*))$`)
var twice = regexp.MustCompile(`;created=.*;created=|;keyid=.*;keyid=|;alg=.*;alg=`)
var signatureForm = regexp.MustCompile(`^sig1=:([A-Za-z0-9+/]+={0,2}):$`)
var sig1 = regexp.MustCompile(`(?:^|,)[ \t]*sig1=[^,]*`)
var mediaType = regexp.MustCompile(`(?i)^application/json[ \t]*(?:;|$)`)
var noCoding = regexp.MustCompile(`(?i)^(?:[ \t,]|identity|(?:us-)?ascii|(?:utf|iso|latin|windows|cp)[-_]?[0-9][-_0-9]*)*$`) // No coding, identity, or the name of a charset: no byte of a body changes.

// findOrder: your order lookup here. A payment through a reusable link has the reference "<invoiceId>-<9 characters>".
func findOrder(reference string) (amount *big.Rat, currency string) {
	return map[string]*big.Rat{"INV-1001": big.NewRat(1000, 100)}[reference], "EUR"
}

// The amount of a part, by order and uti, and the uti of another payment, by order and amount. This receiver has no database, and forgets them when it ends: use yours.
var parts, others, lock = map[[2]string]*big.Rat{}, map[[2]string]string{}, sync.Mutex{}

// paying keeps a payment or a part of one of our orders, which arrive in any order. It returns the uti that pays the whole order, or the rest of it.
func paying(paid transaction, outcome string) string {
	price, currency := findOrder(paid.Reference)
	amount, isNumber := new(big.Rat).SetString(paid.AmountTrans.String())
	isOurs := price != nil && (len(terminals) == 0 || terminals[string(paid.TerminalID)])
	lock.Lock()
	defer lock.Unlock()
	switch {
	case !isOurs || !isNumber || amount.Sign() < 0 || !strings.EqualFold(paid.TransCurrencyCode, currency) || paid.UTI == "":
		return ""
	case outcome == "PARTIALLY_APPROVED":
		parts[[2]string{paid.Reference, paid.UTI}] = amount
	case amount.Cmp(price) == 0:
		return paid.UTI
	default:
		others[[2]string{paid.Reference, amount.RatString()}] = paid.UTI
	}
	rest := new(big.Rat).Set(price)
	for part, paidPart := range parts {
		if part[0] == paid.Reference {
			rest.Sub(rest, paidPart)
		}
	}
	return others[[2]string{paid.Reference, rest.RatString()}]
}

// book: false if booked; uti and reference unique (check --books tests it): INSERT INTO bookings (uti, reference) VALUES (?, ?) ON CONFLICT DO NOTHING
func book(uti, reference string) (bool, error) { return true, nil }

// What decides on a booking. Numbers stay text: floats do not hold amounts exactly.
type transaction struct {
	UTI, Reference, TransCurrencyCode, Status string
	AmountTrans                               json.Number
	TerminalID                                json.RawMessage
	TransApproved, TransCancelled             *bool
	TransPartiallyApproved                    bool
}

// process is called for every authentic webhook. It returns what was done, for the log.
func process(body []byte) (status int, done string) {
	paid, outcome := read(body)
	if outcome != "APPROVED" && outcome != "PARTIALLY_APPROVED" {
		return http.StatusOK, outcome + ", nothing to book"
	}
	uti := paying(paid, outcome)
	if uti == "" {
		return http.StatusOK, fmt.Sprintf("%s, but %q is not one of our orders for this amount and currency, or its rest is not paid yet: look into it", outcome, paid.Reference)
	}
	switch added, err := book(uti, paid.Reference); {
	case err != nil:
		return http.StatusInternalServerError, "not booked, so the service will send it again: " + err.Error()
	case !added:
		return http.StatusOK, fmt.Sprintf("%s, %q is already booked", outcome, paid.Reference)
	}
	return http.StatusOK, fmt.Sprintf("%s, %q booked", outcome, paid.Reference)
}

// read judges a record: only APPROVED pays an order. UNCLEAR is authentic, but does not say what happened. Of a member that is there twice, the last one counts: only the service can sign such a record.
func read(body []byte) (paid transaction, outcome string) {
	paid.Status = "Complete" // Where it has none. A member of another type is an error, and one byte order mark is skipped.
	err := json.Unmarshal([]byte(strings.TrimPrefix(string(body), "\ufeff")), &paid)
	switch {
	case err != nil || !utf8.Valid(body) || paid.TransApproved == nil || paid.TransCancelled == nil || *paid.TransApproved && *paid.TransCancelled,
		!strings.EqualFold(paid.Status, "Complete"):
		return paid, "UNCLEAR"
	case *paid.TransCancelled:
		return paid, "CANCELLED"
	case !*paid.TransApproved:
		return paid, "DECLINED"
	case paid.TransPartiallyApproved:
		return paid, "PARTIALLY_APPROVED"
	}
	return paid, "APPROVED"
}

// verify returns an error, for your log alone, unless the service signed exactly these bytes, a short time ago.
func verify(header http.Header, body []byte, key *rsa.PublicKey, now time.Time) error {
	hash, length, types := sha256.Sum256(body), fmt.Sprint(len(body)), header.Values("Content-Type")
	digest := "sha-256=:" + base64.StdEncoding.EncodeToString(hash[:]) + ":"
	// Gateways drop the length, and the digest makes up for it. Of two lines, different programs might read different ones.
	if sent := all(header, "Content-Length"); sent != length && sent != "" || all(header, "Content-Digest") != digest || len(types) != 1 {
		return fmt.Errorf("Content-Digest or Content-Length is not that of the body, or Content-Type is missing or there twice")
	}
	input, signature := inputForm.FindStringSubmatch(sig1Of(header, "Signature-Input")), signatureForm.FindStringSubmatch(sig1Of(header, "Signature"))
	if input == nil || signature == nil {
		return fmt.Errorf("the signature has another form, or covers other fields")
	}
	created := now.Unix() // Where it does not say: the service does not promise it.
	fmt.Sscan(input[3], &created)
	if age := now.Unix() - created; age < -clockSkew || age > maxAge+clockSkew || twice.MatchString(input[2]) {
		return fmt.Errorf("the signature is too old, from the future, or has a parameter twice")
	}
	hash = sha256.Sum256([]byte(fmt.Sprintf("\"content-digest\": %s\n\"content-length\": %s\n\"content-type\": %s\n\"@signature-params\": %s", digest, length, types[0], input[1])))
	bytes, err := base64.StdEncoding.DecodeString(signature[1])
	if err != nil || rsa.VerifyPKCS1v15(key, crypto.SHA256, hash[:], bytes) != nil {
		return fmt.Errorf("the signature does not match: it is forged, or PAYLINK_WEBHOOK_KEY is another key")
	}
	return nil
}

// sig1Of returns the one member sig1, two of which match nothing: a relay may have added other signatures.
func sig1Of(header http.Header, name string) string {
	return strings.Trim(strings.Join(sig1.FindAllString(all(header, name), -1), ""), ", \t")
}

func all(header http.Header, name string) string { return strings.Join(header.Values(name), ",") }

// readKey ends the program without a key: without one, nothing can be verified.
func readKey() *rsa.PublicKey {
	// The variable comes first. Tools that set variables may leave \n where a line ends.
	text, file := strings.ReplaceAll(os.Getenv("PAYLINK_WEBHOOK_KEY"), `\n`, "\n"), os.Getenv("PAYLINK_WEBHOOK_KEY_FILE")
	read, _ := os.ReadFile(file)
	block, _ := pem.Decode([]byte(text + "\n" + string(read)))
	if block == nil {
		block = &pem.Block{}
	}
	parsed, _ := x509.ParsePKIXPublicKey(block.Bytes)
	key, isRSA := parsed.(*rsa.PublicKey)
	if !isRSA || key.N.BitLen() < 2048 || key.E < 3 {
		log.Fatalf("set PAYLINK_WEBHOOK_KEY to the service's RSA public key in PEM, or PAYLINK_WEBHOOK_KEY_FILE to its file: this is not an RSA public key of 2048 bits or more in PEM (%s)", file)
	}
	return key
}

func receive(request *http.Request, key *rsa.PublicKey) (status int, done string) {
	body, _ := io.ReadAll(io.LimitReader(request.Body, maxBody+1)) // What did not arrive has another digest.
	switch {
	case request.Method != http.MethodPost:
		return http.StatusMethodNotAllowed, "another method"
	case !mediaType.MatchString(request.Header.Get("Content-Type")), !noCoding.MatchString(all(request.Header, "Content-Encoding")):
		return http.StatusUnsupportedMediaType, "another media type, or a content coding"
	case len(body) > maxBody:
		return http.StatusRequestEntityTooLarge, "the body is too long"
	}
	if err := verify(request.Header, body, key, time.Now()); err != nil {
		return http.StatusUnauthorized, err.Error()
	}
	return process(body)
}

func main() {
	key := readKey()
	http.HandleFunc(path, func(response http.ResponseWriter, request *http.Request) {
		status, done := receive(request, key)
		log.Printf("%d: %s", status, done)
		response.WriteHeader(status)
	})
	log.Fatal((&http.Server{Addr: ":" + os.Getenv("PORT"), ReadTimeout: 10 * time.Second}).ListenAndServe())
}
