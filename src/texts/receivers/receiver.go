// Receives the payment service's webhooks: Go 1.19 or later, with its standard library. Behind a web server, for TLS:
// PORT=3000 PAYLINK_WEBHOOK_KEY_FILE=service.pem go run receiver.go
// service.pem has the service's public key (PEM) or certificate. Before it changes, put both in (cat old.pem new.pem)
// and restart; later the new one alone. Replace findOrder and book with your database, and test it with your own key:
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
)

const path, maxBody, maxAge, clockSkew = "/webhooks/paylink", 64 << 10, 300, 60 // Seconds; allow more for late repeats.
const signed = "\"content-digest\": %s\n\"content-length\": %s\n\"content-type\": %s\n\"@signature-params\": %s"

var terminals = map[string]bool{} // {`"T-1"`: true}: one key may sign for several shops. Empty books payments of any.
// What the service signs, and how (RFC 9421). Everything else is refused, even if it would be safe.
var inputForm = regexp.MustCompile(`^sig1=(\("content-digest" "content-length" "content-type"\)` +
	`((?:;(?:created=(0|[1-9][0-9]{0,14})|keyid="[ !#-+\--:<-\[\]-~]*"|alg="rsa-v1_5-sha256"))*))$`)
var twice = regexp.MustCompile(`;created=.*;created=|;keyid=.*;keyid=|;alg=.*;alg=`)
var signatureForm = regexp.MustCompile(`^sig1=:([A-Za-z0-9+/]+={0,2}):$`)
var sig1, isJSON = regexp.MustCompile(`(?:^|,)[ \t]*sig1=[^,]*`), regexp.MustCompile(`(?i)^application/json\s*(;|$)`)
var pemBlock, otherKey = regexp.MustCompile(`-----BEGIN [^-]+-----[^-]+`), regexp.MustCompile(`[A-Za-z0-9+/_]{40}`)
var noCoding = regexp.MustCompile(`(?i)^([ \t,]|identity|(us-)?ascii|(utf|iso|latin|windows|cp)[-_]?[0-9][-_0-9]*)*$`)
var takesNothing = regexp.MustCompile(`(?i)^\s*(?:VERIFICATION|AUTH|PRE-AUTH)\s*$`) // To book these, change it here.

// findOrder: your order lookup here. A payment through a reusable link has the reference "<invoiceId>-<9 characters>".
func findOrder(reference string) (price *big.Rat, currency string) {
	return map[string]*big.Rat{"INV-1001": big.NewRat(1000, 100)}[reference], "EUR"
}

// What each payment took, by reference and uti. This receiver has no database, and forgets it when it ends: use yours.
var taken, lock = map[[2]string]*big.Rat{}, sync.Mutex{}

// book: false if booked already. Your database here; uti and reference unique (check --books tests it):
// INSERT INTO bookings (uti, reference) VALUES (?, ?) ON CONFLICT DO NOTHING
func book(uti, reference string) (bool, error) { return true, nil }

type transaction struct { // What decides on a booking. Numbers stay text: floats do not hold amounts exactly.
	UTI, Reference, TransCurrencyCode, TransType, Status  string
	AmountTrans                                           json.Number
	TerminalID                                            json.RawMessage
	TransApproved, TransCancelled, TransPartiallyApproved *bool
}

