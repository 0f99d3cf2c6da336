# Receives the payment service's webhooks: Ruby 3.1 or later, with the webrick gem.
#     gem install webrick               (Debian's ruby has it already)
#     PORT=3000 PAYLINK_WEBHOOK_KEY_FILE=service.pem ruby receiver.rb
# service.pem has the service's public key (PEM) or certificate. Before it changes, put both in (cat old.pem new.pem)
# and restart; later the new one alone. Replace find_order and book with your own database, and test it with your key:
#     openssl genrsa -out test-key.pem 2048 && openssl rsa -in test-key.pem -pubout -out service.pem
#     paylink check http://127.0.0.1:3000/webhooks/paylink --sign-with test-key.pem
# In production, run it behind your web server, which terminates TLS, closes slow connections, and answers
# "Expect: 100-continue" (WEBrick does not: such a sender waits a second or so before it sends the body).

require "bigdecimal"
require "digest"
require "json"
require "openssl"
require "webrick"

PATH, MAX_BODY = "/webhooks/paylink", 64 * 1024
MAX_AGE, CLOCK_SKEW = 5 * 60, 60 # Seconds. Allow more if the service repeats webhooks with their first signature.
TERMINALS = [].freeze # ["T-1"]: one key may sign for several shops, and payments of others are not booked. Empty: any.
# They verify a card, or reserve money that a SALE takes later: to book reservations, change it here.
TAKES_NOTHING = %w[VERIFICATION AUTH PRE-AUTH].freeze
# What the service signs, and how (RFC 9421). Everything else is refused, even if it would be safe.
COVERED = %w[content-digest content-length content-type].freeze
PARAMETER = /;(?:created=(?:0|[1-9][0-9]{0,14})|keyid="[ !#-+\--:<-\[\]-~]*"|alg="rsa-v1_5-sha256")/n
SIGNED = /\Asig1=(\("content-digest" "content-length" "content-type"\)((?:#{PARAMETER})*))\z/n
SIGNATURE = %r{\Asig1=:((?:[A-Za-z0-9+/]{4})+(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?):\z}n
JSON_TYPE = %r{\Aapplication/json[ \t]*(?:;|\z)}i
# Codings that change no byte of a body: identity, or the name of a charset.
NO_CODING = /\A(?:[ \t,]|identity|(?:us-)?ascii|(?:utf|iso|latin|windows|cp)[-_]?[0-9][-_0-9]*)*\z/i
BLOCK = /-----BEGIN [^-]+-----[^-]+-----END [^-]+-----/n

# Your order lookup here: what this order costs, as exact decimal text. nil if there is no such order.
# A payment through a reusable link has the reference "<invoiceId>-<9 characters>".
def find_order(reference)
  { "INV-1001" => ["10.00", "EUR"] }[reference]
end

# What each payment took, by order and uti. This receiver has no database, and forgets it when it ends: use yours.
TAKEN = Hash.new { |all, reference| all[reference] = {} }
LOCK = Mutex.new

# False if it is booked already. Your database here; uti and reference unique (check --books tests it):
# INSERT INTO bookings (uti, reference) VALUES (?, ?) ON CONFLICT DO NOTHING
def book(_uti, _reference)
  true
end

# Called for every authentic webhook. Returns what was done, for the log.
def process(record)
  record = {} unless record.is_a?(Hash)
  outcome, kind = outcome_of(record), record["transType"].to_s.strip.upcase
  uti, reference, currency = record.values_at("uti", "reference", "transCurrencyCode")
  is_ours = uti.is_a?(String) && !uti.empty? && (TERMINALS.empty? || TERMINALS.include?(record["terminalId"]))
  price, code = find_order(reference) if is_ours
  amount, price = decimal_of(record["amountTrans"]), decimal_of(price)
  takes = outcome.end_with?("APPROVED") && !TAKES_NOTHING.include?(kind)
  amount = 0 unless takes && amount && !amount.negative? && code == currency.to_s.upcase
  TAKEN[reference][uti] = amount if price # Of the records of one uti, the last counts. A booking stays.
  total = price ? TAKEN[reference].values.sum : 0
  named = "#{outcome} #{kind}".strip + (price && total > price ? ", more than the order asks for" : "")
  # It is paid once one payment is its price, or all of them add up to it.
  is_paid = price && [amount, total].include?(price)
  return "#{named}, #{reference.inspect} #{book(uti, reference) ? "booked" : "is already booked"}" if is_paid
  return "#{named}, nothing to book" unless takes

  "#{named}, but #{reference.inspect} is not one of our orders for this amount and currency, or not paid in whole"
end

# APPROVED and PARTIALLY_APPROVED take money. UNCLEAR is authentic, but does not say what happened. Of a member that is
# there twice, the last one counts: only the service can sign such a record.
def outcome_of(record)
  flags, status = [true, false], record["status"]
  approved, cancelled, partially = record.values_at("transApproved", "transCancelled", "transPartiallyApproved")
  return "UNCLEAR" unless flags.include?(approved) && flags.include?(cancelled) && !(approved && cancelled)
  return "UNCLEAR" unless status.nil? || (status.is_a?(String) && status.casecmp("Complete").zero?)
  return "UNCLEAR" unless partially.nil? || flags.include?(partially)
  return cancelled ? "CANCELLED" : "DECLINED" unless approved

  partially ? "PARTIALLY_APPROVED" : "APPROVED"
end

# nil if the body is not JSON. One byte order mark is skipped. BigDecimal holds amounts exactly, as floats do not.
def read_record(body)
  text = body.dup.force_encoding(Encoding::UTF_8).delete_prefix("\uFEFF")
  JSON.parse(text, decimal_class: BigDecimal) if text.valid_encoding?
rescue JSON::ParserError
  nil
end

# A number, or the text of one. nil if it is not an amount.
def decimal_of(value)
  return value if value.is_a?(Integer) || (value.is_a?(BigDecimal) && value.exponent.abs < 40)

  BigDecimal(value) if value.is_a?(String) && value.match?(/\A\d{1,30}(\.\d{1,30})?([eE][+-]?\d{1,2})?\z/)
end

# The webhook is not authentic. The reason is for your log, never for the sender.
Refused = Class.new(StandardError)

# Raises Refused unless the service signed exactly these bytes, a short time ago.
def verify(headers, body, keys, now)
  # Gateways drop the length, which the digest makes up for. Of two lines, programs might read different ones.
  headers = headers.merge("content-length" => [body.bytesize.to_s]) if headers["content-length"].empty?
  fields = COVERED.to_h { |name| [name, headers[name].first] }
  raise Refused, "a field is missing, or there twice" unless COVERED.all? { |name| headers[name].size == 1 }

  own = ["sha-256=:#{Digest::SHA256.base64digest(body)}:", body.bytesize.to_s]
  is_of_body = fields.values_at("content-digest", "content-length") == own
  raise Refused, "Content-Digest and Content-Length are not those of the body" unless is_of_body

  signed = SIGNED.match(sig1_of(headers["signature-input"]))
  signature = SIGNATURE.match(sig1_of(headers["signature"]))
  raise Refused, "the signature has another form, or covers other fields" unless signed && signature

  found = signed[2].scan(/;([a-z]+)=([^;]*)/n)
  parameters = found.to_h
  # The service does not promise created: its absence is not a reason to lose a payment.
  age = now - parameters.fetch("created", now).to_i
  is_fresh = parameters.size == found.size && age.between?(-CLOCK_SKEW, MAX_AGE + CLOCK_SKEW)
  raise Refused, "the signature is too old, from the future, or has a parameter twice" unless is_fresh

  base = COVERED.map { |name| %("#{name}": #{fields[name]}\n) }.join + %("@signature-params": #{signed[1]})
  return if keys.any? { |key| key.verify(OpenSSL::Digest.new("SHA256"), signature[1].unpack1("m"), base) }

  raise Refused, "the signature matches no key: it is forged, or PAYLINK_WEBHOOK_KEY has other keys"
end

# The one member sig1: a relay may have added other signatures, on the same line or on another.
def sig1_of(lines)
  found = lines.join(",").split(/[ \t]*,[ \t]*/n).select { |member| member.start_with?("sig1=") }
  found.size == 1 ? found.first : ""
end

# Ends the program if there is no key, or anything that is not a key: nothing could be verified.
def read_keys
  text = ENV["PAYLINK_WEBHOOK_KEY"].to_s # Some tools leave \n where a line ends.
  text = (text.empty? ? File.read(ENV["PAYLINK_WEBHOOK_KEY_FILE"].to_s) : text).b.gsub('\n', "\n")
  blocks, rest = text.scan(BLOCK), text.gsub(BLOCK, "")
  certificates = blocks.grep(/CERTIFICATE/).map { |block| OpenSSL::X509::Certificate.new(block) }
  # With an empty password, OpenSSL does not ask for that of a private key.
  keys = blocks.grep_v(/CERTIFICATE/).map { |block| OpenSSL::PKey.read(block, "") } + certificates.map(&:public_key)
  is_chain = keys.size > 1 && certificates.any? { |one| one.issuer != one.subject }
  raise ArgumentError, "it is a chain: give its first certificate alone" if is_chain
  raise ArgumentError, "it is not PEM alone" if keys.empty? || rest.match?(/-----BEGIN |[A-Za-z0-9+\/_]{40}/n)
  strong = keys.grep(OpenSSL::PKey::RSA).select { |key| !key.private? && key.n.num_bits >= 2048 && key.e > 1 }
  raise ArgumentError, "it is no public RSA key of 2048 bits or more" if strong.size < keys.size

  keys
rescue SystemCallError, OpenSSL::PKey::PKeyError, OpenSSL::X509::CertificateError, ArgumentError => e
  abort "Set PAYLINK_WEBHOOK_KEY to the service's RSA public keys or certificates in PEM, or " \
        "PAYLINK_WEBHOOK_KEY_FILE to their file: this is not a key (#{e.message.lines.first.to_s.strip})."
end

# The status, and what the sender is told, which is never the check that failed.
def receive(request, keys)
  type, coding = request["content-type"].to_s, request.header["content-encoding"].join(",")
  has_length = request.header["content-length"].size == (request["transfer-encoding"] ? 0 : 1) # Chunks have none.
  return "405 method_not_allowed: the method is not POST" if request.request_method != "POST"
  return "404 not_found: this path takes no webhooks" if request.path != PATH
  return "415 unsupported_media_type: the media type is not application/json" unless type.match?(JSON_TYPE)
  return "415 unsupported_content_coding: the body has a Content-Encoding" unless coding.match?(NO_CODING)
  return "411 length_required: the body has no length, or two" unless has_length

  too_large, body = "413 body_too_large: the body is larger than the limit", +""
  return too_large if request["content-length"].to_i > MAX_BODY
  request.body { |part| return too_large if (body << part).bytesize > MAX_BODY }
  is_signed = request["signature"] || request["signature-input"]
  return "401 unsigned: there is neither Signature nor Signature-Input" unless is_signed

  verify(request.header, body, keys, Time.now.to_i)
  LOCK.synchronize { warn "200: #{process(read_record(body))}" }
  "200 ok"
rescue Refused => e
  warn "401: #{e.message}"
  "401 not_verified: the webhook does not verify"
rescue StandardError => e # Not booked, so not 200.
  warn "500: #{e.full_message}"
  "500 internal_error: the receiver itself failed, so the service sends the webhook again"
end

# Ends the program if the port is in use or invalid.
def listen(port)
  logger = WEBrick::Log.new($stderr, WEBrick::Log::WARN)
  WEBrick::HTTPServer.new(Port: Integer(port), BindAddress: "0.0.0.0", RequestTimeout: 10, AccessLog: [],
                          Logger: logger)
rescue SystemCallError, SocketError, ArgumentError => e
  abort "Cannot listen on port #{port}: #{e.message}"
end

keys = read_keys
server = listen(ENV.fetch("PORT", "3000"))
server.mount_proc("/") do |request, response|
  status, response.body = receive(request, keys).split(" ", 2)
  response.status = status.to_i
  response.content_type = "text/plain"
  response.keep_alive = false if [411, 413].include?(response.status) # The body was not read.
end
%w[INT TERM].each { |signal| trap(signal) { server.shutdown } }
warn "Receiving webhooks on port #{server.config[:Port]}, path #{PATH}"
server.start
