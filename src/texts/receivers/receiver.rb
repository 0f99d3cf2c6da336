# Receives the payment service's webhooks: Ruby 3.1 or later, with the webrick gem.
#     gem install webrick               (Debian's ruby has it already)
#     PORT=3000 PAYLINK_WEBHOOK_KEY_FILE=service.pem ruby receiver.rb
# service.pem is the service's public key. Replace find_order and book with your own database, and test the result with a
# key of your own, whose public part is then service.pem:
#     openssl genrsa -out test-key.pem 2048 && openssl rsa -in test-key.pem -pubout -out service.pem
#     paylink check http://127.0.0.1:3000/webhooks/paylink --sign-with test-key.pem
# In production, run it behind your web server, which terminates TLS, closes slow connections, and answers "Expect: 100-continue"
# (WEBrick does not: such a sender waits a second or so before it sends the body).

require "bigdecimal"
require "digest"
require "json"
require "openssl"
require "webrick"

PATH = "/webhooks/paylink"
MAX_BODY = 64 * 1024
# Seconds. If the service repeats webhooks with their first signature, allow for as long as it repeats them.
MAX_AGE, CLOCK_SKEW = 5 * 60, 60
# Payments of other terminals are not booked: one key may sign for several shops. Empty: those of any.
TERMINALS = [].freeze # ["T-1"], or compare record["merchantId"]
# What the service signs, and how (RFC 9421). Everything else is refused, even if it would be safe.
COVERED = %w[content-digest content-length content-type].freeze
PARAMETER = /;(?:created=(?:0|[1-9][0-9]{0,14})|keyid="[ !#-+\--:<-\[\]-~]*"|alg="rsa-v1_5-sha256")/n
SIGNED = /\Asig1=(\("content-digest" "content-length" "content-type"\)((?:#{PARAMETER})*))\z/n
SIGNATURE = %r{\Asig1=:((?:[A-Za-z0-9+/]{4})+(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?):\z}n
# What changes no byte of a body: no coding, identity, or the name of a charset.
NO_CODING = /\A(?:[ \t,]|identity|(?:us-)?ascii|(?:utf|iso|latin|windows|cp)[-_]?[0-9][-_0-9]*)*\z/i
KEY_NEEDED = "Set PAYLINK_WEBHOOK_KEY to the service's RSA public key in PEM, or PAYLINK_WEBHOOK_KEY_FILE to its file"

# Your order lookup here: what this order costs, as exact decimal text. nil if there is no such order.
# A payment through a reusable link has the reference "<invoiceId>-<9 characters>".
def find_order(reference)
  { "INV-1001" => ["10.00", "EUR"] }[reference]
end

# By order: its parts, and what else was approved. This receiver has no database, and forgets them when it ends: use yours.
PAYMENTS = Hash.new { |all, reference| all[reference] = [{}, {}] }

# Keeps a payment or a part, which arrive in any order. Returns the uti that pays the whole order, or the rest of it.
def paying(uti, reference, outcome, amount, price)
  parts, others = PAYMENTS[reference]
  (outcome == "APPROVED" ? others : parts)[uti] = amount
  return uti if others[uti] == price

  others.key(price - parts.values.sum) unless parts.empty?
end

# False if it is booked. Your database here; uti and reference unique (check --books tests it): INSERT INTO bookings (uti, reference) VALUES (?, ?) ON CONFLICT DO NOTHING
def book(_uti, _reference)
  true
end

# Called for every authentic webhook. Returns what was done, for the log.
def process(record)
  outcome = record.is_a?(Hash) ? outcome_of(record) : "UNCLEAR"
  return "#{outcome}, nothing to book" unless %w[APPROVED PARTIALLY_APPROVED].include?(outcome)

  uti, reference, currency = record.values_at("uti", "reference", "transCurrencyCode")
  price, code = find_order(reference)
  amount = decimal_of(record["amountTrans"])
  ours = TERMINALS.empty? || TERMINALS.include?(record["terminalId"])
  valid = uti.is_a?(String) && !uti.empty? && price && amount && !amount.negative? && code == currency.to_s.upcase && ours
  paid = paying(uti, reference, outcome, amount, decimal_of(price)) if valid
  unless paid
    return "#{outcome}, but #{reference.inspect} is not one of our orders for this amount and currency, or its rest is not paid yet: look into it"
  end

  "#{outcome}, #{reference.inspect} #{book(paid, reference) ? "booked" : "is already booked"}"
end

# Only APPROVED pays an order. UNCLEAR is authentic, but does not say what happened. Of a member that is there twice, the last one counts: only the service can sign such a record.
def outcome_of(record)
  flags = [true, false]
  approved, cancelled, partially, status =
    record.values_at("transApproved", "transCancelled", "transPartiallyApproved", "status")
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
  return value if value.is_a?(Integer) || value.is_a?(BigDecimal)

  BigDecimal(value) if value.is_a?(String) && value.match?(/\A\d{1,30}(\.\d{1,30})?([eE][+-]?\d{1,2})?\z/)
end

# The webhook is not authentic. The reason is for your log, never for the sender.
class Refused < StandardError
end

# Raises Refused unless the service signed exactly these bytes, a short time ago.
def verify(headers, body, key, now)
  # Gateways drop the length, which the digest makes up for.
  headers = headers.merge("content-length" => [body.bytesize.to_s]) if headers["content-length"].empty?
  fields = COVERED.to_h { |name| [name, single_line(headers, name)] }
  digest = "sha-256=:#{Digest::SHA256.base64digest(body)}:"
  unless fields["content-digest"] == digest && fields["content-length"] == body.bytesize.to_s
    raise Refused, "Content-Digest and Content-Length are not those of the body"
  end

  signed = SIGNED.match(sig1_of(headers["signature-input"]))
  signature = SIGNATURE.match(sig1_of(headers["signature"]))
  raise Refused, "the signature has another form, or covers other fields" unless signed && signature

  found = signed[2].scan(/;([a-z]+)=([^;]*)/n)
  parameters = found.to_h
  # The service does not promise created: its absence is not a reason to lose a payment.
  age = now - parameters.fetch("created", now).to_i
  unless parameters.size == found.size && age.between?(-CLOCK_SKEW, MAX_AGE + CLOCK_SKEW)
    raise Refused, "the signature is too old, from the future, or has a parameter twice"
  end

  base = COVERED.map { |name| %("#{name}": #{fields[name]}\n) }.join + %("@signature-params": #{signed[1]})
  return if key.verify(OpenSSL::Digest.new("SHA256"), signature[1].unpack1("m"), base)

  raise Refused, "the signature does not match: it is forged, or PAYLINK_WEBHOOK_KEY is another key"
end

# If there were two lines, different programs might read different ones.
def single_line(headers, name)
  lines = headers[name]
  lines.size == 1 ? lines.first : raise(Refused, "there are #{lines.size} lines #{name}")
end

# The one member sig1: a relay may have added other signatures, on the same line or on another.
def sig1_of(lines)
  found = lines.join(",").split(/[ \t]*,[ \t]*/n).select { |member| member.start_with?("sig1=") }
  found.size == 1 ? found.first : ""
end

# Ends the program without a key: without one, nothing can be verified.
def read_key
  # Tools that set variables may leave \n where a line ends.
  pem = ENV["PAYLINK_WEBHOOK_KEY"].to_s.gsub('\n', "\n")
  pem = File.read(ENV["PAYLINK_WEBHOOK_KEY_FILE"].to_s) if pem.empty?
  # With an empty password, OpenSSL does not ask for that of a private key.
  key = OpenSSL::PKey.read(pem, "")
  usable = key.is_a?(OpenSSL::PKey::RSA) && !key.private? && key.n.num_bits >= 2048 && key.e > 1
  usable ? key : abort("#{KEY_NEEDED}: this is not an RSA public key of 2048 bits or more.")
rescue SystemCallError => e
  abort "#{KEY_NEEDED}: #{e.message}"
rescue OpenSSL::PKey::PKeyError
  abort "#{KEY_NEEDED}: this is not a public key in PEM."
end

def receive(request, key)
  return 404 if request.path != PATH
  return 405 if request.request_method != "POST"
  return 415 unless request["content-type"].to_s.match?(%r{\Aapplication/json[ \t]*(?:;|\z)}i)
  return 415 unless request.header["content-encoding"].join(",").match?(NO_CODING)
  # Chunks have no length.
  return 411 if request.header["content-length"].size != (request["transfer-encoding"] ? 0 : 1)
  return 413 if request["content-length"].to_i > MAX_BODY

  body = +""
  request.body { |part| return 413 if (body << part).bytesize > MAX_BODY }
  verify(request.header, body, key, Time.now.to_i)
  warn "200: #{process(read_record(body))}"
  200
rescue Refused => e
  warn "401: #{e.message}"
  401
rescue StandardError => e
  # Not booked, so not 200: the service will send the webhook again.
  warn "500: #{e.full_message}"
  500
end

# Ends the program if the port is in use or invalid.
def listen(port)
  logger = WEBrick::Log.new($stderr, WEBrick::Log::WARN)
  WEBrick::HTTPServer.new(Port: Integer(port), BindAddress: "0.0.0.0", RequestTimeout: 10, AccessLog: [], Logger: logger)
rescue SystemCallError, SocketError, ArgumentError => e
  abort "Cannot listen on port #{port}: #{e.message}"
end

key = read_key
server = listen(ENV.fetch("PORT", "3000"))
server.mount_proc("/") do |request, response|
  response.status = receive(request, key)
  # The body was not read, so the connection cannot be used again.
  response.keep_alive = false if [411, 413].include?(response.status)
end
%w[INT TERM].each { |signal| trap(signal) { server.shutdown } }
warn "Receiving webhooks on port #{server.config[:Port]}, path #{PATH}"
server.start