// process is called for every authentic webhook. It returns what was done, for the log. A booking stays.
func process(body []byte) (done string, err error) {
	paid, outcome := read(body)
	price, currency := findOrder(paid.Reference)
	isOrder := price != nil && paid.UTI != "" && (len(terminals) == 0 || terminals[string(paid.TerminalID)])
	amount, isNumber := new(big.Rat).SetString(paid.AmountTrans.String())
	takes := strings.HasSuffix(outcome, "APPROVED") && !takesNothing.MatchString(paid.TransType)
	if !isOrder || !takes || !isNumber || amount.Sign() < 0 || !strings.EqualFold(paid.TransCurrencyCode, currency) {
		amount = new(big.Rat)
	}
	lock.Lock()
	defer lock.Unlock()
	taken[[2]string{paid.Reference, paid.UTI}] = amount // Of the records of one uti, the last counts.
	total := new(big.Rat)
	for payment, one := range taken {
		if payment[0] == paid.Reference {
			total.Add(total, one)
		}
	}
	more := map[bool]string{true: ", more than the order asks for"}[isOrder && total.Cmp(price) > 0]
	done = strings.TrimSpace(outcome+" "+paid.TransType) + more
	// An order is paid once one payment is its price, or all of them add up to it.
	if isPaid := isOrder && (amount.Cmp(price) == 0 || total.Cmp(price) == 0); isPaid {
		isNew, err := book(paid.UTI, paid.Reference)
		return fmt.Sprintf("%s, %q %sbooked", done, paid.Reference, map[bool]string{false: "is already "}[isNew]), err
	}
	rest := fmt.Sprintf("but %q is not one of our orders for this amount, or not paid in whole", paid.Reference)
	return done + ", " + map[bool]string{true: rest, false: "nothing to book"}[takes], nil
}

// read judges a record: APPROVED and PARTIALLY_APPROVED take money. UNCLEAR is authentic, but does not say what
// happened. Of a member that is there twice, the last one counts: only the service can sign such a record.
func read(body []byte) (paid transaction, outcome string) {
	paid.Status = "Complete" // Where it has none. A member of another type is an error; one byte order mark is skipped.
	text := strings.TrimPrefix(string(body), "\ufeff")
	err := json.Unmarshal([]byte(text), &paid)
	isRecord := err == nil && strings.EqualFold(paid.Status, "Complete") && strings.ToValidUTF8(text, "") == text
	approved, cancelled, partially := paid.TransApproved, paid.TransCancelled, paid.TransPartiallyApproved
	if !isRecord || approved == nil || cancelled == nil || *approved && *cancelled {
		return paid, "UNCLEAR"
	} else if *approved {
		return paid, map[bool]string{false: "APPROVED", true: "PARTIALLY_APPROVED"}[partially != nil && *partially]
	}
	return paid, map[bool]string{false: "DECLINED", true: "CANCELLED"}[*cancelled]
}

// verify returns an error, for your log alone, unless the service signed exactly these bytes, a short time ago.
func verify(header http.Header, body []byte, keys []*rsa.PublicKey, now time.Time) error {
	hash, length := sha256.Sum256(body), fmt.Sprint(len(body))
	digest := "sha-256=:" + base64.StdEncoding.EncodeToString(hash[:]) + ":"
	// Gateways drop the length, and the digest makes up for it. Of two lines, programs might read different ones.
	if sent := all(header, "Content-Length"); sent != length && sent != "" || all(header, "Content-Digest") != digest {
		return fmt.Errorf("Content-Digest or Content-Length is not that of the body")
	}
	input := inputForm.FindStringSubmatch(sig1Of(header, "Signature-Input"))
	signature := signatureForm.FindStringSubmatch(sig1Of(header, "Signature"))
	if input == nil || signature == nil {
		return fmt.Errorf("the signature has another form, or covers other fields")
	}
	created := now.Unix() // Where it does not say: the service does not promise it.
	fmt.Sscan(input[3], &created)
	if age := now.Unix() - created; age < -clockSkew || age > maxAge+clockSkew || twice.MatchString(input[2]) {
		return fmt.Errorf("the signature is too old, from the future, or has a parameter twice")
	}
	hash = sha256.Sum256([]byte(fmt.Sprintf(signed, digest, length, all(header, "Content-Type"), input[1])))
	decoded, err := base64.StdEncoding.DecodeString(signature[1])
	for _, key := range keys {
		if err == nil && rsa.VerifyPKCS1v15(key, crypto.SHA256, hash[:], decoded) == nil {
			return nil
		}
	}
	return fmt.Errorf("the signature matches no key: it is forged, or PAYLINK_WEBHOOK_KEY has other keys")
}

