# Receives the payment service's webhooks: Ruby 3.1 or later, with the gem webrick.
#
#     gem install webrick               (Debian's ruby has it already)
#     PORT=3000 PAYLINK_WEBHOOK_KEY_FILE=service.pem ruby receiver.rb
#
# service.pem is the service's public key. Replace find_order and book by your own database, and test the result with a
# key of your own, whose public part is then service.pem:
#
#     openssl genrsa -out test-key.pem 2048 && openssl rsa -in test-key.pem -pubout -out service.pem
#     paylink check http://127.0.0.1:3000/webhooks/paylink --sign-with test-key.pem
#
# In production, run it behind your web server, which ends TLS and closes slow connections.

require "bigdecimal"
require "digest"
require "fileutils"
require "json"
require "openssl"
require "securerandom"
require "webrick"

PATH = "/webhooks/paylink"
MAX_BODY = 1024 * 1024
# Seconds. If the service repeats a webhook with its first signature, allow as long as it repeats.
MAX_AGE = 5 * 60
CLOCK_SKEW = 60
# What the service signs. A signature over less does not protect the payment.
COVERED = %w[content-digest content-length content-type].freeze
BOOKINGS = "bookings"
KEY_NEEDED = "Set PAYLINK_WEBHOOK_KEY to the service's public RSA key (PEM, at least 2048 bits), " \
             "or PAYLINK_WEBHOOK_KEY_FILE to the file that holds it"

# --- Your application ---------------------------------------------------------------------------

# Your order lookup here: what this order costs, as exact decimal text. nil if there is no such order.
# A payment through a reusable link has the reference "<invoiceId>-<9 characters>".
def find_order(reference)
  { "INV-1001" => ["10.00", "EUR"] }[reference]
end

# Books a payment, durably. False if it is booked already: then do not deliver the goods again.
#
# Your database here: INSERT INTO bookings (uti, reference) VALUES (?, ?), where uti is the primary key, is all of this.
# Until then, each booking is a file. It is complete on disk before it gets its name, which only one request can give it.
def book(uti, reference)
  draft = File.join(BOOKINGS, "#{SecureRandom.hex}.draft")
  File.open(draft, "wx") do |file|
    file.write(JSON.generate(uti: uti, reference: reference))
    file.fsync
  end
  added =
    begin
      File.link(draft, File.join(BOOKINGS, "#{Digest::SHA256.hexdigest(uti)}.json"))
      true
    rescue Errno::EEXIST
      false
    end
  # The name is on disk too, whichever request gave it.
  File.open(BOOKINGS, &:fsync)
  added
ensure
  FileUtils.rm_f(draft)
end

# Called for every authentic webhook. Says what was done, for the log.
def process(record)
  outcome = outcome_of(record)
  return "#{outcome}, nothing to book" unless outcome == "APPROVED"

  uti, reference, currency = record.values_at("uti", "reference", "transCurrencyCode")
  unless [uti, reference].all? { |text| text.is_a?(String) && !text.empty? }
    return "APPROVED, but without uti or reference: look into it"
  end

  price, code = find_order(reference)
  unless price && decimal_of(price) == decimal_of(record["amountTrans"]) && code == currency.to_s.upcase
    return "APPROVED, but #{reference.inspect} is no order of this amount and currency: look into it"
  end

  book(uti, reference) ? "APPROVED, #{reference.inspect} booked" : "APPROVED, #{uti.inspect} is booked already"
end

# --- The record: read only after its signature is verified --------------------------------------

# nil if the body is not a JSON object. BigDecimal holds amounts exactly, as floats do not.
def read_record(body)
  text = body.dup.force_encoding(Encoding::UTF_8)
  return unless text.valid_encoding?

  record = JSON.parse(text, decimal_class: BigDecimal)
  record if record.is_a?(Hash)
rescue JSON::ParserError
  nil
end

# Only APPROVED pays an order. UNCLEAR is authentic, but does not say what happened.
def outcome_of(record)
  flags = [true, false]
  approved, cancelled, partially, status =
    record&.values_at("transApproved", "transCancelled", "transPartiallyApproved", "status")
  return "UNCLEAR" unless flags.include?(approved) && flags.include?(cancelled) && !(approved && cancelled)
  return "UNCLEAR" unless status.nil? || (status.is_a?(String) && status.casecmp("Complete").zero?)
  return cancelled ? "CANCELLED" : "DECLINED" unless approved
  return "UNCLEAR" unless partially.nil? || flags.include?(partially)

  partially ? "PARTIALLY_APPROVED" : "APPROVED"
