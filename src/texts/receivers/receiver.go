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
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

const (
	path    = "/webhooks/paylink"
	maxBody = 64 << 10
	// If the service repeats webhooks with their first signature, allow for as long as it repeats them.
	maxAge, clockSkew = 5 * time.Minute, time.Minute
	keyNeeded         = "set PAYLINK_WEBHOOK_KEY to the service's RSA public key in PEM, or PAYLINK_WEBHOOK_KEY_FILE to its file"
)

var terminals = map[string]bool{} // {`"T-1"`: true}: one key may sign for several shops. Empty books payments of any.
// What the service signs, and how (RFC 9421). Everything else is refused, even if it would be safe.
var signed = regexp.MustCompile(`^sig1=(\("content-digest" "content-length" "content-type"\)` +
	`((?:;(?:created=(?:0|[1-9][0-9]{0,14})|keyid="[ !#-+\--:<-\[\]-~]*"|alg="rsa-v1_5-sha256"))*))$`)

// What changes no byte of a body: no coding, identity, or the name of a charset.
var noCoding = regexp.MustCompile(`(?i)^(?:[ \t,]|identity|(?:us-)?ascii|(?:utf|iso|latin|windows|cp)[-_]?[0-9][-_0-9]*)*$`)
var signature = regexp.MustCompile(`^sig1=:([A-Za-z0-9+/]+={0,2}):$`)

// findOrder: your order lookup here. A payment through a reusable link has the reference "<invoiceId>-<9 characters>".
func findOrder(reference string) (amount *big.Rat, currency string) {
	return map[string]*big.Rat{"INV-1001": big.NewRat(1000, 100)}[reference], "EUR"
}

// By order: its parts, and what else was approved. This receiver has no database, and forgets them when it ends: use yours.
var parts, others, lock = map[string]map[string]*big.Rat{}, map[string]map[string]*big.Rat{}, sync.Mutex{}

// paying keeps a payment or a part, which arrive in any order. It returns the uti that pays the whole order, or the rest of it.
func paying(uti, reference, outcome string, amount, price *big.Rat) string {
	lock.Lock()
	defer lock.Unlock()
	if parts[reference] == nil {
		parts[reference], others[reference] = map[string]*big.Rat{}, map[string]*big.Rat{}
	}
	map[bool]map[string]*big.Rat{true: others[reference], false: parts[reference]}[outcome == "APPROVED"][uti] = amount
	if outcome == "APPROVED" && amount.Cmp(price) == 0 {
		return uti
	}
	rest := new(big.Rat).Set(price)
	for _, part := range parts[reference] {
		rest.Sub(rest, part)
	}
	for one, paid := range others[reference] {
		if len(parts[reference]) > 0 && paid.Cmp(rest) == 0 {
			return one
		}
	}
	return ""
}

// book: false if booked; uti and reference unique (check --books tests it): INSERT INTO bookings (uti, reference) VALUES (?, ?) ON CONFLICT DO NOTHING
func book(uti, reference string) (bool, error) { return true, nil }

// What decides on a booking. Numbers stay text: floats do not hold amounts exactly.
type transaction struct {
	UTI, Reference, TransCurrencyCode                     string
	AmountTrans                                           json.Number
	TerminalID                                            json.RawMessage
	Status                                                *string
	TransApproved, TransCancelled, TransPartiallyApproved *bool
}

// process is called for every authentic webhook. It returns what was done, for the log.
func process(body []byte) (string, error) {
	var paid transaction
	// One byte order mark is skipped. A member of another type makes the outcome unclear.
	if err := json.Unmarshal([]byte(strings.TrimPrefix(string(body), "\ufeff")), &paid); err != nil || !utf8.Valid(body) {
		return fmt.Sprintf("UNCLEAR, nothing to book: %v", err), nil
	}
	outcome, payer := paid.outcome(), ""
	if outcome != "APPROVED" && outcome != "PARTIALLY_APPROVED" {
		return outcome + ", nothing to book", nil
	}
	price, currency := findOrder(paid.Reference)
	amount, isNumber := new(big.Rat).SetString(paid.AmountTrans.String())
	isOurs := len(terminals) == 0 || terminals[string(paid.TerminalID)]
	if isOurs && price != nil && isNumber && amount.Sign() >= 0 && strings.EqualFold(paid.TransCurrencyCode, currency) && paid.UTI != "" {
		payer = paying(paid.UTI, paid.Reference, outcome, amount, price)
	}
	if payer == "" {
		return fmt.Sprintf("%s, but %q is no order of ours for this amount and currency, or its rest is not paid yet: look into it", outcome, paid.Reference), nil
	}
	if added, err := book(payer, paid.Reference); err != nil || !added {
		return fmt.Sprintf("%s, %q is already booked", outcome, payer), err
	}
	return fmt.Sprintf("%s, %q booked", outcome, paid.Reference), nil
}

// outcome: only APPROVED pays an order. UNCLEAR is authentic, but does not say what happened. Of a member that is there twice, the last one counts: only the service can sign such a record.
func (t transaction) outcome() string {
	switch {
	case t.TransApproved == nil || t.TransCancelled == nil || *t.TransApproved && *t.TransCancelled,
		t.Status != nil && !strings.EqualFold(*t.Status, "Complete"):
		return "UNCLEAR"
	case *t.TransCancelled:
		return "CANCELLED"
	case !*t.TransApproved:
		return "DECLINED"
	case t.TransPartiallyApproved != nil && *t.TransPartiallyApproved:
		return "PARTIALLY_APPROVED"
	}
	return "APPROVED"
}