// sig1Of returns the one member sig1, two of which match nothing: a relay may have added other signatures.
func sig1Of(header http.Header, name string) string {
	return strings.Trim(strings.Join(sig1.FindAllString(all(header, name), -1), ""), ", \t")
}

func all(header http.Header, name string) string { return strings.Join(header.Values(name), ",") }

// readKeys ends the program if there is no key, or anything that is not a key: nothing could be verified.
func readKeys() (keys []*rsa.PublicKey) {
	file, isIssued := os.Getenv("PAYLINK_WEBHOOK_KEY_FILE"), false
	read, _ := os.ReadFile(file)
	text := strings.NewReplacer(`\n`, "\n", "\ufeff", "").Replace(os.Getenv("PAYLINK_WEBHOOK_KEY") + "\n" + string(read))
	for block, rest := pem.Decode([]byte(text)); block != nil; block, rest = pem.Decode(rest) {
		parsed, _ := x509.ParsePKIXPublicKey(block.Bytes)
		if certificate, err := x509.ParseCertificate(block.Bytes); err == nil {
			parsed, isIssued = certificate.PublicKey, isIssued || string(certificate.RawIssuer) != string(certificate.RawSubject)
		}
		if key, isRSA := parsed.(*rsa.PublicKey); isRSA && key.N.BitLen() >= 2048 && key.E >= 3 {
			keys = append(keys, key)
		}
	}
	isRest := strings.Count(text, "-----BEGIN ") > len(keys) || otherKey.MatchString(pemBlock.ReplaceAllString(text, ""))
	if len(keys) == 0 || isRest || isIssued && len(keys) > 1 {
		log.Fatalf("set PAYLINK_WEBHOOK_KEY to the service's RSA keys or certificates in PEM, or PAYLINK_WEBHOOK_KEY_FILE to"+
			" their file (%s): this is no key of 2048 bits or more, not PEM alone, or a chain: give its first one", file)
	}
	return keys
}

// receive returns the status, what the sender is told, which is never the check that failed, and more for the log.
func receive(request *http.Request, keys []*rsa.PublicKey) (status int, told, done string) {
	body, _ := io.ReadAll(io.LimitReader(request.Body, maxBody+1)) // What did not arrive has another digest.
	switch {
	case request.Method != http.MethodPost:
		return 405, "method_not_allowed: the method is not POST", ""
	case request.URL.Path != path:
		return 404, "not_found: this path takes no webhooks", ""
	case !isJSON.MatchString(request.Header.Get("Content-Type")):
		return 415, "unsupported_media_type: the media type is not application/json", ""
	case !noCoding.MatchString(all(request.Header, "Content-Encoding")): // The name of a charset is no coding.
		return 415, "unsupported_content_coding: the body has a Content-Encoding", ""
	case len(body) > maxBody:
		return 413, "body_too_large: the body is larger than the limit", ""
	case all(request.Header, "Signature")+all(request.Header, "Signature-Input") == "":
		return 401, "unsigned: there is neither Signature nor Signature-Input", ""
	}
	if err := verify(request.Header, body, keys, time.Now()); err != nil {
		return 401, "not_verified: the webhook does not verify", err.Error()
	}
	done, err := process(body)
	if err != nil {
		return 500, "internal_error: the receiver itself failed, so the service sends the webhook again", err.Error()
	}
	return 200, "", done
}

func main() {
	keys := readKeys()
	http.HandleFunc("/", func(response http.ResponseWriter, request *http.Request) {
		status, told, done := receive(request, keys)
		log.Println(strings.TrimSpace(fmt.Sprintf("%d: %s %s", status, done, told)))
		http.Error(response, told, status) // It takes any status.
	})
	log.Fatal((&http.Server{Addr: ":" + os.Getenv("PORT"), ReadTimeout: 10 * time.Second}).ListenAndServe())
}