end

# A number, or the text of one. nil if it is no amount.
def decimal_of(value)
  return value if value.is_a?(Integer) || value.is_a?(BigDecimal)

  BigDecimal(value) if value.is_a?(String) && value.match?(/\A-?\d{1,30}(\.\d{1,30})?([eE][+-]?\d{1,2})?\z/)
end

# --- The signature: RFC 9421, in the form in which this service sends it -------------------------

# The webhook is not authentic. The reason is for your log, never for the sender.
class Refused < StandardError
end

# The grammar of RFC 8941. The fields can have further signatures, which relays add: they must be well-formed.
LABEL = /[a-z*][a-z0-9_.*-]*/n
STRING = /"(?:[ !#-\[\]-~]|\\["\\])*"/n
BYTES = %r{:[A-Za-z0-9+/]*={0,2}:}n
TOKEN = %r{[A-Za-z*][\w!#$%&'*+.^`|~:/-]*}n
VALUE = /(?:-?\d{1,15}(?:\.\d{1,3})?|#{STRING}|#{BYTES}|\?[01]|#{TOKEN})/n
PARAMETER = /; *(#{LABEL})(?:=(#{VALUE}))?/n
PARAMETERS = /(?:; *#{LABEL}(?:=#{VALUE})?)*/n
ITEM = /#{STRING}#{PARAMETERS}/n
INPUT = /(#{LABEL})=\( *((?:#{ITEM}(?: +#{ITEM})*)?) *\)(#{PARAMETERS})/n
SIGNATURE = /(#{LABEL})=(#{BYTES})#{PARAMETERS}/n

INTEGER = /0|[1-9]\d{0,14}/
SIGNATURE_PARAMETERS = {
  "created" => INTEGER,
  "expires" => INTEGER,
  "keyid" => STRING,
  "nonce" => STRING,
  "tag" => STRING,
  # The receiver decides on the algorithm, never the message.
  "alg" => /"rsa-v1_5-sha256"/
}.freeze

# Raises Refused unless the service signed exactly these bytes, a short time ago.
def verify(headers, body, key, now)
  fields = COVERED.to_h { |name| [%("#{name}"), single_line(headers, name)] }
  unless fields['"content-length"'] == body.bytesize.to_s
    raise Refused, "Content-Length is not the length of the body"
  end

  digest = fields['"content-digest"'][%r{\Asha-256=:([A-Za-z0-9+/]{43}=?):\z}, 1]
  unless digest && OpenSSL.secure_compare(bytes_of(digest), Digest::SHA256.digest(body))
    raise Refused, "Content-Digest is not the SHA-256 of the body"
  end

  inputs = dictionary(headers, "signature-input", INPUT)
  signatures = dictionary(headers, "signature", SIGNATURE)
  unless inputs.key?("sig1") && inputs.keys.sort == signatures.keys.sort
    raise Refused, "there is no signature sig1, or the two fields name different signatures"
  end

  names, parameters = inputs["sig1"]
  covered = names.split
  raise Refused, "the signature covers #{names}" unless covered.sort == fields.keys.sort

  # In the canonical form, whatever spaces the header has: that is what was signed.
  lines = covered.map { |name| "#{name}: #{fields[name]}" }
  lines << %("@signature-params": (#{covered.join(' ')})#{check_parameters(parameters, now)})
  signature = bytes_of(signatures["sig1"].first.delete(":"))
  return if key.verify(OpenSSL::Digest.new("SHA256"), signature, lines.join("\n"))

  raise Refused, "the signature does not match: it is forged, or PAYLINK_WEBHOOK_KEY is another key"
end

# Returns the parameters in their canonical form.
def check_parameters(text, now)
  found = text.scan(PARAMETER)
  values = found.to_h
  raise Refused, "a parameter of the signature is given twice" if values.size != found.size

  found.each do |name, value|
    next if SIGNATURE_PARAMETERS[name] && /\A(?:#{SIGNATURE_PARAMETERS[name]})\z/.match?(value)

    raise Refused, "the parameter #{name} of the signature is unknown, or has a value that it cannot have"
  end
  # The service does not promise created: its absence is no reason to lose a payment.
  if values["created"] && !(now - values["created"].to_i).between?(-CLOCK_SKEW, MAX_AGE + CLOCK_SKEW)
    raise Refused, "the signature is too old, or from the future"
  end
  raise Refused, "the signature has expired" if values["expires"] && now > values["expires"].to_i

  found.map { |name, value| ";#{name}=#{value}" }.join
end

# Two programs may each read another one of two lines.
def single_line(headers, name)
  lines = headers[name]
  lines.size == 1 ? lines.first : raise(Refused, "there are #{lines.size} lines #{name}")
end

# The members by name; several lines of these two fields are one list.
def dictionary(headers, name, member)
  text = headers[name].join(", ")
  unless text.bytesize <= 8192 && /\A#{member}(?:[ \t]*,[ \t]*#{member})*\z/n.match?(text)
    raise Refused, "#{name} is missing or malformed"
  end

  members = text.scan(member)
  raise Refused, "#{name} has a signature twice" if members.uniq(&:first).size != members.size

  members.to_h { |label, *rest| [label, rest] }
end

# Padding may be left out (RFC 8941 4.2.7), but not be too much.
def bytes_of(text)
  bare = text.delete_suffix("=").delete_suffix("=")
  raise Refused, "a byte sequence is malformed" if bare.size % 4 == 1 || (bare != text && text.size % 4 != 0)

  bare.unpack1("m")
end

# Ends the program without a key: without one, nothing can be verified.
def read_key
  # Tools that set variables may leave \n where a line ends.
  pem = ENV["PAYLINK_WEBHOOK_KEY"].to_s.gsub('\n', "\n")
  pem = File.read(ENV["PAYLINK_WEBHOOK_KEY_FILE"].to_s) if pem.empty?
  # With a password, so that OpenSSL does not ask for that of a private key.
  key = OpenSSL::PKey.read(pem, "")
  abort "#{KEY_NEEDED}: this is another kind of key." unless key.is_a?(OpenSSL::PKey::RSA)
  abort "#{KEY_NEEDED}: this is a private key." if key.private?
  abort "#{KEY_NEEDED}: this key is too weak." unless key.n.num_bits >= 2048 && key.e > 1
  key
rescue SystemCallError => e
  abort "#{KEY_NEEDED}: #{e.message}"
rescue OpenSSL::PKey::PKeyError
  abort "#{KEY_NEEDED}: this is no public key in PEM."
end

# --- HTTP ----------------------------------------------------------------------------------------

def receive(request, key)
  return 404 if request.path != PATH
  return 405 if request.request_method != "POST"
  return 415 unless request["content-type"].to_s.match?(%r{\Aapplication/json[ \t]*(?:;|\z)}i)
  # Without a length, the body could take any amount of memory.
  return 411 if request["transfer-encoding"] || request.header["content-length"].size != 1
  return 413 if request["content-length"].to_i > MAX_BODY

  body = request.body.to_s
  verify(request.header, body, key, Time.now.to_i)
  warn "200: #{process(read_record(body))}"
  200
rescue Refused => e
  warn "401: #{e.message}"
  401
rescue StandardError => e
  # Not kept, so not 200: the service sends the webhook again.
  warn "500: #{e.full_message}"
  500
end

# Ends the program if the port is in use or invalid.
def listen(port)
  WEBrick::HTTPServer.new(
    Port: Integer(port),
    BindAddress: "0.0.0.0",
    RequestTimeout: 10,
    AccessLog: [],
    Logger: WEBrick::Log.new($stderr, WEBrick::Log::WARN)
  )
rescue SystemCallError, SocketError, ArgumentError => e
  abort "Cannot listen at port #{port}: #{e.message}"
end

key = read_key
FileUtils.mkdir_p(BOOKINGS, mode: 0o700)
server = listen(ENV.fetch("PORT", "3000"))
server.mount_proc("/") do |request, response|
  response.status = receive(request, key)
  response["Allow"] = "POST" if response.status == 405
  # The body is not read, so that the connection cannot be used again.
  response.keep_alive = false if [411, 413].include?(response.status)
end
%w[INT TERM].each { |signal| trap(signal) { server.shutdown } }
warn "Receiving webhooks at port #{server.config[:Port]}, path #{PATH}"
server.start