// verify returns an error, for your log alone, unless the service signed exactly these bytes, a short time ago.
func verify(header http.Header, body []byte, key *rsa.PublicKey, now time.Time) error {
	if header.Get("Content-Length") == "" { // Gateways drop it, and the digest makes up for it.
		header.Set("Content-Length", strconv.Itoa(len(body)))
	}
	base := ""
	for _, name := range []string{"content-digest", "content-length", "content-type"} {
		lines := header.Values(name)
		if len(lines) != 1 { // If there were two, different programs might read different ones.
			return fmt.Errorf("there are %d lines %s", len(lines), name)
		}
		base += fmt.Sprintf("%q: %s\n", name, strings.Trim(lines[0], " \t"))
	}
	sum := sha256.Sum256(body)
	digest := "sha-256=:" + base64.StdEncoding.EncodeToString(sum[:]) + ":"
	if header.Get("Content-Digest") != digest || header.Get("Content-Length") != strconv.Itoa(len(body)) {
		return fmt.Errorf("Content-Digest and Content-Length are not those of the body")
	}
	input, found := signed.FindStringSubmatch(sig1Of(header, "signature-input")), signature.FindStringSubmatch(sig1Of(header, "signature"))
	if input == nil || found == nil {
		return fmt.Errorf("the signature has another form, or covers other fields")
	}
	for _, parameter := range strings.Split(input[2], ";")[1:] {
		name, value, _ := strings.Cut(parameter, "=")
		// Of the three, created alone is a number. Its absence is no reason to lose a payment.
		seconds, err := strconv.ParseInt(value, 10, 64)
		age := now.Sub(time.Unix(seconds, 0))
		if strings.Count(input[2], ";"+name+"=") > 1 || err == nil && (age < -clockSkew || age > maxAge+clockSkew) {
			return fmt.Errorf("the signature is too old, from the future, or has a parameter twice")
		}
	}
	hash := sha256.Sum256([]byte(base + `"@signature-params": ` + input[1]))
	bytes, err := base64.StdEncoding.DecodeString(found[1])
	if err != nil || rsa.VerifyPKCS1v15(key, crypto.SHA256, hash[:], bytes) != nil {
		return fmt.Errorf("the signature does not match: it is forged, or PAYLINK_WEBHOOK_KEY is another key")
	}
	return nil
}

// sig1Of returns the one member sig1, two of which match nothing: a relay may have added other signatures.
func sig1Of(header http.Header, name string) (found string) {
	for _, member := range strings.Split(strings.Join(header.Values(name), ","), ",") {
		if member = strings.Trim(member, " \t"); strings.HasPrefix(member, "sig1=") {
			found += member
		}
	}
	return found
}

// readKey ends the program without a key: without one, nothing can be verified.
func readKey() *rsa.PublicKey {
	// Tools that set variables may leave \n where a line ends.
	text, file := strings.ReplaceAll(os.Getenv("PAYLINK_WEBHOOK_KEY"), `\n`, "\n"), os.Getenv("PAYLINK_WEBHOOK_KEY_FILE")
	read, _ := os.ReadFile(file)
	var der []byte
	if block, _ := pem.Decode([]byte(text + "\n" + string(read))); block != nil { // The variable comes first.
		der = block.Bytes
	}
	parsed, err := x509.ParsePKIXPublicKey(der)
	key, ok := parsed.(*rsa.PublicKey)
	if err != nil || !ok || key.N.BitLen() < 2048 || key.E < 3 {
		log.Fatalf("%s: this is not an RSA public key of 2048 bits or more in PEM (%s)", keyNeeded, file)
	}
	return key
}

func receive(request *http.Request, body []byte, key *rsa.PublicKey) (status int, reason string) {
	mediaType, _, _ := strings.Cut(request.Header.Get("Content-Type"), ";")
	switch {
	case request.URL.Path != path:
		return http.StatusNotFound, "another path"
	case request.Method != http.MethodPost:
		return http.StatusMethodNotAllowed, "another method"
	case !strings.EqualFold(strings.Trim(mediaType, " \t"), "application/json"),
		!noCoding.MatchString(strings.Join(request.Header.Values("Content-Encoding"), ",")):
		return http.StatusUnsupportedMediaType, "another media type, or a content coding"
	case len(body) > maxBody:
		return http.StatusRequestEntityTooLarge, "the body is too long"
	}
	if err := verify(request.Header, body, key, time.Now()); err != nil {
		return http.StatusUnauthorized, err.Error()
	}
	done, err := process(body)
	if err != nil {
		return http.StatusInternalServerError, "not booked, so the service will send it again: " + err.Error()
	}
	return http.StatusOK, done
}

func main() {
	key := readKey()
	handler := func(response http.ResponseWriter, request *http.Request) {
		body, _ := io.ReadAll(io.LimitReader(request.Body, maxBody+1)) // What did not arrive has another digest.
		status, reason := receive(request, body, key)
		log.Printf("%d: %s", status, reason)
		response.WriteHeader(status)
	}
	log.Fatal((&http.Server{Addr: ":" + os.Getenv("PORT"), Handler: http.HandlerFunc(handler), ReadTimeout: 10 * time.Second}).ListenAndServe())
}
